"""`fit_schema`: evident meaning, then plain form, then the target's words."""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.schema.evident import Schema, evident
from toolglot.schema.fitting.flatten import flattened
from toolglot.schema.fitting.loosen import Loosen
from toolglot.schema.fitting.merge import merge
from toolglot.schema.fitting.plain import Plain, TooLargeError
from toolglot.schema.fitting.report import Report
from toolglot.schema.fitting.targets import Target

_HOPS = (16, 6, 4, 3, 2, 1, 0)  # references in references: as many as the budget allows
_BUDGET = 2000
_PER_SCHEMA = 4
_MOST_COUNTED = 10_000
_NOT_AT_ROOT = ("$ref", "$recursiveRef", "anyOf", "oneOf", "allOf", "enum", "const", "not", "if")
_OBJECT: Schema = {"type": ["object"]}


class Fitted(msgspec.Struct, frozen=True):
    """`narrowed` names the places where the target has no way to say what the original allows: empty, and every value that was
    valid still is. `aside` is for the tool's own description.
    """

    schema: Schema
    notes: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    narrowed: tuple[str, ...] = ()
    aside: str = ""


def fit_schema(schema: Any, target: Target) -> Fitted:
    """The schema of a tool's arguments as `target` understands it. Never raises."""
    given: Schema = schema if isinstance(schema, dict) else {}
    meant, slips = evident(given)
    if target.as_is and _is_plain_root(meant):
        return Fitted(meant if meant.get("type") == "object" else {**meant, "type": "object"}, slips)
    report, plain = plain_root(meant, slips)
    if "anyOf" in plain and not target.root_union:
        report.note("", "its forms are joined into one object")
        plain = flattened(plain)
    loosen = Loosen(target, report)
    made = loosen.root(plain)
    return Fitted(
        made,
        tuple(report.notes),
        tuple(report.moved),
        tuple(report.narrowed),
        "; ".join(dict.fromkeys(report.aside)),
    )


def _is_plain_root(meant: Schema) -> bool:
    return meant.get("type", "object") == "object" and not any(word in meant for word in _NOT_AT_ROOT)


def plain_root(meant: Schema, slips: tuple[str, ...] = ()) -> tuple[Report, Schema]:
    """The plain form of the root, which is an object."""
    budget = _BUDGET + _PER_SCHEMA * _size(meant)
    deepest = _HOPS[0] + 1
    for hops in _HOPS:
        if hops >= deepest:  # would do the same again
            continue
        report = Report(slips)
        walk = Plain(meant, hops=hops, budget=budget, note=report.note)
        try:
            made = merge(walk.schema(meant), _OBJECT, walk.count)
        except TooLargeError:
            deepest = walk.deepest
            continue
        if made is None:
            report.note("", "no arguments can satisfy it; any are accepted")
            made = _OBJECT
        return report, made
    report = Report(slips)
    report.note("", "it is too large; any arguments are accepted")
    return report, _OBJECT


def _size(meant: Any) -> int:
    """How many objects and lists are in it, as far as it matters."""
    count = 0
    waiting = [meant]
    while waiting and count < _MOST_COUNTED:
        held = waiting.pop()
        if isinstance(held, (dict, list)):
            count += 1
            waiting.extend(held.values() if isinstance(held, dict) else held)
    return count
