"""Converts JSON values to Python values by type hints: a call's arguments for the function."""

from __future__ import annotations

import base64
import collections
import collections.abc
import datetime
import uuid
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from pathlib import Path, PurePath
from typing import Any

import msgspec

from toolglot.errors import ArgumentsError
from toolglot.io.json_codec import preview
from toolglot.schema.from_function import pydantic_types
from toolglot.schema.from_function.fields import Field, fields_of
from toolglot.schema.from_function.hints import enum_values, plain_kind
from toolglot.schema.from_function.shapes import Shape, is_typed_dict, shape_of
from toolglot.schema.relaxed_json import kind_of


def read_value(value: Any, hint: Any, path: str) -> Any:
    """The value converted by the hint; an ArgumentsError with the path and what was expected."""
    shape = shape_of(hint)
    return _READERS[shape.kind](value, shape, path)


def read_fields(value: Any, fields: list[Field], path: str) -> dict[str, Any]:
    """An object's values by the fields' names. Absent ones are left to the defaults."""
    members = _expected(value, dict, "an object", path)
    known = {field.key for field in fields}
    for key in members:
        if key not in known:
            raise ArgumentsError(f"{_below(path, key)}: unknown parameter; known: {', '.join(sorted(known)) or 'none'}")
    found: dict[str, Any] = {}
    for field in fields:
        if field.key in members:
            inner = read_value(members[field.key], field.hint, _below(path, field.key))
            if field.passed:
                found[field.name] = inner
        elif field.required:
            raise ArgumentsError(f"{_below(path, field.key)}: is missing")
    return found


