"""A parameter on its way to a value: what it could be, and how clearly."""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.pipeline.said import Find
from toolglot.pipeline.slot_kinds import Slot

Schema = dict[str, Any]

SURE = 1.5  # from here on it is held to that value
CLEAR = 0.5  # from here on the words beside a value say whose it is
SOFT = frozenset({"name", "words", "free"})  # any words may be their value
ANYTHING = frozenset({"free", "words", "boolean", "any", "unit"})  # need no value of their own: any words will do
_IMPLIED = frozenset({"enum", "name", "tag"})


class Filled(msgspec.Struct, frozen=True):
    """How well a text fills a schema."""

    schema: Schema  # held to the text
    found: tuple[str, ...] = ()  # required parameters whose value the text says
    missing: tuple[str, ...] = ()  # those that the text has nothing for
    implied: tuple[str, ...] = ()  # those that it may only imply: a choice, a name in plain words
    wordable: tuple[str, ...] = ()  # of both those that plain words may be the value of
    evidence: float = 0.0  # how much the values tell: a path or a code more than a number
    sharp: bool = False  # one of them is of a kind that is there for a reason: a date, a path, a code
    pointed: float = 0.0  # how clearly the words beside the values say whose they are
    places: tuple[tuple[int, int], ...] = ()  # where its values stand
    first: dict[str, tuple[int, int]] = {}  # where the first one of each required parameter does
    whole: bool = False  # each required parameter has a value of its own, and none is a list
    each: tuple[tuple[str, tuple[Any, ...]], ...] = ()  # parameters for which the text has several values: Oslo and Cairo
    settled: tuple[tuple[int, int], ...] = ()  # where those values stand that are held to one
    spare: tuple[tuple[int, int], ...] = ()  # where values stand that one call has no place for


def properties_of(filled: Filled) -> dict[str, Schema]:
    """Its parameters as they are held to the text: none, where a schema tells none."""
    return filled.schema["properties"] if isinstance(filled.schema.get("properties"), dict) else {}


class Held(msgspec.Struct):
    """A parameter on its way: `values` are those that it could have."""

    slot: Slot
    required: bool
    values: list[Find]
    clear: float = 0.0  # how clearly the values are its own
    schema: Schema | None = None  # of what is no plain value
    inner: Filled | None = None
    is_exact: bool = False  # the values are those that it asks for, and no other's

    @property
    def is_found(self) -> bool:
        return bool(self.values) if self.inner is None else not self.inner.missing and bool(self.inner.found)

    @property
    def is_implied(self) -> bool:
        return self.slot.kind in _IMPLIED or (self.inner is not None and bool(self.inner.found))


def overlap(one: Find, other: Find) -> bool:
    return one.start < other.end and other.start < one.end


def fills(filled: Filled) -> bool:
    return not filled.missing and not filled.implied and bool(filled.found)
