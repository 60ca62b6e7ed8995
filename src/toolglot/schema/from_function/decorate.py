"""`@tool`: a typed function becomes a Tool that can still be called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Generic, ParamSpec, TypeVar, overload

import msgspec
from msgspec.structs import force_setattr

from toolglot.core.tools import Tool
from toolglot.schema.checked_fields import check_fields
from toolglot.schema.from_function.signature import ReadFunction, read_function

P = ParamSpec("P")
R = TypeVar("R")

_FUNCTION_ATTRIBUTES = ("__module__", "__name__", "__qualname__", "__doc__")


class Options(msgspec.Struct, frozen=True):
    """The options of a tool. Times are in seconds."""

    name: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    description: str | None = None
    timeout: Annotated[float, msgspec.Meta(gt=0)] | None = None
    cache_for: Annotated[float, msgspec.Meta(ge=0)] | None = None
    strict: bool | None = None


class FunctionTool(Tool, Generic[P, R], frozen=True, dict=True):
    """A tool with its function. Everything except a Tool's fields is in `__dict__`, so that it encodes as a Tool."""

    @property
    def read(self) -> ReadFunction:
        """The signature, which binds a call's arguments."""
        return self.__dict__["_read"]  # type: ignore[no-any-return]

    @property
    def options(self) -> Options:
        return self.__dict__["_options"]  # type: ignore[no-any-return]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.read.function(*args, **kwargs)  # type: ignore[no-any-return]

    def __get__(self, instance: Any, owner: Any = None) -> FunctionTool[..., R]:
        """On an instance, the tool of the bound method."""
        bind = getattr(self.read.function, "__get__", None)
        return self if instance is None or bind is None else _function_tool(bind(instance, owner), self.options)


def _function_tool(function: Callable[..., Any], options: Options) -> FunctionTool[..., Any]:
    read = read_function(function, name=options.name, description=options.description, strict=options.strict)
    tool: FunctionTool[..., Any] = FunctionTool(read.tool.name, read.tool.description, read.tool.schema, read.tool.strict)
    attributes = {"_read": read, "_options": options, "__wrapped__": function}
    attributes |= {name: getattr(function, name) for name in _FUNCTION_ATTRIBUTES if hasattr(function, name)}
    for name, value in attributes.items():
        force_setattr(tool, name, value)
    return tool


@overload
def tool(function: Callable[P, R], /) -> FunctionTool[P, R]: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    timeout: float | None = None,
    cache_for: float | None = None,
    strict: bool | None = None,
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    timeout: float | None = None,
    cache_for: float | None = None,
    strict: bool | None = None,
) -> Any:
    """Makes a typed function a tool. Options override or add to what the function declares.

    `timeout` and `cache_for` are seconds. The function stays callable; the model does not see a parameter hinted `Context`.

    Examples:
        >>> @tool
        ... def add(a: int, b: int = 0) -> int:
        ...     "Add two numbers."
        ...     return a + b
        >>> add.schema["required"], add(2, 3)
        (['a'], 5)
    """
    options = Options(name, description, timeout, cache_for, strict)
    check_fields(options, "tool")
    if function is None:
        return lambda target: _function_tool(target, options)
    return _function_tool(function, options)
