"""A row about models, in our models.toml or a user's file: a pattern, and those facts that it knows."""

from __future__ import annotations

import re
from fnmatch import translate
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from toolglot.catalog.bare_names import folded
from toolglot.catalog.profile import MultiTurn, PromptStyle
from toolglot.errors import CallerError

Kind = Literal["ollama", "llamacpp", "vllm", "lmstudio", "openrouter", "hosted"]
Positive = Annotated[int, Meta(ge=1)]
Ask = Annotated[str, Meta(pattern=r"^(native|constrained|dialect:[a-z0-9_]+)$")]
Refused = Literal["system", "tool", "alternation"]


class Facts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may be known of a model; named as in Profile. What is not given is left to a more general row."""

    supports_tools: bool | UnsetType = UNSET
    tool_format: str | UnsetType = UNSET
    dialect: str | UnsetType = UNSET
    max_tools: Positive | UnsetType = UNSET
    supports_parallel: bool | UnsetType = UNSET
    supports_streaming: bool | UnsetType = UNSET
    prompt_style: PromptStyle | UnsetType = UNSET
    multi_turn: MultiTurn | UnsetType = UNSET
    context_length: Positive | UnsetType = UNSET
    parameters: float | UnsetType = UNSET
    ask: Ask | UnsetType = UNSET
    decides: bool | UnsetType = UNSET
    reasoning: tuple[str, str] | UnsetType = UNSET
    refuses: tuple[Refused, ...] | UnsetType = UNSET

    def given(self) -> dict[str, Any]:
        return {name: value for name in FIELDS if (value := getattr(self, name)) is not UNSET}


FIELDS = Facts.__struct_fields__


class OnServer(Facts, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is otherwise on one kind of server. `native`: it takes `tools` for this model, and calls come back as calls."""

    native: bool | UnsetType = UNSET
    source: str = ""


class Row(Facts, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    match: tuple[str, ...] = ()  # globs over the bare name, beside the row's name itself; without any, its sizes and variants
    source: str | tuple[str, ...] = ""
    general: bool = False  # a whole line of models: one that no further row knows is guessed from it
    on: dict[Kind, OnServer] = {}


class Pattern(msgspec.Struct, frozen=True):
    row: Row
    head: str  # the characters before the first wildcard: most names are told apart by them alone
    rest: re.Pattern[str] | None  # None: nothing but a star follows
    weight: int  # how many characters it gives: the more, the more particular

    def fits(self, name: str) -> bool:
        return name.startswith(self.head) and (self.rest is None or self.rest.match(name) is not None)


# by the first character that a name must have, so that few are tried; "": what fits any other name
Patterns = dict[str, tuple[Pattern, ...]]


def patterns(rows: tuple[Row, ...]) -> Patterns:
    """Every pattern of every row, from general to particular; among equals, in the order of the file."""
    found = sorted((_pattern(row, glob) for row in rows for glob in _globs(row)), key=lambda pattern: pattern.weight)
    firsts = {"", *(pattern.head[:1] for pattern in found)}
    return {first: tuple(pattern for pattern in found if pattern.head[:1] in {"", first}) for first in firsts}


def _globs(row: Row) -> dict[str, None]:
    """Its name and its patterns, folded as names are: where `house-*` is meant, `house-7b` has become `house7b`."""
    globs = [folded(glob) for glob in (row.name, *(row.match or (f"{row.name}-*",)))]
    return dict.fromkeys([*globs, *(glob.replace("-*", "[0-9]*") for glob in globs)])


def _pattern(row: Row, glob: str) -> Pattern:
    head = re.split(r"[*?\[]", glob, maxsplit=1)[0]
    weight = len(re.sub(r"\[[^]]*\]|[*?]", "", glob))
    rest = None if glob == f"{head}*" else re.compile(translate(glob))
    return Pattern(row, head, rest, weight)


def matching(found: Patterns, name: str) -> tuple[Row, ...]:
    """The rows that fit, from general to particular, each once, where its most particular pattern puts it."""
    rows: dict[str, Row] = {}
    for pattern in found.get(name[:1], found[""]):
        if pattern.fits(name):
            rows.pop(pattern.row.name, None)
            rows[pattern.row.name] = pattern.row
    return tuple(rows.values())


def read_rows(held: Any, where: str) -> tuple[Row, ...]:
    """`[[model]]` tables to rows; a wrong one is an error that names the file, the row and the key."""
    if not isinstance(held, list):
        raise CallerError("rows are written [[model]], with two brackets", where)
    return tuple(_row(row, f"{where}: [[model]] {number}") for number, row in enumerate(held, 1))


def _row(held: Any, where: str) -> Row:
    if isinstance(held, dict) and isinstance(held.get("name"), str):
        where += f" ({held['name']})"
    try:
        return msgspec.convert(held, Row)
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at ")
        key = path.strip("`").removeprefix("$").removeprefix(".")
        raise CallerError(problem, f"{where}: {key}" if key else where) from None
