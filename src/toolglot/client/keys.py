"""API keys: read from the environment or the configuration, written to a header, and nowhere else.

The user's configuration directory may have a file `toolglot/keys.toml` with a line for each provider: `openai = "sk-..."` or
`openai = "env:NAME"`.
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
from toolglot.client.cloud_credentials import check_library
from toolglot.errors import CallerError, KeyMissingError, UpstreamError

_FROM_ENVIRONMENT = "env:"
_FILE = "keys.toml"
_SHOWN = f"~/.config/toolglot/{_FILE}"
_CARRIERS = frozenset(name.lower() for name, _ in AUTH_HEADERS.values())
_SHORTEST = 8  # shorter strings occur in ordinary words, and are not real keys


class Secret:
    """A value that is never printed: `str`, `repr` and formatting give the name of its source."""

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
        raise TypeError("a secret can't be pickled")


def with_key_name(given: str | None, row: Provider) -> Provider:
    """The row with the variable from `env:NAME`, so that messages name the variable that is used."""
    if given is None or not given.startswith(_FROM_ENVIRONMENT):
        return row
    name = given.removeprefix(_FROM_ENVIRONMENT)
    return msgspec.structs.replace(row, key=name, key_optional=False, auth="bearer" if row.auth == "none" else row.auth)


def find_key(row: Provider, given: str | None = None, environ: Mapping[str, str] | None = None) -> Secret | None:
    """The key for a provider. `given`: by the caller or the gateway's configuration, the key itself or `env:NAME`.

    Otherwise it is read from the row's environment variable, then from the user's key file. None if the provider needs no
    key, or if the key is optional and there is none.
    """
    environ = os.environ if environ is None else environ
    if row.auth == "none" and given is None:
        return None
    if given is None and not _set(row.key, environ):
        given = _from_file(row, environ)
    if given is not None and not given.startswith(_FROM_ENVIRONMENT):
        return _secret(given, "the configuration")
    name = given.removeprefix(_FROM_ENVIRONMENT) if given is not None else row.key
    value = _set(name, environ)
    if name and value:
        return _secret(value, name)
    if given is None and (row.key_optional or name is None):
        return None
    install = check_library(row)
    if given is None and row.credentials is not None and not install:
        return None
    others = f", pass api_key, or add it to {_SHOWN}" if given is None else ""
    if install:
        others += f"; or, for the credentials of your cloud, {install}"
    raise KeyMissingError(
        f"missing API key for {row.name or 'the provider'}: set the environment variable {name}{others}", "api_key"
    )


def _set(name: str | None, environ: Mapping[str, str]) -> str:
    return environ.get(name, "").strip() if name else ""


def _from_file(row: Provider, environ: Mapping[str, str]) -> str | None:
    """From the user's key file. Errors never quote its content."""
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
        value = _read(path, changed).get(row.name)
    except (OSError, ValueError):
        raise CallerError(f'can\'t be read; a line of it is {row.name} = "..."', path) from None
    if value is not None and not isinstance(value, str):
        raise CallerError(f'expected {row.name} = "..."', path)
    return value


@lru_cache(maxsize=4)
def _read(path: str, changed: int) -> dict[str, Any]:
    """Needed for every request; read again only when it has changed."""
    return tomllib.loads(Path(path).read_text(encoding="utf-8"))


def auth_headers(row: Provider, key: Secret | None) -> dict[str, str]:
    """The header that carries the key. The only place that reveals a secret."""
    if key is None:
        return {}
    header, before = AUTH_HEADERS["bearer" if row.auth == "none" else row.auth]
    return {header: before + key.reveal()}


def without_key(error: UpstreamError, headers: Mapping[str, str]) -> UpstreamError:
    """Some servers repeat the key in an error message. It is replaced by ***."""
    sent = [value.rpartition(" ")[2] for name, value in headers.items() if name.lower() in _CARRIERS]
    message = error.message
    for key in sent:
        if len(key) >= _SHORTEST:
            message = message.replace(key, "***")
    if message == error.message:
        return error
    return UpstreamError(message, error.status, error.code, error.retry_after, error.should_retry)


def _secret(value: str, source: str) -> Secret:
    """Strips the newline that files leave. A key with a space or a non-ASCII character was copied wrongly."""
    value = value.strip()
    if not value or not value.isascii() or not value.isprintable() or " " in value:
        raise KeyMissingError(f"the key from {source} is empty or has a character that no key has; copy it again", "api_key")
    return Secret(value, source)
