"""What an object within a call may take its values from: not from what is surely another parameter's.

Two objects of one shape (a pick-up and a return) have each its own; what stands first is the first one's, unless a word beside
it says whose it is.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from toolglot.pipeline.held import Held, Schema
from toolglot.pipeline.pointers import pointed
from toolglot.pipeline.said import Find, Said
from toolglot.pipeline.said_bounds import is_bounded
from toolglot.pipeline.slot_kinds import Slot, slot
from toolglot.pipeline.slots import sure

_SURELY = frozenset({"date", "time", "email", "phone", "url", "code"})  # kinds that no other value looks like


def nests(this: Slot) -> bool:
    """Whether it has parameters of its own."""
    return bool(_properties(this.schema))


def rest_for(this: Slot, alike: list[Slot], flat: list[Held], said: Said) -> Said:
    """The text without what is another's: of the call's own parameters, or of an object of the same shape."""
    inner = _inner(this.schema)
    kinds = {one.kind for one in inner}
    others = [one for one in flat if one.slot.kind in _SURELY - kinds]
    taken = [find for one in others for find in one.values if one.slot.kind != "code" or _is_code(str(find.value))]
    taken += [
        find for one in flat if one.slot.kind == "number" for find in one.values if is_bounded(one.slot.own, find, said) > 0
    ]
    if len(alike) > 1:
        named = [find for one in flat if one.slot.kind == "enum" for find in one.values]
        rest = said.without([*taken, *named])
        wanted = Counter(one.kind for one in inner)
        taken += [find for one in inner for find in _of_others(this, alike, one, wanted[one.kind], rest)]
    return said.without(taken) if taken else said


def _is_code(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def shape(this: Slot) -> frozenset[str]:
    """What it holds: two of one shape are alike."""
    return frozenset(_properties(this.schema)) if this.kind == "object" else frozenset()


def _of_others(this: Slot, alike: list[Slot], one: Slot, each: int, said: Said) -> list[Find]:
    """`each` has so many of the kind, side by side: Anna Berg in Malmo."""
    places = {find.start: find for find in reversed(sure(one, said))} if not nests(one) else {}
    finds = [places[start] for start in sorted(places)]
    if len(finds) != len(alike) * each:
        return []
    groups = [finds[at : at + each] for at in range(0, len(finds), each)]
    in_turn = sum(pointed(held, group[0], said) for held, group in zip(alike, groups, strict=True))
    crossed = sum(pointed(held, group[0], said) for held, group in zip(alike, groups[::-1], strict=True))
    own = (groups[::-1] if crossed > in_turn else groups)[alike.index(this)]
    return [find for find in finds if find not in own]


def _properties(schema: Schema) -> dict[str, Any]:
    items = schema.get("items")
    held = schema.get("properties") or (items.get("properties") if isinstance(items, dict) else None)
    return held if isinstance(held, dict) else {}


def _inner(schema: Schema) -> list[Slot]:
    """Its parameters, and theirs."""
    own = [slot(name, one) for name, one in _properties(schema).items() if isinstance(one, dict)]
    return [*own, *(deeper for one in own for deeper in _inner(one.schema))]


def held_within(schema: Schema, said: Said) -> list[Find]:
    """What an object is held to, word for word: no other parameter's."""
    told = schema.get("enum")
    if isinstance(told, list) and len(told) == 1 and isinstance(told[0], str) and told[0] in said.text:
        start = said.text.index(told[0])
        return [Find(told[0], start, start + len(told[0]))]
    items = schema.get("items")
    inner = [*(schema.get("properties") or {}).values(), *(schema.get("prefixItems") or []), *([items] if items else [])]
    return [find for one in inner if isinstance(one, dict) for find in held_within(one, said)]
