"""Executes the steps of the loop: asks the model, runs tools in parallel, records each step.

When the stream is closed or the task cancelled, running tools are cancelled and the upstream connection is closed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, Literal

from msgspec.structs import replace

from toolglot.agent.loop import AskModel, Done, Interrupted, Loop, RunTools, Step, StepResult
from toolglot.agent.record import Entry, ModelReplied, Record, RunEnded, RunInterrupted, RunStarted, ToolsRan
from toolglot.agent.results import without_secrets
from toolglot.agent.run import Run, ToolRun
from toolglot.agent.runnable import Runnable
from toolglot.agent.structured_output import OutputType
from toolglot.agent.timeouts import DeadlineError, with_deadline
from toolglot.agent.tool_runner import ToolRunner
from toolglot.core.events import Event, Fault
from toolglot.core.fold import fold
from toolglot.core.log import log
from toolglot.core.reply import Decision, Reply
from toolglot.core.request import Request
from toolglot.core.tools import Toolset
from toolglot.errors import ArgumentsError, CallerError, ToolglotError, UpstreamError
from toolglot.pipeline.request.retry_feedback import rejections

Ask = Callable[[Request], AsyncGenerator[Event]]


class Driver:
    """Drives one Loop. `ask` is a client's stream. `current_tools` is called after tools ran: servers may change them."""

    def __init__(
        self,
        loop: Loop,
        ask: Ask,
        runner: ToolRunner,
        *,
        record: Record | None = None,
        current_tools: Callable[[], Awaitable[Mapping[str, Runnable]]] | None = None,
        output: OutputType | None = None,
        clock: Callable[[], float] = time.monotonic,
        time_of_day: Callable[[], float] = time.time,
    ) -> None:
        self.run: Run[Any] | None = None  # set at the end
        self._loop, self._ask, self._runner, self._record = loop, ask, runner, record
        self._output, self._value = output, None
        self._current_tools, self._clock, self._time_of_day = current_tools, clock, time_of_day
        self._deadline: float | None = None
        self._result: StepResult = None
        # of the current step
        self._events: list[Event] = []
        self._tool_runs: list[ToolRun] = []
        self._new_tools: Toolset | None = None
        self._step_start = 0.0

    async def events(self) -> AsyncGenerator[Event | ToolRun]:
        """All events. If the first request fails, its error is raised."""
        limit = self._loop.limits.seconds
        self._since = self._clock()
        self._deadline = None if limit is None else self._since + limit
        try:
            step = self._advance()
            while not isinstance(step, Done):
                async with aclosing(self._execute(step)) as events:
                    async for event in events:
                        yield event
                step = self._advance()
        except BaseException as error:
            self._interrupt(error)
            raise

    def _execute(self, step: AskModel | RunTools) -> AsyncGenerator[Event | ToolRun]:
        return self._ask_model(step) if isinstance(step, AskModel) else self._run_tools(step)

    def _advance(self) -> Step:
        """Pass the result to the loop, record it, and return the next step."""
        now = self._clock()
        entry = self._entry(now)
        step = self._loop.next(self._result, now=now)
        self._add(entry)
        self._step_start, self._events, self._tool_runs, self._new_tools = now, [], [], None
        if isinstance(step, Done):
            self.run = run = replace(step.run, value=self._value) if step.run.ok else step.run
            at = self._time_of_day()
            self._add(RunEnded(run.id, at, now, run.end, run.why, run.text, run.turns, run.calls, run.decisions))
        return step

    def _entry(self, now: float) -> Entry:
        run, at, result = self._loop.id, self._time_of_day(), self._result
        if result is None:
            return RunStarted(run, at, now, self._loop.request, self._loop.limits, self._loop.typed_output)
        if isinstance(result, Reply):
            return ModelReplied(run, at, now, result, now - self._step_start)
        if isinstance(result, Interrupted):
            return RunInterrupted(run, at, now, result, tuple(self._tool_runs))
        return ToolsRan(run, at, now, tuple(self._tool_runs), self._new_tools)

    def _add(self, entry: Entry) -> None:
        """Raises if the first entry can't be written. A later failure, such as a full disk, only logs: the run goes on."""
        if self._record is None:
            return
        record, self._record = self._record, None  # not used again after a failure
        try:
            record.add(entry)
            self._record = record
        except CallerError as error:
            if isinstance(entry, RunStarted):
                raise
            log.warning("the record of run %s is incomplete: %s", entry.run, error)

    def _interrupt(self, error: BaseException) -> None:
        """End the loop after an error or a cancellation, so that there is a Run and a complete record."""
        if self.run is not None:  # already ended
            return
        if not isinstance(self._result, Interrupted):
            raised = isinstance(error, Exception)  # usually by a hook
            why = f"the program raised {type(error).__name__}" if raised else "the run was cancelled"
            self._result = self._interruption("stopped", why)
        self._advance()

    def _interruption(self, end: Literal["stopped", "time"], why: str) -> Interrupted:
        """Includes the partial reply and the finished tool runs."""
        reply = fold(self._events) if self._events else None
        return Interrupted(end, why, results=tuple(run.result for run in self._tool_runs), reply=reply)

    # -- the model

    async def _ask_model(self, step: AskModel) -> AsyncGenerator[Event]:
        try:
            async with aclosing(self._ask(step.request)) as events:
                while (event := await with_deadline(anext(events, None), self._until())) is not None:
                    self._events.append(event)
                    yield event
        except DeadlineError:
            self._result = self._timed_out()
        except UpstreamError as error:
            clean = _without_secrets(error)
            self._result = Interrupted("failed", f"the request to the model failed: {clean.message}", clean)
            if step.turn == 1:
                raise
            yield Fault(error)
        else:
            reply = fold(self._events)
            self._result = self._checked(reply if reply.error is None else replace(reply, error=_without_secrets(reply.error)))

    def _checked(self, reply: Reply) -> Reply:
        """An answer that does not fit the output type gets a decision, which is recorded: the type may be gone at a replay."""
        if self._output is None or reply.calls or rejections(reply):
            return reply
        try:
            self._value = self._output.read(reply.text)
        except ArgumentsError as error:
            return replace(reply, decisions=(*reply.decisions, Decision("invalid_output", str(error))))
        return reply

    def _until(self) -> float | None:
        """The deadline in the event loop's time."""
        if self._deadline is None:
            return None
        return asyncio.get_running_loop().time() + self._deadline - self._clock()

    def _timed_out(self) -> Interrupted:
        return self._interruption("time", f"the limit of {self._loop.limits.seconds:g} seconds is reached")

    # -- the tools

    async def _run_tools(self, step: RunTools) -> AsyncGenerator[ToolRun]:
        """Yields each tool run as it ends."""
        try:
            async with aclosing(self._runner.run_all(step, self._until())) as runs:
                async for run in runs:
                    self._tool_runs.append(run)
                    yield run
            await with_deadline(self._update_tools(), self._until())
        except DeadlineError:
            self._result = self._timed_out()
        else:
            order = {call.id: at for at, call in enumerate(step.calls)}
            self._tool_runs.sort(key=lambda run: order[run.call.id])
            self._result = [run.result for run in self._tool_runs]

    async def _update_tools(self) -> None:
        """A server may change its tools during a call; the next request has the new list."""
        if self._current_tools is None:
            return
        try:
            found = await self._current_tools()
        except ToolglotError as error:  # for example two with the same name
            log.warning("the changed tools can't be used; keeping the previous ones: %s", error)
            return
        if [one.tool for one in found.values()] != list(self._loop.request.tools):
            self._new_tools = self._runner.set_tools(found)
            self._loop.set_tools(self._new_tools)


def _without_secrets(error: UpstreamError) -> UpstreamError:
    """Some providers repeat the API key in an error; it must not get into a run or its record."""
    message = without_secrets(error.message)
    return UpstreamError(message, error.status, error.code, error.retry_after, error.should_retry)
