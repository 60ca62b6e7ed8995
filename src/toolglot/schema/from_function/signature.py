"""Reads a function, method, callable object or partial as a tool, and binds a call's arguments to its parameters."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any

import msgspec

from toolglot.core.tools import Tool
from toolglot.errors import CallerError
from toolglot.schema.from_function.constraints import Schema
from toolglot.schema.from_function.docstrings import read_docstring
from toolglot.schema.from_function.fields import MISSING, Field, fields_of
from toolglot.schema.from_function.hints import Schemas
from toolglot.schema.from_function.names import hints_of
from toolglot.schema.from_function.shapes import is_injected
from toolglot.schema.from_function.values import read_fields, read_value

_EMPTY = inspect.Parameter.empty
_MANY = inspect.Parameter.VAR_POSITIONAL
_REST = inspect.Parameter.VAR_KEYWORD


class ReadFunction(msgspec.Struct, frozen=True):
    """A function as a tool: the definition for the model, and how to bind a call's arguments."""

    tool: Tool
    function: Callable[..., Any]
    signature: inspect.Signature
    fields: list[Field]
    many: str | None = None  # the name of *args, which the model sees as a list
    rest: Field | None = None  # **kwargs: arguments without a parameter
    packed: tuple[str, frozenset[str]] = ("", frozenset())  # the name of `**kwargs: Unpack[...]`, and those of its fields
    injected: tuple[str, ...] = ()  # the parameters that take the context
    notes: tuple[str, ...] = ()
    is_async: bool = False  # a coroutine function or an async generator: call it on the event loop

    def complete(self) -> ReadFunction:
        """Returns self. A CallerError for an unbound method, because a model can't pass an instance."""
        outer, _, name = getattr(self.function, "__qualname__", "").rpartition("<locals>.")[2].rpartition(".")
        first = next(iter(self.signature.parameters.values()), None)
        if outer and inspect.isfunction(self.function) and first is not None and first.name == "self":
            raise CallerError(f"it is an unbound method; pass the method of an instance, as in {outer}(...).{name}", name)
        return self

    def bind(self, arguments: dict[str, Any], context: Any = None) -> inspect.BoundArguments:
        """Converts the arguments by the hints; an ArgumentsError if they are invalid."""
        known_arguments = arguments
        bound = self.signature.bind_partial()
        if self.rest is not None:
            known = {field.key for field in self.fields}
            known_arguments = {name: value for name, value in arguments.items() if name in known}
            extra = {name: read_value(value, self.rest.hint, name) for name, value in arguments.items() if name not in known}
            bound.arguments[self.rest.name] = extra
        values = read_fields(known_arguments, self.fields, "")
        into, names = self.packed
        if into:
            bound.arguments[into] = {name: values.pop(name) for name in names & values.keys()}
        bound.arguments.update(values)
        bound.arguments.update(dict.fromkeys(self.injected, context))
        bound.apply_defaults()
        if self.many is not None:
            bound.arguments[self.many] = tuple(bound.arguments[self.many])
        for name, value in bound.arguments.items():
            if _is_pydantic_field(value):
                bound.arguments[name] = value.get_default(call_default_factory=True)
        return bound


def read_function(
    function: Callable[..., Any], *, name: str | None = None, description: str | None = None, strict: bool | None = None
) -> ReadFunction:
    """Reads a callable as a tool. A CallerError if it can't be one."""
    name = name or _name(function)
    if isinstance(function, type):
        raise CallerError(f"{name} is a class; a tool is a function, a method or an object with __call__")
    if isinstance(function, classmethod):
        raise CallerError(f"{name} is a classmethod: put @tool below @classmethod, next to the function")
    try:
        return _read(function, name, description, strict)
    except CallerError as error:
        raise CallerError(error.problem, f"{name}({error.where})" if error.where else name) from None


