"""What is known of a model: the rows that fit its name, merged from general to particular, and where each fact comes from."""

from __future__ import annotations

import tomllib
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import msgspec

from toolglot.catalog.bare_names import bare_name, billions
from toolglot.catalog.own_rows import Stamp, own_rows, stamps
from toolglot.catalog.profile import Profile
from toolglot.catalog.providers import providers, unknown
from toolglot.catalog.rows import FIELDS, Facts, OnServer, Patterns, Row, matching, patterns, read_rows
from toolglot.errors import CallerError

# the kind of server behind a provider; one that is not here runs models of its own choice: hosted
KINDS = {
    "ollama": "ollama",
    "ollama-cloud": "ollama",
    "llamacpp": "llamacpp",
    "local": "llamacpp",
    "vllm": "vllm",
    "lmstudio": "lmstudio",
    "openrouter": "openrouter",
    "openai-chat": "hosted",
    "openai-responses": "hosted",
}

UNKNOWN = "unknown"  # the family of a model that no row fits

# Without tools of its own, a model is taught this form where the row names none.
TAUGHT = "tagged"

# The best that a guess may promise.
_AT_MOST = {"multi_turn": ("excellent", "good")}


class Catalog(msgspec.Struct, frozen=True):
    rows: tuple[Row, ...]
    patterns: Patterns
    unknown: Row
    sources: dict[str, str]


def server_kind(provider: str) -> str:
    """Of which kind a provider's server is: one that can be asked about its models, or `hosted`, a vendor's own."""
    return KINDS.get(provider, "hosted")


@cache
def catalog() -> Catalog:
    """Our rows, loaded when they are first asked for."""
    held = tomllib.loads(Path(__file__).with_name("models.toml").read_text(encoding="utf-8"))
    rows = read_rows(held["model"], "models.toml")
    nothing = msgspec.convert(held["unknown"], Row)
    return Catalog(rows, patterns(rows), nothing, held["sources"])


def profile(model: str, provider: str | None = None) -> Profile:
    """What the model can do and how it should be asked. `provider/model`, or a bare name; with a provider, as it is there."""
    if not isinstance(model, str) or not model.strip():
        raise CallerError(f"a model's name is text, as in 'ollama/qwen3:8b'; got {model!r}", "model")
    return _profile(model, provider, stamps())


@lru_cache(maxsize=4096)
def _profile(model: str, provider: str | None, own: tuple[Stamp, ...]) -> Profile:
    if provider is None:
        first, slash, _ = model.partition("/")
        provider = first if slash and first in providers() else None
    found = _Found(model, _kind(provider))
    found.take_catalog(catalog())
    for stamp in own:
        found.take_own(stamp)
    return found.profile()


def _kind(provider: str | None) -> str | None:
    if provider is None or provider in KINDS:
        return KINDS.get(provider or "")
    if provider not in providers():
        raise CallerError(unknown("provider", provider, list({**providers(), **KINDS})), "provider")
    return "hosted"


class _Found:
    """Facts as they are gathered: the later and more particular wins, and leaves its origin."""

    def __init__(self, model: str, kind: str | None) -> None:
        self.model = model
        self.bare = bare_name(model)
        self.kind = kind
        self.values: dict[str, Any] = {}
        self.origins: dict[str, str] = {}
        self.native: dict[str, bool] = {}
        self.otherwise: dict[str, str] = {}  # kind of server -> what it shows otherwise
        self.family = ""
        self.source = ""

    def take_catalog(self, ours: Catalog) -> None:
        rows, inside = _fitting(ours.patterns, self.bare)
        guess = ""
        if inside:
            guess = f"guessed from {inside!r} in its name: "
        elif rows and rows[-1].general:
            guess = "guessed from its family: "
        for row in rows or (ours.unknown,):
            self.take(row, f"{guess}catalog row {row.name} ({_told(row.source, ours.sources)})", ours.sources)
        if not rows:
            self.source = f"guessed: no row fits this name; {_told(ours.unknown.source, ours.sources)}"
            self.origins = dict.fromkeys(self.origins, self.source)
        if guess:
            self._careful()
        size = billions(self.model)
        if size is not None:
            self.values["parameters"] = size
            self.origins["parameters"] = "its name"

    def take_own(self, stamp: Stamp) -> None:
        own = own_rows(stamp)
        for row in matching(own.patterns, self.bare):
            why = _told(row.source, {})
            self.take(row, f"your row {row.name} in {own.file}" + (f" ({why})" if why else ""), {})

    def take(self, row: Row, origin: str, sources: dict[str, str]) -> None:
        self.family, self.source = row.name, origin
        self._set(row, origin)
        for kind, there in row.on.items():
            self._take_server(kind, there, row, origin, sources)

    def _take_server(self, kind: str, there: OnServer, row: Row, origin: str, sources: dict[str, str]) -> None:
        told = _told(there.source or row.source, sources)
        if there.native is not msgspec.UNSET:
            self.native[kind] = there.native
        self.otherwise.pop(kind, None)  # what a more general row said of this server
        if there.source:
            self.otherwise[kind] = f"on {kind}: {told}"
        if kind == self.kind:
            self._set(there, f"row {row.name}, on {kind} ({told})" if told else f"{origin}, on {kind}")

    def _set(self, facts: Facts, origin: str) -> None:
        given = facts.given()
        self.values |= given
        self.origins |= dict.fromkeys(given, origin)

    def _careful(self) -> None:
        for field, (best, instead) in _AT_MOST.items():
            if self.values.get(field) == best:
                self.values[field] = instead

    def profile(self) -> Profile:
        if self.values.get("dialect") == "":  # a form that is none of ours
            del self.values["dialect"]
        if self.values.get("supports_tools") is False and self.values.get("tool_format", "openai") == "openai":
            self.values["tool_format"] = self.values.get("dialect", TAUGHT)
            self.origins["tool_format"] = "it takes no tools itself"
        shown = [self.otherwise[kind] for kind in sorted(self.otherwise) if self.kind in {None, kind}]
        origins = dict.fromkeys(FIELDS, "default") | self.origins
        facts = {field: origin for field, origin in origins.items() if origin != self.source}
        return Profile(
            model=self.model,
            family=self.family,
            source="; ".join([self.source, *shown]),
            native=self.native,
            facts=facts,
            **self.values,
        )


def _fitting(found: Patterns, name: str) -> tuple[tuple[Row, ...], str]:
    """The rows for a name; where none fits, for the first part of it behind a hyphen that one fits (a fine-tune's base)."""
    rows = matching(found, name)
    rest = name
    while not rows and "-" in rest:
        rest = rest.partition("-")[2]
        rows = matching(found, rest)
    return rows, rest if rows and rest != name else ""


def _told(source: str | tuple[str, ...], sources: dict[str, str]) -> str:
    parts = (source,) if isinstance(source, str) else source
    return "; ".join(sources.get(part, part) for part in parts if part)


def families() -> tuple[Profile, ...]:
    """Every row of ours as a profile, in the order of the file; a user's rows count."""
    own = stamps()
    return tuple(_profile(row.name, None, own) for row in catalog().rows)
