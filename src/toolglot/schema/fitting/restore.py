"""Undoes strict mode, where every property is required and null means "absent"."""

from __future__ import annotations

from typing import Any

from toolglot.core.budget import Budget
from toolglot.schema.check import checker
from toolglot.schema.fitting.fit import normalized_root
from toolglot.schema.schema_repair import Schema


def drop_filled_nulls(arguments: dict[str, Any], original: Schema, budget: Budget | None = None) -> dict[str, Any]:
    """The arguments without the nulls that only strict mode required; unchanged if they are valid or stay invalid.

    Coercion drops a null from a known property. After a union was merged into one object, a null may also be under a key of
    another branch, which coercion can't detect. Raises BudgetSpent.
    """
    check, budget = checker(original), budget or Budget()
    if check.fits(arguments, budget):
        return arguments
    reduced = _unfilled(arguments, normalized_root(check.schema)[1], budget)
    return reduced if isinstance(reduced, dict) and check.fits(reduced, budget) else arguments


def _unfilled(value: Any, schema: Schema, budget: Budget) -> Any:
    budget.spend()
    for branch in schema.get("anyOf", ()):
        reduced = _unfilled(value, branch, budget)
        if checker(branch).fits(reduced, budget):
            return reduced
    if isinstance(value, list):
        first, rest = schema.get("prefixItems", ()), schema.get("items", {})
        return [_unfilled(item, first[at] if at < len(first) else rest, budget) for at, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    known, required = schema.get("properties", {}), schema.get("required", ())
    return {
        name: _unfilled(item, known.get(name, {}), budget)
        for name, item in value.items()
        if item is not None or name in required or (name in known and _takes_null(known[name]))
    }


def _takes_null(schema: Schema) -> bool:
    if "anyOf" in schema:
        return any(map(_takes_null, schema["anyOf"]))
    return "null" in schema.get("type", ("null",)) and None in schema.get("enum", (None,))
