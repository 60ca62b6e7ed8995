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
    key: str  # as JSON has it
    hint: Any
    required: bool = True
    default: Any = MISSING
    description: str | None = None
    told: bool = True  # False: a tag, which is checked but not handed to the class


_KEPT: WeakKeyDictionary[type, list[Field]] = WeakKeyDictionary()


def fields_of(held: type, given: tuple[Any, ...] = ()) -> list[Field]:
    """Read once: when a call comes, names that the hints were resolved with may be gone. `given`: the `int` of `Box[int]`."""
    found = _KEPT.get(held)
    if found is None:
        found = _KEPT[held] = _read(held)
    known = dict(zip(getattr(held, "__parameters__", ()), given, strict=False))
    return [msgspec.structs.replace(field, hint=_filled(field.hint, known)) for field in found] if known else found


def _filled(hint: Any, known: dict[Any, Any]) -> Any:
    """With what was given in the place of type variables."""
    if isinstance(hint, typing.TypeVar):
        return known.get(hint, hint)
    wanted = getattr(hint, "__parameters__", ()) if typing.get_origin(hint) is not None else ()
    return hint[tuple(known.get(each, each) for each in wanted)] if wanted else hint


def _read(held: type) -> list[Field]:
    hints = hints_of(held)
    if issubclass(held, msgspec.Struct):
        found = list(_struct(held, hints))
    elif dataclasses.is_dataclass(held):
        found = list(_dataclass(held, hints))
    elif is_typed_dict(held):
        found = list(_typed_dict(held, hints))
    else:
        found = list(_named_tuple(held, hints))
    about = read_docstring(own_doc(held)).parameters
    return [msgspec.structs.replace(field, description=about.get(field.name)) for field in found]


def own_doc(held: type) -> str | None:
    """What the author wrote, not what the library put there: dataclasses and NamedTuples write their signature."""
    doc = held.__dict__.get("__doc__")
    if not doc or doc.startswith(f"{held.__name__}("):
        return None
    return inspect.cleandoc(doc)


def _struct(held: type[msgspec.Struct], hints: dict[str, Any]) -> Iterator[Field]:
    config = held.__struct_config__
    if config.tag is not None:
        yield Field("", config.tag_field or "type", Literal[config.tag], told=False)
    for field in msgspec.structs.fields(held):
        default = MISSING if field.default is msgspec.NODEFAULT else field.default
        yield Field(field.name, field.encode_name, hints[field.name], field.required, default)


def _dataclass(held: Any, hints: dict[str, Any]) -> Iterator[Field]:
    for field in dataclasses.fields(held):
        if field.init:
            default = MISSING if field.default is dataclasses.MISSING else field.default
            required = default is MISSING and field.default_factory is dataclasses.MISSING
            yield Field(field.name, field.name, hints[field.name], required, default)


def _typed_dict(held: Any, hints: dict[str, Any]) -> Iterator[Field]:
    for name, hint in hints.items():
        # Where hints are strings, the class itself could not tell what is required.
        told = typing.get_origin(hint)
        required = told is typing.Required or (told is not typing.NotRequired and name in held.__required_keys__)
        yield Field(name, name, hint, required)


def _named_tuple(held: Any, hints: dict[str, Any]) -> Iterator[Field]:
    for name in held._fields:
        default = held._field_defaults.get(name, MISSING)
        yield Field(name, name, hints.get(name, Any), default is MISSING, default)
