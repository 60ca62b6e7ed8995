"""What the loop asks for, done: the model asked, tools run side by side, each step put on record.

Whoever leaves early (a cancelled task, a closed stream) takes everything along: tools are cancelled, the upstream is closed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Literal

from msgspec.structs import replace

from toolglot.agent.in_time import OutOfTimeError, in_time
from toolglot.agent.loop import AskModel, Done, Interrupted, Loop, RunTools, Seen, Step
from toolglot.agent.record import Begun, Broke, Ended, Entry, Ran, Record, Replied
from toolglot.agent.results import without_secrets
from toolglot.agent.run import Run, ToolRun
from toolglot.agent.runnable import Runnable
from toolglot.agent.workbench import Workbench
from toolglot.core.events import Event, Fault
from toolglot.core.fold import fold
from toolglot.core.reply import Reply
from toolglot.core.request import Request
from toolglot.core.tools import Toolset
from toolglot.errors import CallerError, ToolglotError, UpstreamError

log = logging.getLogger("toolglot")

Ask = Callable[[Request], AsyncGenerator[Event]]


class Driver:
    """Drives one Loop. `ask` is a client's stream; the workbench runs the tools; `offered` are those that there are by now."""

    def __init__(
        self,
        loop: Loop,
        ask: Ask,
        bench: Workbench,
        *,
        record: Record | None = None,
        offered: Callable[[], Awaitable[Mapping[str, Runnable]]] | None = None,
        clock: Callable[[], float] = time.monotonic,
        time_of_day: Callable[[], float] = time.time,
    ) -> None:
        self.run: Run | None = None  # once it is over
        self._loop, self._ask, self._bench, self._record = loop, ask, bench, record
        self._offered, self._clock, self._time_of_day = offered, clock, time_of_day
        self._deadline: float | None = None
        self._seen: Seen = None
        self._said: list[Event] = []  # in the step that is under way
        self._ran: list[ToolRun] = []
        self._new_tools: Toolset | None = None  # since it began
        self._since = 0.0  # when that step began

    async def events(self) -> AsyncGenerator[Event | ToolRun]:
        """Everything as it happens. What the provider refuses before it has said a word is raised, if nothing was done yet."""
        limit = self._loop.limits.seconds
        self._since = self._clock()
        self._deadline = None if limit is None else self._since + limit
        try:
            step = self._advance()
            while not isinstance(step, Done):
                async with aclosing(self._doing(step)) as told:
                    async for event in told:
                        yield event
                step = self._advance()
        except BaseException as error:
            self._break_off(error)
            raise

    def _doing(self, step: AskModel | RunTools) -> AsyncGenerator[Event | ToolRun]:
        return self._asked(step) if isinstance(step, AskModel) else self._worked(step)

    def _advance(self) -> Step:
        """One step of the loop, and its entry in the record."""
        now = self._clock()
        entry = self._entry(now)
        step = self._loop.next(self._seen, now=now)
        self._note(entry)
        self._since, self._said, self._ran, self._new_tools = now, [], [], None
        if isinstance(step, Done):
            self.run = run = step.run
            at = self._time_of_day()
            self._note(Ended(run.id, at, now, run.end, run.why, run.text, run.turns, run.calls, run.decisions))
        return step

    def _entry(self, now: float) -> Entry:
        run, at, seen = self._loop.id, self._time_of_day(), self._seen
        if seen is None:
            return Begun(run, at, now, self._loop.request, self._loop.limits)
        if isinstance(seen, Reply):
            return Replied(run, at, now, seen, now - self._since)
        if isinstance(seen, Interrupted):
            return Broke(run, at, now, seen, tuple(self._ran))
        return Ran(run, at, now, tuple(self._ran), self._new_tools)

    def _note(self, entry: Entry) -> None:
        """A record that can't be begun is told at once; one that breaks off later, by a full disk, costs no run its result."""
        if self._record is None:
            return
        record, self._record = self._record, None  # one that failed is tried no more
        try:
            record.add(entry)
            self._record = record
        except CallerError as error:
            if isinstance(entry, Begun):
                raise
            log.warning("the record of run %s breaks off: %s", entry.run, error)

    def _break_off(self, error: BaseException) -> None:
        """An error or a cancellation: the loop ends too, so that there is a Run, and a record of it."""
        if self.run is not None:  # it was over
            return
        if not isinstance(self._seen, Interrupted):
            own = isinstance(error, Exception)  # of a hook, mostly
            why = f"the program raised {type(error).__name__}" if own else "the run was cancelled"
            self._seen = self._broken("stopped", why)
        self._advance()

    def _broken(self, end: Literal["stopped", "time"], why: str) -> Interrupted:
        """With what was said and done until then."""
        reply = fold(self._said) if self._said else None
        return Interrupted(end, why, results=tuple(run.result for run in self._ran), reply=reply)

    # -- the model

    async def _asked(self, step: AskModel) -> AsyncGenerator[Event]:
        try:
            async with aclosing(self._ask(step.request)) as told:
                while (event := await in_time(anext(told, None), self._until())) is not None:
                    self._said.append(event)
                    yield event
        except OutOfTimeError:
            self._seen = self._late()
        except UpstreamError as error:
            clean = _without_secrets(error)
            self._seen = Interrupted("failed", f"the model could not be asked: {clean.message}", clean)
            if step.turn == 1:
                raise
            yield Fault(error)
        else:
            reply = fold(self._said)
            self._seen = reply if reply.error is None else replace(reply, error=_without_secrets(reply.error))

    def _until(self) -> float | None:
        """The deadline by the event loop's clock."""
        if self._deadline is None:
            return None
        return asyncio.get_running_loop().time() + self._deadline - self._clock()

    def _late(self) -> Interrupted:
        return self._broken("time", f"{self._loop.limits.seconds:g} seconds are over")

    # -- the tools

    async def _worked(self, step: RunTools) -> AsyncGenerator[ToolRun]:
        """Each as it ends."""
        try:
            async with aclosing(self._bench.run_all(step, self._until())) as told:
                async for run in told:
                    self._ran.append(run)
                    yield run
            await in_time(self._look_again(), self._until())
        except OutOfTimeError:
            self._seen = self._late()
        else:
            order = {call.id: at for at, call in enumerate(step.calls)}
            self._ran.sort(key=lambda run: order[run.call.id])
            self._seen = [run.result for run in self._ran]

    async def _look_again(self) -> None:
        """A server may offer other tools after a call than before it, and says so: the model is to know."""
        if self._offered is None:
            return
        try:
            found = await self._offered()
        except ToolglotError as error:  # two of one name: those of before are still there
            log.warning("the tools have changed, and can't be used as they are now: %s", error)
            return
        if [held.tool for held in found.values()] != list(self._loop.request.tools):
            self._new_tools = self._bench.offer(found)
            self._loop.offer(self._new_tools)


def _without_secrets(error: UpstreamError) -> UpstreamError:
    """For a run and its record: some providers repeat in an error the key that they were sent."""
    message = without_secrets(error.message)
    return UpstreamError(message, error.status, error.code, error.retry_after, error.should_retry)
