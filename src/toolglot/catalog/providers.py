"""The rows of providers.toml as structs."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from toolglot.core.interfaces import Quirks
from toolglot.core.plugins import loaded, report
from toolglot.errors import CallerError

Credentials = Literal["aws", "google"]
Auth = Literal["bearer", "x-api-key", "x-goog-api-key", "none"]

# how each kind of auth is sent: header, prefix of the key
AUTH_HEADERS: dict[str, tuple[str, str]] = {
    "bearer": ("Authorization", "Bearer "),
    "x-api-key": ("x-api-key", ""),
    "x-goog-api-key": ("x-goog-api-key", ""),
}


class Provider(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    wire: str
    base_url: str
    auth: Auth
    source: str
    name: str = ""
    key: str | None = None
    key_optional: bool = False
    credentials: Credentials | None = None  # of a cloud, used if there is no key
    headers: dict[str, str] = {}
    versioned: bool = True  # paths have a version segment, in `base_url` or behind it
    model_names: str | None = None
    constrains: bool = False  # supports constrained decoding by a JSON Schema, for every model
    schemas: str | None = None  # which JSON Schema keywords it supports: a row of schema/fitting/targets.py
    default_context: int | None = None  # tokens, if it silently truncates longer prompts unless configured
    default_model: str | None = None  # the model that the provider's name alone selects, as in `local`
    billing_line: bool = False  # takes Claude Code's billing line out of the system prompt itself
    telemetry_name: str | None = None  # in OpenTelemetry's GenAI conventions, if it differs
    quirks: Quirks = Quirks()


@cache
def providers() -> dict[str, Provider]:
    """All rows, by name: ours, and those of other packages under other names."""
    rows = tomllib.loads(Path(__file__).with_name("providers.toml").read_text(encoding="utf-8"))
    ours = {name: msgspec.convert({**row, "name": name}, Provider) for name, row in rows.items()}
    return plugin_providers() | ours


@cache
def plugin_providers() -> dict[str, Provider]:
    """The rows of the entry points `toolglot.providers`: the name is the provider's, the object its row as a dict."""
    found = {}
    for plugin, row in loaded("toolglot.providers"):
        try:
            found[plugin.name] = read_provider(plugin.name, row)
        except CallerError as error:
            report(plugin, error)
    return found


def read_provider(name: str, row: object) -> Provider:
    try:
        return msgspec.convert({**row, "name": name}, Provider)  # type: ignore[dict-item]
    except (msgspec.ValidationError, TypeError) as error:
        raise CallerError(str(error), f"provider {name}") from None


def provider(name: str) -> Provider:
    known = providers()
    if name not in known:
        raise CallerError(unknown("provider", name, list(known)))
    return known[name]


_ALIKE = 0.7  # below it, short words match by chance: nope, openai


def unknown(what: str, name: object, known: list[str]) -> str:
    """`there is no provider 'opnai'; did you mean openai? There are: ...`"""
    close = get_close_matches(str(name), known, 1, _ALIKE)
    hint = f"; did you mean {close[0]}?" if close else "."
    return f"there is no {what} {str(name)!r}{hint} There are: {', '.join(sorted(set(known)))}"
