"""A type hint as JSON Schema. Classes are inlined; only recursive ones go to `$defs`."""

from __future__ import annotations

import datetime
import json
import uuid
from collections.abc import Callable, Iterable
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any

import msgspec

from toolglot.errors import CallerError
from toolglot.schema.from_function import pydantic_types
from toolglot.schema.from_function.constraints import Schema, constrained
from toolglot.schema.from_function.docstrings import read_docstring
from toolglot.schema.from_function.fields import MISSING, Field, fields_of, written_doc
from toolglot.schema.from_function.shapes import PLAIN, Shape, shape_of

_PLAIN: dict[type, Schema] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    type(None): {"type": "null"},
    Decimal: {"type": "number"},  # models write a number; it has a float's precision
    bytes: {"type": "string", "contentEncoding": "base64"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    PurePath: {"type": "string", "format": "path"},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.time: {"type": "string", "format": "time"},
    datetime.timedelta: {"type": "string", "format": "duration"},
}
Model = tuple[type, tuple[Any, ...]]  # a class with fields, and its type arguments
_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def plain_kind(cls: type) -> type:
    """The plain type of a class or of its nearest base."""
    return next(parent for parent in cls.__mro__ if parent in PLAIN)


class Schemas:
    """The schemas of one tool's parameters, and the definitions that they share."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}
        self._open: list[Model] = []  # the classes being written, the outermost first
        self._recursive: set[Model] = set()
        self._named: dict[Model, str] = {}

    def of(self, hint: Any) -> Schema:
        shape = shape_of(hint)
        return constrained(_WRITERS[shape.kind](self, shape), shape.metadata)

    def of_field(self, field: Field) -> Schema:
        """A parameter's or a field's schema, with its description and default."""
        try:
            schema = self.of(field.hint)
        except CallerError as error:
            raise error.within(field.key) from None
        if field.description and "description" not in schema:
            schema = {**schema, "description": field.description}
        default = as_json(field.default)
        return schema if default is None else {**schema, "default": default}

    def of_fields(self, fields: Iterable[Field]) -> Schema:
        found = list(fields)
        schema: Schema = {"type": "object", "properties": {field.key: self.of_field(field) for field in found}}
        required = [field.key for field in found if field.required]
        return {**schema, "required": required} if required else schema

    def model(self, shape: Shape) -> Schema:
        model = shape.hint, shape.inner
        if model in self._open:
            self._recursive.add(model)
            return self._reference(model)
        self._open.append(model)
        schema = self.of_fields(fields_of(*model))
        self._open.pop()
        if about := read_docstring(written_doc(shape.hint)).description:
            schema = {"type": "object", "description": about, **schema}
        if model not in self._recursive:
            return schema
        reference = self._reference(model)
        self.definitions[self._named[model]] = schema
        return reference

    def foreign(self, shape: Shape) -> Schema:
        return pydantic_types.schema(shape.hint, self.definitions)

    def _reference(self, model: Model) -> Schema:
        name = self._named.get(model)
        if name is None:
            class_name, taken = model[0].__name__, {*self._named.values(), *self.definitions}
            count = sum(class_name == each.rstrip("0123456789") for each in taken)
            name = self._named[model] = f"{class_name}{count + 1}" if class_name in taken else class_name
        return {"$ref": f"#/$defs/{name}"}


def _plain(schemas: Schemas, shape: Shape) -> Schema:
    return dict(_PLAIN[plain_kind(shape.hint)])


def _literal(schemas: Schemas, shape: Shape) -> Schema:
    return _enumerated([value.value if isinstance(value, Enum) else value for value in shape.inner])


def _enum(schemas: Schemas, shape: Shape) -> Schema:
    return _enumerated(list(enum_values(shape.hint)))


def enum_values(cls: type[Enum]) -> dict[Any, Enum]:
    """The members by their JSON form: their values, or their names if a value is not JSON."""
    if all(isinstance(member.value, (str, int, float)) for member in cls):
        return {member.value: member for member in cls}
    return {member.name: member for member in cls}


def _enumerated(values: list[Any]) -> Schema:
    unknown = [value for value in values if type(value) not in _JSON_TYPES]
    if unknown:
        raise CallerError(f"{unknown[0]!r} has no JSON form")
    types = list(dict.fromkeys(_JSON_TYPES[type(value)] for value in values))
    return {"type": types[0] if len(types) == 1 else types, "enum": values}


def _union(schemas: Schemas, shape: Shape) -> Schema:
    arms = [schemas.of(hint) for hint in shape.inner]
    arms = [arm for at, arm in enumerate(arms) if arm not in arms[:at]]
    if {} in arms:
        return {}
    if len(arms) == 1:
        return arms[0]
    if all(arm.keys() <= {"type", "enum"} for arm in arms):
        merged = _merged(arms)
        if merged is not None:
            return merged
    return {"anyOf": arms}


def _merged(arms: list[Schema]) -> Schema | None:
    """Plain arms as one schema with several types; an enum only with null and other enums."""
    types = [kind for arm in arms for kind in ([arm["type"]] if isinstance(arm["type"], str) else arm["type"])]
    merged: Schema = {"type": list(dict.fromkeys(types))}
    values = [value for arm in arms for value in arm.get("enum", [None] if arm["type"] == "null" else [])]
    if any("enum" in arm for arm in arms):
        if not all("enum" in arm or arm["type"] == "null" for arm in arms):
            return None
        merged["enum"] = values
    return merged


def _array(schemas: Schemas, shape: Shape) -> Schema:
    schema: Schema = {"type": "array"}
    if shape.inner and (items := schemas.of(shape.inner[0])):
        schema["items"] = items
    if issubclass(shape.hint, (set, frozenset)) or shape.hint.__name__ in ("Set", "MutableSet"):
        schema["uniqueItems"] = True
    return schema


def _tuple(schemas: Schemas, shape: Shape) -> Schema:
    size = len(shape.inner)
    items = [schemas.of(hint) for hint in shape.inner]
    return {"type": "array", "prefixItems": items, "minItems": size, "maxItems": size}


def _mapping(schemas: Schemas, shape: Shape) -> Schema:
    if not shape.inner:
        return {"type": "object"}
    key, value = shape.inner
    schema: Schema = {"type": "object"}
    if values := schemas.of(value):
        schema["additionalProperties"] = values
    names = schemas.of(key)
    if names.get("type") == "string" and len(names) > 1:
        schema["propertyNames"] = names
    return schema


def as_json(default: Any) -> Any:
    """A default as JSON; None if there is none or it has no JSON form (such as infinity)."""
    if default is MISSING or default is None:
        return None
    if isinstance(default, Enum):
        return next((key for key, member in enum_values(type(default)).items() if member is default), None)
    try:
        value = msgspec.to_builtins(float(default) if isinstance(default, Decimal) else default, enc_hook=_encoded)
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, NotImplementedError):
        return None
    return value


def _encoded(value: Any) -> Any:
    if isinstance(value, PurePath):
        return str(value)
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    raise NotImplementedError


_WRITERS: dict[str, Callable[[Schemas, Shape], Schema]] = {
    "any": lambda schemas, shape: {},
    "plain": _plain,
    "union": _union,
    "literal": _literal,
    "array": _array,
    "tuple": _tuple,
    "mapping": _mapping,
    "enum": _enum,
    "model": Schemas.model,
    "foreign": Schemas.foreign,
}
