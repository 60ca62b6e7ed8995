"""Keys: from the environment or from configuration, to a header, and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from toolglot.catalog.providers import AUTH_HEADERS, Provider
from toolglot.errors import CallerError, UpstreamError

_FROM_ENVIRONMENT = "env:"
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
    """The key for a provider. `given`: from the caller or a config file, as itself or as `env:NAME`; else the row's variable.

    None where the row needs none, or may do without and has none.
    """
    environ = os.environ if environ is None else environ
    if row.auth == "none" and given is None:
        return None
    if given is not None and not given.startswith(_FROM_ENVIRONMENT):
        return _sound(given, "the configuration")
    name = given.removeprefix(_FROM_ENVIRONMENT) if given is not None else row.key
    held = environ.get(name, "").strip() if name else ""
    if name and held:
        return _sound(held, name)
    if given is None and (row.key_optional or name is None):
        return None
    raise CallerError(
        f"no key for {row.name or 'the provider'}: set the environment variable {name}, or give api_key", "api_key"
    )


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
        raise CallerError(f"the key from {source} is empty or holds a character that no key has; copy it again", "api_key")
    return Secret(value, source)
