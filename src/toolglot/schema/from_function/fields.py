"""The fields of a dataclass, a TypedDict, a msgspec Struct or a NamedTuple, in one form."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Iterator
from typing import Any, Literal
from weakref import WeakKeyDictionary

import msgspec

from toolglot.schema.from_function.docstrings import read_docstring
from toolglot.schema.from_function.names import hints_of
from toolglot.schema.from_function.shapes import is_typed_dict

MISSING: Any = object()


class Field(msgspec.Struct, frozen=True):
    name: str
    key: str  # the name in JSON
    hint: Any
    required: bool = True
    default: Any = MISSING
    description: str | None = None
    passed: bool = True  # False: a tag, which is checked but not passed to the class


_CACHE: WeakKeyDictionary[type, list[Field]] = WeakKeyDictionary()


def fields_of(cls: type, type_arguments: tuple[Any, ...] = ()) -> list[Field]:
    """Cached: the names that the hints refer to may be gone when a call comes. `type_arguments`: the `int` of `Box[int]`."""
    found = _CACHE.get(cls)
    if found is None:
        found = _CACHE[cls] = _read(cls)
    known = dict(zip(getattr(cls, "__parameters__", ()), type_arguments, strict=False))
    return [msgspec.structs.replace(field, hint=_filled(field.hint, known)) for field in found] if known else found


def _filled(hint: Any, known: dict[Any, Any]) -> Any:
    """The hint with its type variables replaced."""
    if isinstance(hint, typing.TypeVar):
        return known.get(hint, hint)
    wanted = getattr(hint, "__parameters__", ()) if typing.get_origin(hint) is not None else ()
    return hint[tuple(known.get(each, each) for each in wanted)] if wanted else hint


def _read(cls: type) -> list[Field]:
    hints = hints_of(cls)
    if issubclass(cls, msgspec.Struct):
        found = list(_struct(cls, hints))
    elif dataclasses.is_dataclass(cls):
        found = list(_dataclass(cls, hints))
    elif is_typed_dict(cls):
        found = list(_typed_dict(cls, hints))
    else:
        found = list(_named_tuple(cls, hints))
    about = read_docstring(written_doc(cls)).parameters
    return [msgspec.structs.replace(field, description=about.get(field.name)) for field in found]


def written_doc(cls: type) -> str | None:
    """The docstring, if the author wrote it: dataclasses and NamedTuples generate one from the signature."""
    doc = cls.__dict__.get("__doc__")
    if not doc or doc.startswith(f"{cls.__name__}("):
        return None
    return inspect.cleandoc(doc)


def _struct(cls: type[msgspec.Struct], hints: dict[str, Any]) -> Iterator[Field]:
    config = cls.__struct_config__
    if config.tag is not None:
        yield Field("", config.tag_field or "type", Literal[config.tag], passed=False)
    for field in msgspec.structs.fields(cls):
        default = MISSING if field.default is msgspec.NODEFAULT else field.default
        yield Field(field.name, field.encode_name, hints[field.name], field.required, default)


def _dataclass(cls: Any, hints: dict[str, Any]) -> Iterator[Field]:
    for field in dataclasses.fields(cls):
        if field.init:
            default = MISSING if field.default is dataclasses.MISSING else field.default
            required = default is MISSING and field.default_factory is dataclasses.MISSING
            yield Field(field.name, field.name, hints[field.name], required, default)


def _typed_dict(cls: Any, hints: dict[str, Any]) -> Iterator[Field]:
    for name, hint in hints.items():
        # If the hints are strings, __required_keys__ is not reliable.
        origin = typing.get_origin(hint)
        required = origin is typing.Required or (origin is not typing.NotRequired and name in cls.__required_keys__)
        yield Field(name, name, hint, required)


def _named_tuple(cls: Any, hints: dict[str, Any]) -> Iterator[Field]:
    for name in cls._fields:
        default = cls._field_defaults.get(name, MISSING)
        yield Field(name, name, hints.get(name, Any), default is MISSING, default)