def _read(function: Callable[..., Any], name: str, description: str | None, strict: bool | None) -> ReadFunction:
    inner = _underlying(function)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        raise CallerError("its parameters can't be read; wrap it in a function with type hints") from None
    hints = hints_of(inner)
    doc = read_docstring(_doc(function, inner))
    fixed = function.keywords if isinstance(function, functools.partial) else {}
    fields: list[Field] = []
    injected: list[str] = []
    notes: list[str] = []
    many: str | None = None
    rest: Field | None = None
    packed: tuple[str, frozenset[str]] = ("", frozenset())
    for parameter in signature.parameters.values():
        if parameter.name in fixed:
            continue
        hint = hints.get(parameter.name, _EMPTY)
        if is_injected(hint):
            injected.append(parameter.name)
            continue
        if typing.get_origin(hint) is typing.Unpack and parameter.kind is _REST:
            inner_fields = [_described(field, doc.parameters.get(field.name)) for field in fields_of(typing.get_args(hint)[0])]
            packed = parameter.name, frozenset(field.name for field in inner_fields)
            fields += inner_fields
            continue
        if hint is _EMPTY:
            notes.append(f"{name}({parameter.name}): no type hint; any value is accepted")
        field = _field(parameter, Any if hint is _EMPTY else hint, doc.parameters.get(parameter.name))
        if parameter.kind is _REST:
            rest = field
        else:
            fields.append(field)
            many = parameter.name if parameter.kind is _MANY else many
    description = description or doc.description
    if description is None:
        notes.append(f"{name}: no docstring; the model sees the name and the parameters alone")
    tool = Tool(name, description, _schema(fields, rest), strict)
    is_async = _is_async(function)
    return ReadFunction(tool, function, signature, fields, many, rest, packed, tuple(injected), tuple(notes), is_async)


def _described(field: Field, description: str | None) -> Field:
    return msgspec.structs.replace(field, description=description) if description else field


def _field(parameter: inspect.Parameter, hint: Any, description: str | None) -> Field:
    if parameter.kind is _MANY:
        return Field(parameter.name, parameter.name, list[hint], False, MISSING, description)
    default = MISSING if parameter.default is _EMPTY else parameter.default
    if _is_pydantic_field(default):  # `x: int = Field(3, gt=0)`: the metadata includes the default
        hint = typing.Annotated[hint, default]
        return Field(parameter.name, parameter.name, hint, default.is_required(), MISSING, description)
    return Field(parameter.name, parameter.name, hint, default is MISSING, default, description)


def _schema(fields: list[Field], rest: Field | None) -> Schema:
    schemas = Schemas()
    schema = schemas.of_fields(fields)
    if rest is not None:
        schema["additionalProperties"] = schemas.of_field(rest) or True
    if schemas.definitions:
        schema["$defs"] = schemas.definitions
    return schema


def _is_pydantic_field(value: Any) -> bool:
    return type(value).__name__ == "FieldInfo" and type(value).__module__.startswith("pydantic.")


def _underlying(function: Any) -> Any:
    """The plain function with the hints."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    if not inspect.isroutine(function):
        function = type(function).__call__
    return inspect.unwrap(getattr(function, "__func__", function))


def _is_async(function: Any) -> bool:
    """Whether the callable itself is async; a function that it wraps may differ."""
    called = function if inspect.isroutine(function) or isinstance(function, functools.partial) else type(function).__call__
    return inspect.iscoroutinefunction(called) or inspect.isasyncgenfunction(called)


def _doc(function: Any, inner: Any) -> str | None:
    """The docstring of the function, or of a callable object's class."""
    doc = inner.__doc__ or (None if inspect.isroutine(function) else type(function).__doc__)
    return None if isinstance(function, functools.partial) and doc == functools.partial.__doc__ else doc


def _name(function: Any) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    name: str = getattr(function, "__name__", None) or type(function).__name__
    if name == "<lambda>":
        raise CallerError("a lambda has no name; define a function, or use tool(name=...)")
    return name
