"""Schemas with values that satisfy them, made together: each draw is a schema and several values of it."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Bundle = tuple[Any, list[Any]]

_WORDS = st.text("abcxyz019", max_size=6)
_SCALARS = st.none() | st.booleans() | st.integers(-50, 50) | st.floats(-9, 9) | _WORDS
_ANYTHING = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_WORDS, inner, max_size=2), max_leaves=4
)
_PATTERNS = ("^[a-z0-9]*$", "", r"^\w*$", "^.*$", r"^(?!.*q)", "^(?:a|[b-z0-9]|){0,9}")
_FORMATS = ("email", "date-time", "uuid", "x-own", "uri")


class Maker:
    """`free`: with schemas that let anything through, and keys that are not listed."""

    def __init__(self, draw: Any, *, free: bool) -> None:
        self.draw = draw
        self.free = free
        self.defs: dict[str, Any] = {}

    def maybe(self) -> bool:
        return bool(self.draw(st.booleans()))

    def pick(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def bundle(self, n: int, depth: int) -> Bundle:
        kinds = [self.text, self.number, self.simple, self.listed, self.types, self.reference]
        if depth < 3:
            kinds += [self.object, self.object, self.array, self.tuple, self.either, self.every, self.condition]
        if self.free:
            kinds += [self.anything]
            if depth < 3:
                kinds += [self.map]
        schema, values = self.pick(*kinds)(n, depth)
        if isinstance(schema, dict) and self.maybe():
            schema = {
                **schema,
                **self.pick({"description": "Some words."}, {"default": 1}, {"title": "T"}, {"x-other": {}}, {"examples": [1]}),
            }
        return schema, values

    def text(self, n: int, depth: int) -> Bundle:
        values = [self.draw(_WORDS) for _ in range(n)]
        schema: dict[str, Any] = {"type": "string"}
        lengths = [len(value) for value in values] or [1]
        if self.maybe():
            schema["minLength"] = min(lengths)
        if self.maybe():
            schema["maxLength"] = max(lengths) + self.pick(0, 3, 4000)
        if self.maybe():
            schema["pattern"] = self.pick(*_PATTERNS)
        if self.maybe():
            schema["format"] = self.pick(*_FORMATS)
        return schema, values

    def number(self, n: int, depth: int) -> Bundle:
        whole = self.maybe()
        values = [self.draw(st.integers(-20, 20) if whole else st.floats(-20, 20)) for _ in range(n)]
        schema: dict[str, Any] = {"type": "integer" if whole else "number"}
        low, high = min(values, default=0), max(values, default=0)
        bounds = {"minimum": low, "maximum": high, "exclusiveMinimum": low - 0.5, "exclusiveMaximum": high + 1}
        schema |= {word: bound for word, bound in bounds.items() if self.maybe()}
        if whole and self.maybe():
            schema["multipleOf"] = 1
        return schema, values

    def simple(self, n: int, depth: int) -> Bundle:
        if self.maybe():
            return {"type": "boolean"}, [self.maybe() for _ in range(n)]
        return {"type": "null"}, [None] * n

    def listed(self, n: int, depth: int) -> Bundle:
        options = self.draw(st.lists(_SCALARS if not self.free else _ANYTHING, min_size=1, max_size=4))
        if self.maybe():
            return {"const": options[0]}, [options[0]] * n
        return {"enum": options}, [self.pick(*options) for _ in range(n)]

    def types(self, n: int, depth: int) -> Bundle:
        schema, values = self.pick(self.text, self.number)(n, depth)
        schema = {**schema, "type": [schema["type"], "null"]}
        return schema, [None if self.maybe() else value for value in values]

    def anything(self, n: int, depth: int) -> Bundle:
        return self.pick(True, {}, {"description": "any"}), [self.draw(_ANYTHING) for _ in range(n)]

    def reference(self, n: int, depth: int) -> Bundle:
        schema, values = self.bundle(n, depth + 1)
        name = f"d{len(self.defs)}"
        self.defs[name] = schema
        return {"$ref": f"#/$defs/{name}"}, values

    def object(self, n: int, depth: int) -> Bundle:
        values: list[dict[str, Any]] = [{} for _ in range(n)]
        schema: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
        for name in self.draw(st.lists(st.sampled_from(["a", "b", "c d", "é", "x-y"]), unique=True, min_size=1, max_size=3)):
            inner, found = self.bundle(n, depth + 1)
            schema["properties"][name] = inner
            there = [not self.maybe() for _ in range(n)] if self.maybe() else [True] * n
            for value, one, present in zip(values, found, there, strict=True):
                value.update({name: one} if present else {})
            if all(there):
                schema["required"].append(name)
        if self.maybe():
            schema["additionalProperties"] = False
        elif self.free and self.maybe():
            inner, found = self.bundle(n, depth + 1)
            schema["additionalProperties"] = inner
            for value, one in zip(values, found, strict=True):
                value["other"] = one
        elif self.free and self.maybe():
            schema |= {"patternProperties": {"^p_": {"type": "integer"}}, "additionalProperties": False}
            for value in values:
                value["p_1"] = 1
        if not schema["required"] and self.maybe():
            del schema["required"]
        if self.maybe():
            schema["minProperties"] = min(map(len, values), default=0)
        return schema, list(values)

    def map(self, n: int, depth: int) -> Bundle:
        inner, found = self.bundle(n, depth + 1)
        return {"type": "object", "additionalProperties": inner}, [{"k": one} for one in found]

    def array(self, n: int, depth: int) -> Bundle:
        sizes = [self.pick(0, 1, 2) for _ in range(n)]
        inner, found = self.bundle(sum(sizes), depth + 1)
        left = iter(found)
        values = [[next(left) for _ in range(size)] for size in sizes]
        schema: dict[str, Any] = {"type": "array", "items": inner}
        if self.maybe():
            schema["minItems"] = min(sizes, default=0)
        if self.maybe():
            schema["maxItems"] = max(sizes, default=0)
        return schema, list(values)

    def tuple(self, n: int, depth: int) -> Bundle:
        parts = [self.bundle(n, depth + 1) for _ in range(self.pick(1, 2))]
        values = [list(row) for row in zip(*(found for _, found in parts), strict=True)]
        schema: dict[str, Any] = {"type": "array", "prefixItems": [inner for inner, _ in parts]}
        schema |= {"items": False} if not self.free or self.maybe() else {"minItems": len(parts)}
        return schema, list(values)

    def either(self, n: int, depth: int) -> Bundle:
        branches = [self.bundle(n, depth + 1) for _ in range(2)]
        values = [self.pick(*pair) for pair in zip(*(found for _, found in branches), strict=True)]
        return {self.pick("anyOf", "oneOf"): [schema for schema, _ in branches]}, list(values)

    def every(self, n: int, depth: int) -> Bundle:
        one, first = self.object(n, depth)
        other, second = self.object(n, depth)
        if not isinstance(one, dict) or not isinstance(other, dict):
            return one, first
        renamed = {f"{name}2": inner for name, inner in other["properties"].items()}
        values = [
            {name: item for name, item in a.items() if name in one["properties"]}  # what no part speaks of may be taken away
            | {f"{name}2": item for name, item in b.items() if name in other["properties"]}
            for a, b in zip(first, second, strict=True)
        ]
        one.pop("additionalProperties", None)
        parts = [one, {"properties": renamed, "required": [f"{name}2" for name in other.get("required", ())]}]
        return {"allOf": parts}, list(values)

    def condition(self, n: int, depth: int) -> Bundle:
        schema, values = self.bundle(n, depth + 1)
        if not isinstance(schema, dict):
            return schema, values
        return {
            **schema,
            **self.pick({"not": {"const": "never"}}, {"if": {"type": "string"}, "then": True, "else": True}),
        }, values


@st.composite
def tools(draw: Any, *, free: bool = True) -> Bundle:
    """A schema for a tool's arguments, and arguments that satisfy it."""
    maker = Maker(draw, free=free)
    shape = maker.pick(maker.object, maker.object, maker.every, _union)
    schema, values = shape(3, 0) if shape is not _union else _union(maker)
    return ({**schema, "$defs": maker.defs} if maker.defs else schema), values


def _union(maker: Maker) -> Bundle:
    """At the root, with what only one branch lists."""
    one, first = maker.object(2, 1)
    other, second = maker.object(2, 1)
    return {"anyOf": [one, other]}, [*first, *second]
