"""Where calls are run: asked for approval one by one, then side by side, each within its time. A tool never breaks a run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, TypeVar

import msgspec

from toolglot.agent.approval import Approve, Denied, allowed
from toolglot.agent.in_time import OutOfTimeError, in_time
from toolglot.agent.loop import RunTools
from toolglot.agent.result_cache import ResultCache
from toolglot.agent.run import ToolRun
from toolglot.agent.runnable import Context, Runnable, as_result, error_result
from toolglot.core.messages import Message, Text, ToolCall, ToolResult
from toolglot.core.tools import Toolset
from toolglot.errors import ToolglotError
from toolglot.text.json_text import shown

PARALLEL = 8
TIMEOUT = 120.0  # seconds, of a tool that names none itself
_HEEDED = 1.0  # seconds for a tool that is cancelled to clean up
T = TypeVar("T")


class Workbench:
    """`tools` by their full names. `state` is shared by the tools of a run, which see it in their Context."""

    def __init__(
        self,
        tools: Mapping[str, Runnable],
        *,
        approve: Approve | None = None,
        parallel: int = PARALLEL,
        timeout: float | None = TIMEOUT,
        cache: ResultCache | None = None,
        state: dict[str, Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.state: dict[str, Any] = {} if state is None else state
        self._approve, self._timeout, self._cache, self._clock = approve, timeout, cache, clock
        self.offer(tools)
        self._asking, self._slots = asyncio.Lock(), asyncio.Semaphore(parallel)

    def offer(self, tools: Mapping[str, Runnable]) -> Toolset:
        """Other tools than before, from now on; as the model is told of them."""
        self._tools, self._known = tools, Toolset(held.tool for held in tools.values())
        return self._known

    async def run_all(self, step: RunTools, until: float | None = None) -> AsyncGenerator[ToolRun]:
        """Each run as it ends. OutOfTimeError at that time of the event loop's clock; who leaves cancels what still runs."""
        tasks = [asyncio.create_task(self.run(call, step.messages)) for call in step.calls]
        try:
            for ended in asyncio.as_completed(tasks):
                yield await in_time(ended, until)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def run(self, call: ToolCall, messages: tuple[Message, ...] = ()) -> ToolRun:
        """One call. What the approval hook raises is the caller's, and goes on; what a tool raises is a result."""
        async with self._asking:  # a person can answer one question at a time, in the order of the calls
            todo = await allowed(self._approve, call, self._known)
        if isinstance(todo, Denied):
            return _failed(call, todo.why)
        async with self._slots:
            return await self._work(call, todo, messages)

    async def _work(self, call: ToolCall, todo: ToolCall, messages: tuple[Message, ...]) -> ToolRun:
        held = self._tools.get(todo.full_name)
        if held is None:
            return _failed(call, f"{todo.full_name} has no code behind it here.")
        if self._cache is None or not held.cache_for:
            return await self._ran(held, call, todo, messages)
        async with self._cache.turn(todo):
            kept = self._cache.get(todo)
            if kept is not None:
                return ToolRun(call, _told(kept, call, todo), cached=True)
            return await self._ran(held, call, todo, messages)

    async def _ran(self, held: Runnable, call: ToolCall, todo: ToolCall, messages: tuple[Message, ...]) -> ToolRun:
        began = self._clock()
        result = await self._result(held, todo, messages)
        if self._cache is not None and held.cache_for:
            self._cache.put(todo, result, held.cache_for)
        error = result.text if result.is_error else None
        return ToolRun(call, _told(result, call, todo), error, seconds=self._clock() - began)

    async def _result(self, held: Runnable, call: ToolCall, messages: tuple[Message, ...]) -> ToolResult:
        """Whatever the tool gives, or does: a value of any kind, an error, or nothing within its time."""
        seconds = self._timeout if held.timeout is None else held.timeout
        failed: BaseException
        try:
            value = await _within(held.run(call.arguments, Context(messages, call, self.state)), seconds)
            return ToolResult(call.id, call.full_name, as_result(value))
        except OutOfTimeError:
            failed = ToolglotError(f"there was no result within {seconds:g} seconds")
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # it is this run that is cancelled, not the tool's own work
                raise
            failed = error
        except (KeyboardInterrupt, GeneratorExit):  # of the program, and of a loop that is torn down
            raise
        except BaseException as error:  # noqa: BLE001  (a tool may raise anything, Rust's panics too; the model is told)
            failed = error
        return ToolResult(call.id, call.full_name, error_result(failed), is_error=True)


async def _within(work: Awaitable[T], seconds: float | None) -> T:
    """OutOfTimeError after so many. Work that does not heed its cancellation is left to itself: nobody waits for it."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task}, timeout=seconds)
        if not task.done():
            raise OutOfTimeError
        return task.result()
    finally:
        if not task.done():
            task.add_done_callback(_no_matter)
            task.cancel()
            await asyncio.wait({task}, timeout=_HEEDED)


def _no_matter(task: asyncio.Future[Any]) -> None:
    """How it ended at last: looked at, so that nobody is told that nobody looked."""
    if not task.cancelled():
        task.exception()


def _failed(call: ToolCall, why: str) -> ToolRun:
    return ToolRun(call, ToolResult(call.id, call.full_name, (Text(why),), is_error=True), why)


def _told(result: ToolResult, call: ToolCall, done: ToolCall) -> ToolResult:
    """Where another call was run than the model made, it is told, or it would draw wrong conclusions."""
    if (done.full_name, done.arguments_json) == (call.full_name, call.arguments_json):
        return result
    told = f"Instead of this call, {done.full_name} was run with {shown(done.arguments_json, 500)}.\n"
    first, *rest = result.parts or (Text(""),)
    parts = [Text(told + first.text), *rest] if isinstance(first, Text) else [Text(told), first, *rest]
    return msgspec.structs.replace(result, call_id=call.id, name=call.full_name, parts=tuple(parts))
