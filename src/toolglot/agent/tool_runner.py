"""Runs tool calls: asks for approval one by one, then runs them in parallel with timeouts. A tool error never stops a run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, TypeVar

import msgspec

from toolglot.agent.approval import Approve, Denied, check_approval
from toolglot.agent.loop import RunTools
from toolglot.agent.result_cache import ResultCache
from toolglot.agent.run import ToolRun
from toolglot.agent.runnable import Context, Runnable, as_result, error_result
from toolglot.agent.timeouts import DeadlineError, with_deadline
from toolglot.core.messages import Message, Text, ToolCall, ToolResult
from toolglot.core.tools import Toolset
from toolglot.errors import ToolglotError
from toolglot.io.json_codec import preview

PARALLEL = 8
TIMEOUT = 120.0  # seconds, for a tool without its own timeout
_CANCEL_TIMEOUT = 1.0  # seconds for a cancelled tool to clean up
T = TypeVar("T")


class ToolRunner:
    """`tools` by their full names. `state` is shared by the tools of a run, through their Context."""

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
        self.set_tools(tools)
        self._approving, self._slots = asyncio.Lock(), asyncio.Semaphore(parallel)

    def set_tools(self, tools: Mapping[str, Runnable]) -> Toolset:
        """Replace the tools. Returns them as a toolset for the request."""
        self._tools, self._toolset = tools, Toolset(one.tool for one in tools.values())
        return self._toolset

    async def run_all(self, step: RunTools, until: float | None = None) -> AsyncGenerator[ToolRun]:
        """Yields each run as it ends. DeadlineError at `until` (event loop time). Closing it cancels the tools."""
        tasks = [asyncio.create_task(self.run(call, step.messages)) for call in step.calls]
        try:
            for finished in asyncio.as_completed(tasks):
                yield await with_deadline(finished, until)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def run(self, call: ToolCall, messages: tuple[Message, ...] = ()) -> ToolRun:
        """Run one call. An error of the approval hook is raised; an error of the tool becomes its result."""
        async with self._approving:  # one question at a time, in the order of the calls
            approved = await check_approval(self._approve, call, self._toolset)
        if isinstance(approved, Denied):
            return _failed(call, approved.why)
        async with self._slots:
            return await self._run_cached(call, approved, messages)

    async def _run_cached(self, call: ToolCall, approved: ToolCall, messages: tuple[Message, ...]) -> ToolRun:
        tool = self._tools.get(approved.full_name)
        if tool is None:
            return _failed(call, f"{approved.full_name} can't be run here.")
        if self._cache is None or not tool.cache_for:
            return await self._run(tool, call, approved, messages)
        async with self._cache.lock_for(approved):
            cached = self._cache.get(approved)
            if cached is not None:
                return ToolRun(call, _with_replacement(cached, call, approved), cached=True)
            return await self._run(tool, call, approved, messages)

    async def _run(self, tool: Runnable, call: ToolCall, approved: ToolCall, messages: tuple[Message, ...]) -> ToolRun:
        start = self._clock()
        result = await self._result(tool, approved, messages)
        if self._cache is not None and tool.cache_for:
            self._cache.put(approved, result, tool.cache_for)
        error = result.text if result.is_error else None
        return ToolRun(call, _with_replacement(result, call, approved), error, seconds=self._clock() - start)

    async def _result(self, tool: Runnable, call: ToolCall, messages: tuple[Message, ...]) -> ToolResult:
        """The tool's value, or an error result if it raises or times out."""
        seconds = self._timeout if tool.timeout is None else tool.timeout
        failure: BaseException
        try:
            value = await _with_timeout(tool.run(call.arguments, Context(messages, call, self.state)), seconds)
            return ToolResult(call.id, call.full_name, as_result(value))
        except DeadlineError:
            failure = ToolglotError(f"there was no result within {seconds:g} seconds")
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # the run is cancelled, not something inside the tool
                raise
            failure = error
        except (KeyboardInterrupt, GeneratorExit):  # the program or the event loop is stopping
            raise
        except BaseException as error:  # noqa: BLE001  (a tool may raise anything, also Rust panics)
            failure = error
        return ToolResult(call.id, call.full_name, error_result(failure), is_error=True)


async def _with_timeout(work: Awaitable[T], seconds: float | None) -> T:
    """DeadlineError after the timeout. Work that ignores its cancellation is left running."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task}, timeout=seconds)
        if not task.done():
            raise DeadlineError
        return task.result()
    finally:
        if not task.done():
            task.add_done_callback(_ignore_outcome)
            task.cancel()
            await asyncio.wait({task}, timeout=_CANCEL_TIMEOUT)


def _ignore_outcome(task: asyncio.Future[Any]) -> None:
    """Fetches the exception, because asyncio logs exceptions that were never fetched."""
    if not task.cancelled():
        task.exception()


def _failed(call: ToolCall, why: str) -> ToolRun:
    return ToolRun(call, ToolResult(call.id, call.full_name, (Text(why),), is_error=True), why)


def _with_replacement(result: ToolResult, call: ToolCall, approved: ToolCall) -> ToolResult:
    """If the approval hook replaced the call, the result says so: otherwise the model would draw wrong conclusions."""
    if (approved.full_name, approved.arguments_json) == (call.full_name, call.arguments_json):
        return result
    note = f"Instead of this call, {approved.full_name} was run with {preview(approved.arguments_json, 500)}.\n"
    first, *rest = result.parts or (Text(""),)
    parts = [Text(note + first.text), *rest] if isinstance(first, Text) else [Text(note), first, *rest]
    return msgspec.structs.replace(result, call_id=call.id, name=call.full_name, parts=tuple(parts))
