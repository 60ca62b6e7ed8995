"""Something that can be run for a tool call, wherever it comes from: a Python function, or a server of tools."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, ClassVar, TypeVar

import msgspec

from toolglot.agent.results import ToolError, as_result, error_result
from toolglot.core.messages import Message, ToolCall
from toolglot.core.tools import Tool
from toolglot.errors import CallerError
from toolglot.schema.from_function import FunctionTool, ReadFunction, read_function

__all__ = ["Context", "Runnable", "ToolError", "as_result", "error_result", "runnable"]


class Context(msgspec.Struct, frozen=True):
    """What a tool may know of its call. A parameter hinted so is filled in, and not shown to the model."""

    __toolglot_injected__: ClassVar[bool] = True

    messages: tuple[Message, ...] = ()  # the conversation up to the call
    call: ToolCall | None = None
    state: dict[str, Any] = {}  # shared by the tools of a run, which may change it


T = TypeVar("T")
Work = Callable[[dict[str, Any], Context], Awaitable[Any]]


class Runnable(msgspec.Struct, frozen=True):
    """A tool and how it is run. Times are in seconds; None: no limit of its own, nothing kept."""

    tool: Tool
    run: Work  # gives any value (`as_result` makes it a result); raises where it fails (`error_result`)
    timeout: float | None = None
    cache_for: float | None = None
    source: str = "python"
    notes: tuple[str, ...] = ()  # what could not be read of it


def runnable(thing: Any) -> Runnable:
    """Of a function, method, callable object or partial, decorated with `@tool` or not; a Runnable is itself."""
    if isinstance(thing, Runnable):
        return thing
    if isinstance(thing, FunctionTool):
        options, read = thing.options, thing.read.complete()
        return Runnable(read.tool, _work(read), options.timeout, options.cache_for, notes=read.notes)
    if callable(thing):
        read = read_function(thing).complete()
        return Runnable(read.tool, _work(read), notes=read.notes)
    name = getattr(thing, "name", None) or (thing.get("name") if isinstance(thing, dict) else None) or type(thing).__name__
    raise CallerError(f"{name} is a definition with nothing behind it to run; pass a function", "tools")


def _work(read: ReadFunction) -> Work:
    async def run(arguments: dict[str, Any], context: Context) -> Any:
        bound = read.bind(arguments, context)
        try:
            if read.is_async:
                value = read.function(*bound.args, **bound.kwargs)
            else:
                value = await in_thread(lambda: _whole(read.function(*bound.args, **bound.kwargs)), read.tool.name)
            while inspect.isawaitable(value):  # a wrapper that is async may give what it should have awaited
                value = await value
            if inspect.isasyncgen(value):
                return [item async for item in value]
            return await in_thread(lambda: _whole(value), read.tool.name) if isinstance(value, Iterator) else value
        except SystemExit:
            raise ToolError("the tool tried to end the program") from None

    return run


def _whole(value: Any) -> Any:
    """The values of a generator, a map, a file, made in the thread that runs it: by itself it says nothing."""
    return list(value) if isinstance(value, Iterator) else value


async def in_thread(work: Callable[[], T], name: str) -> T:
    """In a thread of its own, with the caller's context variables.

    A thread can't be ended from outside: one whose caller stopped waiting runs on. So it is none of the event loop's
    pool, which waits for its threads when the program ends.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: Any, error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(value)
        else:
            done.set_exception(error)

    def tell(value: Any, error: BaseException | None) -> None:
        try:
            loop.call_soon_threadsafe(settle, value, error)
        except RuntimeError:  # the loop is closed, and nobody waits any more
            return

    def body() -> None:
        try:
            value = context.run(work)
        except StopIteration as error:  # which no future can hold
            tell(None, RuntimeError(f"StopIteration: {error}"))
        except BaseException as error:  # noqa: BLE001  (whatever a tool does is told to who waits for it)
            tell(None, error)
        else:
            tell(value, None)

    threading.Thread(target=body, name=f"toolglot:{name}", daemon=True).start()
    return await done
