"""The way back from strict mode, where every property has to be there and null stands for "not given"."""

from __future__ import annotations

from typing import Any

from toolglot.schema.check import checker
from toolglot.schema.evident import Schema
from toolglot.schema.fitting.fit import plain_root


def drop_filled_nulls(arguments: dict[str, Any], original: Schema) -> dict[str, Any]:
    """The arguments without the nulls that only strict mode asked for; as they are where they fit, or nothing helps.

    Coercion drops a null from a place that it knows. Where forms were joined into one object, a null may stand under a key
    that belongs to another form: that it can't know.
    """
    check = checker(original)
    if check.fits(arguments):
        return arguments
    less = _unfilled(arguments, plain_root(check.schema)[1])
    return less if isinstance(less, dict) and check.fits(less) else arguments


def _unfilled(value: Any, schema: Schema) -> Any:
    for branch in schema.get("anyOf", ()):
        less = _unfilled(value, branch)
        if checker(branch).fits(less):
            return less
    if isinstance(value, list):
        first, rest = schema.get("prefixItems", ()), schema.get("items", {})
        return [_unfilled(item, first[at] if at < len(first) else rest) for at, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    known, required = schema.get("properties", {}), schema.get("required", ())
    return {
        name: _unfilled(item, known.get(name, {}))
        for name, item in value.items()
        if item is not None or name in required or (name in known and _takes_null(known[name]))
    }


def _takes_null(schema: Schema) -> bool:
    if "anyOf" in schema:
        return any(map(_takes_null, schema["anyOf"]))
    return "null" in schema.get("type", ("null",)) and None in schema.get("enum", (None,))
