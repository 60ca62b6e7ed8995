"""Keys: from the environment or from configuration, to a header, and nowhere else.

The user's configuration may hold `toolglot/keys.toml`: a line for each provider, `openai = "sk-..."` or `openai = "env:NAME"`.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from toolglot.catalog.providers import AUTH_HEADERS, Provider
from toolglot.errors import CallerError, KeyMissingError, UpstreamError

_FROM_ENVIRONMENT = "env:"
_FILE = "keys.toml"
_SHOWN = f"~/.config/toolglot/{_FILE}"
_CARRIERS = frozenset(name.lower() for name, _ in AUTH_HEADERS.values())
_SHORTEST = 8  # what is shorter stands in too many words, and is no real key


class Secret:
    """A value that does not show itself: `str`, `repr` and formatting give the name of its source."""

    __slots__ = ("_value", "source")

    def __init__(self, value: str, source: str) -> None:
        self._value = value
        self.source = source

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return f"<secret from {self.source}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> str:
        raise TypeError("a secret is not stored")


def named_by(given: str | None, row: Provider) -> Provider:
    """The row with the variable that the key was named by, so that what is shown is what is sent."""
    if given is None or not given.startswith(_FROM_ENVIRONMENT):
        return row
    name = given.removeprefix(_FROM_ENVIRONMENT)
    return msgspec.structs.replace(row, key=name, key_optional=False, auth="bearer" if row.auth == "none" else row.auth)


def find_key(row: Provider, given: str | None = None, environ: Mapping[str, str] | None = None) -> Secret | None:
    """The key for a provider. `given`: by the caller or the gateway's configuration, as itself or as `env:NAME`.

    Else it is that of the row's variable, or of the user's file of keys. None where the row needs none, or may do without
    and has none.
    """
    environ = os.environ if environ is None else environ
    if row.auth == "none" and given is None:
        return None
    if given is None and not _set(row.key, environ):
        given = _kept(row, environ)
    if given is not None and not given.startswith(_FROM_ENVIRONMENT):
        return _sound(given, "the configuration")
    name = given.removeprefix(_FROM_ENVIRONMENT) if given is not None else row.key
    held = _set(name, environ)
    if name and held:
        return _sound(held, name)
    if given is None and (row.key_optional or name is None):
        return None
    others = f", give api_key, or keep it in {_SHOWN}" if given is None else ""
    raise KeyMissingError(f"no key for {row.name or 'the provider'}: set the environment variable {name}{others}", "api_key")


def _set(name: str | None, environ: Mapping[str, str]) -> str:
    return environ.get(name, "").strip() if name else ""


def _kept(row: Provider, environ: Mapping[str, str]) -> str | None:
    """From the user's file of keys, of which no word is repeated where it can't be read."""
    home = environ.get("HOME") or environ.get("USERPROFILE")
    config = environ.get("XDG_CONFIG_HOME") or (os.path.join(home, ".config") if home else None)
    if config is None:
        return None
    path = os.path.join(config, "toolglot", _FILE)
    try:
        changed = os.stat(path).st_mtime_ns
    except OSError:
        return None
    try:
        held = _read(path, changed).get(row.name)
    except (OSError, ValueError):
        raise CallerError(f'can\'t be read; a line of it is {row.name} = "..."', path) from None
    if held is not None and not isinstance(held, str):
        raise CallerError(f'expected {row.name} = "..."', path)
    return held


@lru_cache(maxsize=4)
def _read(path: str, changed: int) -> dict[str, Any]:
    """It is asked for with every request, and read again when it has changed."""
    return tomllib.loads(Path(path).read_text(encoding="utf-8"))


def auth_headers(row: Provider, key: Secret | None) -> dict[str, str]:
    """How the provider takes the key. The only place where a secret leaves its wrapping."""
    if key is None:
        return {}
    header, before = AUTH_HEADERS["bearer" if row.auth == "none" else row.auth]
    return {header: before + key.reveal()}


def without_key(error: UpstreamError, headers: Mapping[str, str]) -> UpstreamError:
    """Some servers repeat in an error the key that they were sent. It is told without."""
    sent = [value.rpartition(" ")[2] for name, value in headers.items() if name.lower() in _CARRIERS]
    message = error.message
    for key in sent:
        if len(key) >= _SHORTEST:
            message = message.replace(key, "***")
    if message == error.message:
        return error
    return UpstreamError(message, error.status, error.code, error.retry_after, error.should_retry)


def _sound(value: str, source: str) -> Secret:
    """Without the line end that files leave; a key with a space or another sign in it was copied wrongly."""
    value = value.strip()
    if not value or not value.isascii() or not value.isprintable() or " " in value:
        raise KeyMissingError(f"the key from {source} is empty or holds a character that no key has; copy it again", "api_key")
    return Secret(value, source)
