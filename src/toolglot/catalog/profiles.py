"""Builds a model's profile: merges the rows that match its name, from general to specific, and records each fact's source."""

from __future__ import annotations

import tomllib
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import msgspec

from toolglot.catalog.model_names import bare_name, billions
from toolglot.catalog.profile import Profile
from toolglot.catalog.providers import providers, unknown
from toolglot.catalog.rows import FIELDS, Facts, OnServer, Patterns, Row, matching, patterns, read_rows
from toolglot.catalog.user_rows import Stamp, stamps, user_rows
from toolglot.core.plugins import loaded, report
from toolglot.errors import CallerError

# the kind of server behind a provider; providers that are not listed are `hosted`
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

UNKNOWN = "unknown"  # the family of a model that no row matches

# The format that a model without native tools is prompted with, if its row names none.
DEFAULT_DIALECT = "tagged"

# What a guess does not claim: field -> (value, value used instead).
_AT_MOST = {"multi_turn": ("excellent", "good"), "vision": (False, None)}


class Catalog(msgspec.Struct, frozen=True):
    rows: tuple[Row, ...]
    patterns: Patterns
    unknown: Row
    sources: dict[str, str]


def server_kind(provider: str) -> str:
    """The kind of a provider's server: one that can be queried about its models, or `hosted` (a vendor's API)."""
    return KINDS.get(provider, "hosted")


@cache
def catalog() -> Catalog:
    """The rows of models.toml, loaded on first use."""
    tables = tomllib.loads(Path(__file__).with_name("models.toml").read_text(encoding="utf-8"))
    rows = read_rows(tables["model"], "models.toml") + plugin_rows()
    unknown_row = msgspec.convert(tables["unknown"], Row)
    return Catalog(rows, patterns(rows), unknown_row, tables["sources"])


@cache
def plugin_rows() -> tuple[Row, ...]:
    """The rows of the entry points `toolglot.models`: each a list of rows as dicts. They come after ours, so equal ones win."""
    found: list[Row] = []
    for plugin, rows in loaded("toolglot.models"):
        try:
            read = read_rows(rows, plugin.value)
        except CallerError as error:
            report(plugin, error)
            continue
        found += [row if row.source else msgspec.structs.replace(row, source=plugin.package) for row in read]
    return tuple(found)


def profile(model: str, provider: str | None = None) -> Profile:
    """The profile of `provider/model` or a bare name; with a provider, as the model behaves there.

    Examples:
        >>> profile("ollama/qwen2.5-coder:7b").dialect
        'hermes'
    """
    if not isinstance(model, str) or not model.strip():
        raise CallerError(f"a model's name is text, as in 'ollama/qwen3:8b'; got {model!r}", "model")
    return _profile(model, provider, stamps())


@lru_cache(maxsize=4096)
def _profile(model: str, provider: str | None, user_files: tuple[Stamp, ...]) -> Profile:
    if provider is None:
        first, slash, _ = model.partition("/")
        provider = first if slash and first in providers() else None
    if provider in providers() and model in (provider, f"{provider}/{provider}"):
        model = providers()[provider].default_model or model
    facts = _FactCollector(model, _kind(provider))
    facts.take_catalog(catalog())
    for stamp in user_files:
        facts.take_user_rows(stamp)
    return facts.profile()


def _kind(provider: str | None) -> str | None:
    if provider is None or provider in KINDS:
        return KINDS.get(provider or "")
    if provider not in providers():
        raise CallerError(unknown("provider", provider, list({**providers(), **KINDS})), "provider")
    return "hosted"