def _below(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _expected(value: Any, kinds: type | tuple[type, ...], wanted: str, path: str) -> Any:
    if isinstance(value, kinds):
        return value
    raise _unexpected(value, wanted, path)


def _unexpected(value: Any, wanted: str, path: str) -> ArgumentsError:
    shown = f" ({preview(value, 40)})" if isinstance(value, (str, int, float)) else ""
    return ArgumentsError(f"{path}: expected {wanted}, got {kind_of(value)}{shown}")


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not (isinstance(value, int) or (isinstance(value, float) and value.is_integer())):
        raise ValueError
    return int(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError
    return float(value)


def _decimal(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError
    return Decimal(str(value))


def _duration(value: Any) -> datetime.timedelta:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return datetime.timedelta(seconds=value)
    return msgspec.convert(value, datetime.timedelta)


def _exactly(kind: type) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise ValueError
        return value

    return read


_PLAIN: dict[type, tuple[str, Callable[[Any], Any]]] = {
    bool: ("true or false", _exactly(bool)),
    int: ("an integer", _whole),
    float: ("a number", _number),
    str: ("a string", _exactly(str)),
    type(None): ("null", _exactly(type(None))),
    Decimal: ("a number", _decimal),
    bytes: ("base64 text", lambda value: base64.b64decode(value, validate=True)),
    uuid.UUID: ("a UUID", uuid.UUID),
    PurePath: ("a path", Path),
    datetime.datetime: ("a date and time such as 2026-01-31T12:00:00", datetime.datetime.fromisoformat),
    datetime.date: ("a date such as 2026-01-31", datetime.date.fromisoformat),
    datetime.time: ("a time such as 12:00:00", datetime.time.fromisoformat),
    datetime.timedelta: ("a duration such as PT1H30M", _duration),
}
_FAULTS = (ValueError, TypeError, ArithmeticError, AttributeError, msgspec.MsgspecError)


def _plain(value: Any, shape: Shape, path: str) -> Any:
    kind = plain_kind(shape.hint)
    wanted, read = _PLAIN[kind]
    try:
        converted = read(value)
        is_subclass = shape.hint is not kind and not isinstance(converted, shape.hint)
        return shape.hint(converted) if is_subclass else converted  # a subclass of a plain type
    except _FAULTS:
        raise _unexpected(value, wanted, path) from None


def _union(value: Any, shape: Shape, path: str) -> Any:
    """The arm with the value's exact type, else the first that accepts it."""
    arms = [shape_of(hint) for hint in shape.inner]
    arms.sort(key=lambda arm: not (arm.kind == "plain" and arm.hint is type(value)))  # stable
    problems: list[str] = []
    for arm in arms:
        try:
            return _READERS[arm.kind](value, arm, path)
        except ArgumentsError as error:
            problems.append(str(error).removeprefix(f"{path}: "))
    raise ArgumentsError(f"{path}: {'; or '.join(dict.fromkeys(problems))}")


def _literal(value: Any, shape: Shape, path: str) -> Any:
    for wanted in shape.inner:
        plain = wanted.value if isinstance(wanted, Enum) else wanted
        if plain == value and isinstance(plain, bool) == isinstance(value, bool):
            return wanted
    raise _unexpected(value, f"one of {', '.join(map(repr, shape.inner))}", path)


def _enum(value: Any, shape: Shape, path: str) -> Any:
    members = enum_values(shape.hint)
    try:
        return members[value]
    except (KeyError, TypeError):
        raise _unexpected(value, f"one of {', '.join(map(repr, members))}", path) from None


# the concrete class for an abstract one
_CONCRETE: dict[type, type] = {collections.abc.Set: frozenset, collections.abc.MutableSet: set}


def _array(value: Any, shape: Shape, path: str) -> Any:
    items = _expected(value, list, "a list", path)
    if shape.inner:
        items = [read_value(item, shape.inner[0], f"{path}[{at}]") for at, item in enumerate(items)]
    cls = _CONCRETE.get(shape.hint, shape.hint)
    if cls is list or cls.__module__ == "collections.abc":
        return items
    try:
        return cls(items)
    except TypeError as error:  # an unhashable item of a set
        raise ArgumentsError(f"{path}: {error}") from None


def _tuple(value: Any, shape: Shape, path: str) -> Any:
    items = _expected(value, list, "a list", path)
    if len(items) != len(shape.inner):
        raise ArgumentsError(f"{path}: expected a list of {len(shape.inner)}, got one of {len(items)}")
    return tuple(
        read_value(item, hint, f"{path}[{at}]") for at, (item, hint) in enumerate(zip(items, shape.inner, strict=True))
    )


def _mapping(value: Any, shape: Shape, path: str) -> Any:
    members = _expected(value, dict, "an object", path)
    if shape.inner:
        key, inner = shape.inner
        members = {_key(name, key, path): read_value(item, inner, f"{path}.{name}") for name, item in members.items()}
    if shape.hint is collections.defaultdict:
        return collections.defaultdict(None, members)
    return members if shape.hint is dict or shape.hint.__module__ == "collections.abc" else shape.hint(members)


def _key(name: str, hint: Any, path: str) -> Any:
    """JSON's keys are strings; if the hint is a number, the key is parsed as one."""
    try:
        return read_value(name, hint, path)
    except ArgumentsError:
        try:
            return read_value(msgspec.json.decode(name), hint, path)
        except (msgspec.MsgspecError, ArgumentsError):
            raise ArgumentsError(f"{path}: the key {preview(name, 40)!r} does not fit") from None


def _model(value: Any, shape: Shape, path: str) -> Any:
    found = read_fields(value, fields_of(shape.hint, shape.inner), path)
    if is_typed_dict(shape.hint):
        return found
    try:
        return shape.hint(**found)
    except (TypeError, ValueError) as error:  # raised by the class
        raise ArgumentsError(f"{path}: {error}") from None


_READERS: dict[str, Callable[[Any, Shape, str], Any]] = {
    "any": lambda value, shape, path: value,
    "plain": _plain,
    "union": _union,
    "literal": _literal,
    "array": _array,
    "tuple": _tuple,
    "mapping": _mapping,
    "enum": _enum,
    "model": _model,
    "foreign": lambda value, shape, path: pydantic_types.read(shape.hint, value, path),
}
