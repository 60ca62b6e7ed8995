"""Rows about models, from models.toml or a user's file: a name pattern and facts. Parses and matches them."""

from __future__ import annotations

import re
from fnmatch import translate
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from toolglot.catalog.model_names import folded
from toolglot.catalog.profile import MultiTurn, PromptStyle
from toolglot.errors import CallerError

Kind = Literal["ollama", "llamacpp", "vllm", "lmstudio", "openrouter", "hosted"]
Positive = Annotated[int, Meta(ge=1)]
Ask = Annotated[str, Meta(pattern=r"^(native|constrained|dialect:[a-z0-9_]+)$")]
Refused = Literal["system", "late_system", "tool", "alternation"]


class Facts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Facts about a model, named as in Profile. Unset ones come from a more general row."""

    supports_tools: bool | UnsetType = UNSET
    tool_format: str | UnsetType = UNSET
    dialect: str | UnsetType = UNSET
    max_tools: Positive | UnsetType = UNSET
    supports_parallel: bool | UnsetType = UNSET
    supports_streaming: bool | UnsetType = UNSET
    supports_nonce: bool | UnsetType = UNSET
    prompt_style: PromptStyle | UnsetType = UNSET
    multi_turn: MultiTurn | UnsetType = UNSET
    context_length: Positive | UnsetType = UNSET
    parameters: float | UnsetType = UNSET
    ask: Ask | UnsetType = UNSET
    reasoning: tuple[str, str] | UnsetType = UNSET
    refuses: tuple[Refused, ...] | UnsetType = UNSET
    vision: bool | UnsetType = UNSET
    max_output: Positive | UnsetType = UNSET

    def set_fields(self) -> dict[str, Any]:
        return {name: value for name in FIELDS if (value := getattr(self, name)) is not UNSET}


FIELDS = Facts.__struct_fields__


class OnServer(Facts, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Differences on one kind of server. `native`: it accepts `tools` for this model and returns native tool calls."""

    native: bool | UnsetType = UNSET
    source: str = ""


class Row(Facts, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    match: tuple[str, ...] = ()  # globs on the bare name, in addition to the row's name; default: the name plus any suffix
    source: str | tuple[str, ...] = ""
    template: tuple[str, ...] = ()  # texts that together stand in its chat templates and in no other family's
    general: bool = False  # a whole family: a model with no more specific row is guessed from it
    on: dict[Kind, OnServer] = {}


class Pattern(msgspec.Struct, frozen=True):
    row: Row
    head: str  # the characters before the first wildcard, a fast first test
    rest: re.Pattern[str] | None  # None: only a star follows
    weight: int  # how many literal characters it has: more means more specific

    def matches(self, name: str) -> bool:
        return name.startswith(self.head) and (self.rest is None or self.rest.match(name) is not None)


# keyed by the first character of a name, so that few are tried; "": patterns for all other names
Patterns = dict[str, tuple[Pattern, ...]]


def patterns(rows: tuple[Row, ...]) -> Patterns:
    """Every pattern of every row, from general to specific; equal ones in file order."""
    found = sorted((_pattern(row, glob) for row in rows for glob in _globs(row)), key=lambda pattern: pattern.weight)
    firsts = {"", *(pattern.head[:1] for pattern in found)}
    return {first: tuple(pattern for pattern in found if pattern.head[:1] in {"", first}) for first in firsts}


def _globs(row: Row) -> dict[str, None]:
    """The row's name and patterns, folded like names: `house-*` must also match `house-7b`, which folds to `house7b`."""
    globs = [folded(glob) for glob in (row.name, *(row.match or (f"{row.name}-*",)))]
    return dict.fromkeys([*globs, *(glob.replace("-*", "[0-9]*") for glob in globs)])


def _pattern(row: Row, glob: str) -> Pattern:
    head = re.split(r"[*?\[]", glob, maxsplit=1)[0]
    weight = len(re.sub(r"\[[^]]*\]|[*?]", "", glob))
    rest = None if glob == f"{head}*" else re.compile(translate(glob))
    return Pattern(row, head, rest, weight)


def matching(table: Patterns, name: str) -> tuple[Row, ...]:
    """The rows that match, from general to specific, each once, at the position of its most specific pattern."""
    rows: dict[str, Row] = {}
    for pattern in table.get(name[:1], table[""]):
        if pattern.matches(name):
            rows.pop(pattern.row.name, None)
            rows[pattern.row.name] = pattern.row
    return tuple(rows.values())


def read_rows(tables: Any, where: str) -> tuple[Row, ...]:
    """`[[model]]` tables to rows; an invalid one is an error with the file, the row and the key."""
    if not isinstance(tables, list):
        raise CallerError("write rows as [[model]], with two brackets", where)
    return tuple(_row(row, f"{where}: [[model]] {number}") for number, row in enumerate(tables, 1))


def _row(table: Any, where: str) -> Row:
    if isinstance(table, dict) and isinstance(table.get("name"), str):
        where += f" ({table['name']})"
    try:
        return msgspec.convert(table, Row)
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at ")
        key = path.strip("`").removeprefix("$").removeprefix(".")
        raise CallerError(problem, f"{where}: {key}" if key else where) from None