class _FactCollector:
    """Collects facts with their origins. Later, more specific rows win."""

    def __init__(self, model: str, kind: str | None) -> None:
        self.model = model
        self.bare = bare_name(model)
        self.kind = kind
        self.values: dict[str, Any] = {}
        self.origins: dict[str, str] = {}
        self.native: dict[str, bool] = {}
        self.differences: dict[str, str] = {}  # kind of server -> how the model differs there
        self.family = ""
        self.source = ""

    def take_catalog(self, ours: Catalog) -> None:
        rows, inside = _matching_or_base(ours.patterns, self.bare)
        guess = ""
        if inside:
            guess = f"guessed from {inside!r} in its name: "
        elif rows and rows[-1].general:
            guess = "guessed from its family: "
        for row in rows or (ours.unknown,):
            self.take(row, f"{guess}catalog row {row.name} ({_source_text(row.source, ours.sources)})", ours.sources)
        if not rows:
            self.source = f"guessed: no row fits this name; {_source_text(ours.unknown.source, ours.sources)}"
            self.origins = dict.fromkeys(self.origins, self.source)
        if guess:
            self._careful()
        size = billions(self.model)
        if size is not None:
            self.values["parameters"] = size
            self.origins["parameters"] = "its name"

    def take_user_rows(self, stamp: Stamp) -> None:
        user = user_rows(stamp)
        for row in matching(user.patterns, self.bare):
            source_text = _source_text(row.source, {})
            self.take(row, f"your row {row.name} in {user.file}" + (f" ({source_text})" if source_text else ""), {})

    def take(self, row: Row, origin: str, sources: dict[str, str]) -> None:
        self.family, self.source = row.name, origin
        self._set(row, origin)
        for kind, there in row.on.items():
            self._take_server(kind, there, row, origin, sources)

    def _take_server(self, kind: str, there: OnServer, row: Row, origin: str, sources: dict[str, str]) -> None:
        source_text = _source_text(there.source or row.source, sources)
        if there.native is not msgspec.UNSET:
            self.native[kind] = there.native
        self.differences.pop(kind, None)  # from a more general row
        if there.source:
            self.differences[kind] = f"on {kind}: {source_text}"
        if kind == self.kind:
            self._set(there, f"row {row.name}, on {kind} ({source_text})" if source_text else f"{origin}, on {kind}")

    def _set(self, facts: Facts, origin: str) -> None:
        new = facts.set_fields()
        self.values |= new
        self.origins |= dict.fromkeys(new, origin)

    def _careful(self) -> None:
        for field, (best, instead) in _AT_MOST.items():
            if self.values.get(field) == best:
                self.values[field] = instead

    def profile(self) -> Profile:
        if self.values.get("dialect") == "":  # a format that no dialect covers
            del self.values["dialect"]
        if self.values.get("supports_tools") is False and self.values.get("tool_format", "openai") == "openai":
            self.values["tool_format"] = self.values.get("dialect", DEFAULT_DIALECT)
            self.origins["tool_format"] = "it takes no tools itself"
        shown = [self.differences[kind] for kind in sorted(self.differences) if self.kind in {None, kind}]
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


def _matching_or_base(table: Patterns, name: str) -> tuple[tuple[Row, ...], str]:
    """The rows for a name; if none match, those of the first suffix after a hyphen that has any (a fine-tune's base model)."""
    rows = matching(table, name)
    rest = name
    while not rows and "-" in rest:
        rest = rest.partition("-")[2]
        rows = matching(table, rest)
    return rows, rest if rows and rest != name else ""


def _source_text(source: str | tuple[str, ...], sources: dict[str, str]) -> str:
    parts = (source,) if isinstance(source, str) else source
    return "; ".join(sources.get(part, part) for part in parts if part)


def families_of_template(text: str) -> tuple[str, ...]:
    """The rows whose texts a chat template contains; the longest texts win, and may be several rows'."""
    marked = [(sum(map(len, row.template)), row) for row in catalog().rows if row.template]
    found = [(length, row.name) for length, row in marked if all(text_of in text for text_of in row.template)]
    longest = max(found, default=(0, ""))[0]
    return tuple(name for length, name in found if length == longest)


def rows_of(model: str) -> tuple[str, ...]:
    """The catalog rows that match a name, from general to specific."""
    return tuple(row.name for row in matching(catalog().patterns, bare_name(model)))


def families(*, user_rows: bool = True) -> tuple[Profile, ...]:
    """Every row of models.toml as a profile, in file order; the user's rows apply if wanted."""
    user_files = stamps() if user_rows else ()
    return tuple(_profile(row.name, None, user_files) for row in catalog().rows)
