"""`Runnable`: a tool and the code that runs it, from a Python function or an MCP server."""

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
    """Information about the call. A parameter with this type hint is filled in, and not shown to the model."""

    __toolglot_injected__: ClassVar[bool] = True

    messages: tuple[Message, ...] = ()  # the conversation up to the call
    call: ToolCall | None = None
    state: dict[str, Any] = {}  # shared by the tools of a run; they may change it


T = TypeVar("T")
Work = Callable[[dict[str, Any], Context], Awaitable[Any]]


class Runnable(msgspec.Struct, frozen=True):
    """Times are in seconds. `timeout` None: the default; `cache_for` None: results are not cached."""

    tool: Tool
    run: Work  # returns any value (see `as_result`) or raises (see `error_result`)
    timeout: float | None = None
    cache_for: float | None = None
    source: str = "python"
    notes: tuple[str, ...] = ()  # problems found while reading the function


def runnable(thing: Any) -> Runnable:
    """From a function, method, callable object or partial, with or without `@tool`. A Runnable is returned unchanged."""
    if isinstance(thing, Runnable):
        return thing
    if isinstance(thing, FunctionTool):
        options, read = thing.options, thing.read.complete()
        return Runnable(read.tool, _work(read), options.timeout, options.cache_for, notes=read.notes)
    if callable(thing):
        read = read_function(thing).complete()
        return Runnable(read.tool, _work(read), notes=read.notes)
    name = getattr(thing, "name", None) or (thing.get("name") if isinstance(thing, dict) else None) or type(thing).__name__
    raise CallerError(f"{name} is only a definition and can't be run; pass a function", "tools")


def _work(read: ReadFunction) -> Work:
    async def run(arguments: dict[str, Any], context: Context) -> Any:
        bound = read.bind(arguments, context)
        try:
            if read.is_async:
                value = read.function(*bound.args, **bound.kwargs)
            else:
                value = await in_thread(lambda: _collect(read.function(*bound.args, **bound.kwargs)), read.tool.name)
            while inspect.isawaitable(value):  # an async wrapper may return a value that it did not await
                value = await value
            if inspect.isasyncgen(value):
                return [item async for item in value]
            return await in_thread(lambda: _collect(value), read.tool.name) if isinstance(value, Iterator) else value
        except SystemExit:
            raise ToolError("the tool tried to end the program") from None

    return run


def _collect(value: Any) -> Any:
    """The items of a generator, map or file as a list. Runs in the tool's thread."""
    return list(value) if isinstance(value, Iterator) else value


async def in_thread(work: Callable[[], T], name: str) -> T:
    """Run in a new daemon thread, with the caller's context variables.

    A thread can't be stopped from outside, so it may outlive its caller. It is not in the event loop's pool, because the
    program waits for the pool's threads at exit.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def set_outcome(value: Any, error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(value)
        else:
            done.set_exception(error)

    def deliver(value: Any, error: BaseException | None) -> None:
        try:
            loop.call_soon_threadsafe(set_outcome, value, error)
        except RuntimeError:  # the loop is closed
            return

    def body() -> None:
        try:
            value = context.run(work)
        except StopIteration as error:  # a future can't raise it
            deliver(None, RuntimeError(f"StopIteration: {error}"))
        except BaseException as error:  # noqa: BLE001  (raised again in the task that waits)
            deliver(None, error)
        else:
            deliver(value, None)

    threading.Thread(target=body, name=f"toolglot:{name}", daemon=True).start()
    return await done
