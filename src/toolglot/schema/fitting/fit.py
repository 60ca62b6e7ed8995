"""`fit_schema`: repair the schema, normalize it, then lower it to the target's keywords."""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.schema.fitting.flatten import flattened
from toolglot.schema.fitting.lower import Lowering
from toolglot.schema.fitting.merge import merge
from toolglot.schema.fitting.normalize import Normalizer, TooLargeError
from toolglot.schema.fitting.report import Report
from toolglot.schema.fitting.targets import Target
from toolglot.schema.schema_repair import Schema, repair_schema

_HOPS = (16, 6, 4, 3, 2, 1, 0)  # depth of nested references: the largest that stays within the budget
_BUDGET = 2000
_PER_SCHEMA = 4
_MAX_COUNTED = 10_000
_NOT_AT_ROOT = ("$ref", "$recursiveRef", "anyOf", "oneOf", "allOf", "enum", "const", "not", "if")
_OBJECT: Schema = {"type": ["object"]}


class Fitted(msgspec.Struct, frozen=True):
    """`narrowed` lists the places where the target can't express all that the original allows; if it is empty, every valid
    value stays valid. `aside` is for the tool's description.
    """

    schema: Schema
    notes: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    narrowed: tuple[str, ...] = ()
    aside: str = ""


def fit_schema(schema: Any, target: Target) -> Fitted:
    """The schema of a tool's arguments in the target's keywords. Never raises."""
    original: Schema = schema if isinstance(schema, dict) else {}
    repaired, notes = repair_schema(original)
    if target.as_is and _is_plain_root(repaired):
        return Fitted(repaired if repaired.get("type") == "object" else {**repaired, "type": "object"}, notes)
    report, normalized = normalized_root(repaired, notes)
    if "anyOf" in normalized and not target.root_union:
        report.note("", "the union is merged into one object")
        normalized = flattened(normalized)
    lowering = Lowering(target, report)
    lowered = lowering.root(normalized)
    return Fitted(
        lowered,
        tuple(report.notes),
        tuple(report.moved),
        tuple(report.narrowed),
        "; ".join(dict.fromkeys(report.aside)),
    )


def _is_plain_root(schema: Schema) -> bool:
    return schema.get("type", "object") == "object" and not any(word in schema for word in _NOT_AT_ROOT)


def normalized_root(schema: Schema, notes: tuple[str, ...] = ()) -> tuple[Report, Schema]:
    """The normalized form of the root, which is an object."""
    budget = _BUDGET + _PER_SCHEMA * _size(schema)
    deepest = _HOPS[0] + 1
    for hops in _HOPS:
        if hops >= deepest:  # same result as the previous attempt
            continue
        report = Report(notes)
        normalizer = Normalizer(schema, hops=hops, budget=budget, note=report.note)
        try:
            root = merge(normalizer.schema(schema), _OBJECT, normalizer.count)
        except TooLargeError:
            deepest = normalizer.deepest
            continue
        if root is None:
            report.note("", "no arguments can satisfy it; any arguments are accepted")
            root = _OBJECT
        return report, root
    report = Report(notes)
    report.note("", "it is too large; any arguments are accepted")
    return report, _OBJECT


def _size(schema: Any) -> int:
    """How many objects and lists are in it, up to the limit."""
    count = 0
    waiting = [schema]
    while waiting and count < _MAX_COUNTED:
        node = waiting.pop()
        if isinstance(node, (dict, list)):
            count += 1
            waiting.extend(node.values() if isinstance(node, dict) else node)
    return count
