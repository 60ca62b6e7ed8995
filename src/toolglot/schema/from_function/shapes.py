"""Classifies a type hint into one of a few kinds. Both schema generation and value conversion use them."""

from __future__ import annotations

import collections
import collections.abc
import dataclasses
import datetime
import types
import typing
import uuid
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any, Literal, get_args, get_origin

import msgspec

from toolglot.errors import CallerError

Kind = Literal["any", "plain", "union", "literal", "array", "tuple", "mapping", "enum", "model", "foreign"]

PLAIN = (
    *(bool, int, float, str, bytes, type(None), Decimal, uuid.UUID, PurePath),
    *(datetime.datetime, datetime.date, datetime.time, datetime.timedelta),
)
_ARRAYS = (list, set, frozenset, collections.deque)
# Abstract classes match by identity only: issubclass() would make every iterable class an Iterable.
_ABSTRACT_ARRAYS = {
    *(collections.abc.Sequence, collections.abc.MutableSequence, collections.abc.Set, collections.abc.MutableSet),
    *(collections.abc.Iterable, collections.abc.Collection),
}
_ABSTRACT_MAPPINGS = {collections.abc.Mapping, collections.abc.MutableMapping}
_ANYTHING = (Any, object)
_WRAPPED = {typing.Required, typing.NotRequired, typing.Final, typing.ClassVar}


class Shape(msgspec.Struct, frozen=True):
    kind: Kind
    hint: Any  # the class, or for `foreign` the whole hint
    inner: tuple[Any, ...] = ()  # the inner hints; of a literal: its values; of a model: its type arguments
    metadata: tuple[Any, ...] = ()  # of Annotated, the outermost last


def shape_of(hint: Any) -> Shape:
    """A CallerError if the hint has no JSON form."""
    if get_origin(hint) is typing.Annotated:
        return _annotated(hint)
    hint = _unwrapped(hint)
    if get_origin(hint) is typing.Annotated:  # an alias or a NewType of one
        return _annotated(hint)
    if hint is None:
        return Shape("plain", type(None))
    if hint in _ANYTHING or isinstance(hint, typing.TypeVar):
        return Shape("any", hint)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is typing.Union or origin is types.UnionType:
        return Shape("union", hint, inner)
    if origin is Literal:
        return Shape("literal", hint, inner)
    cls = origin or hint
    if isinstance(cls, type):
        return _class_shape(cls, hint, inner)
    raise CallerError(f"{_named(hint)} has no JSON form")


def _annotated(hint: Any) -> Shape:
    base, *metadata = get_args(hint)
    if any(type(item).__module__.partition(".")[0] == "pydantic" for item in metadata):
        return Shape("foreign", hint)
    shape = shape_of(base)
    return msgspec.structs.replace(shape, metadata=(*shape.metadata, *metadata))


def _unwrapped(hint: Any) -> Any:
    while True:
        if get_origin(hint) in _WRAPPED:
            hint = get_args(hint)[0]
        elif hint is typing.LiteralString:
            return str
        elif isinstance(hint, typing.NewType):
            hint = hint.__supertype__
        elif type(hint).__name__ == "TypeAliasType":  # `type Name = ...` of Python 3.12
            hint = hint.__value__
        else:
            return hint


def _class_shape(cls: type, hint: Any, inner: tuple[Any, ...]) -> Shape:
    if issubclass(cls, Enum):
        return Shape("enum", cls)
    if hasattr(cls, "__pydantic_validator__") or hasattr(cls, "__get_pydantic_core_schema__"):
        return Shape("foreign", hint)
    if is_model(cls):
        return Shape("model", cls, inner)
    if issubclass(cls, PLAIN):
        return Shape("plain", cls)
    if issubclass(cls, tuple):
        return _tuple_shape(inner)
    if issubclass(cls, dict) or cls in _ABSTRACT_MAPPINGS:
        return Shape("mapping", cls, (*inner, int) if len(inner) == 1 else inner)  # a Counter's values are numbers
    if issubclass(cls, _ARRAYS) or cls in _ABSTRACT_ARRAYS:
        return Shape("array", cls, inner)
    raise CallerError(
        f"{_named(hint)} has no JSON form; use plain types, a dataclass, a TypedDict, a Struct or a pydantic model"
    )


def _tuple_shape(inner: tuple[Any, ...]) -> Shape:
    if not inner or inner[-1] is Ellipsis:
        return Shape("array", tuple, inner[:1])
    return Shape("tuple", tuple, () if inner == ((),) else inner)


def is_model(cls: type) -> bool:
    """Whether the class has named fields with known types."""
    named_tuple = issubclass(cls, tuple) and hasattr(cls, "_fields")
    return named_tuple or dataclasses.is_dataclass(cls) or issubclass(cls, msgspec.Struct) or is_typed_dict(cls)


def is_typed_dict(cls: type) -> bool:
    """Also those of typing_extensions, which typing does not detect."""
    return issubclass(cls, dict) and hasattr(cls, "__required_keys__")


def is_injected(hint: Any) -> bool:
    """Whether a parameter is filled by the agent (`Context`), and so never shown to the model."""
    if get_origin(hint) in (typing.Annotated, typing.Union, types.UnionType):
        return any(map(is_injected, get_args(hint)))
    return isinstance(hint, type) and hasattr(hint, "__toolglot_injected__")


def _named(hint: Any) -> str:
    return hint.__qualname__ if isinstance(hint, type) else str(hint)
