"""One response of several requests: calls of the tools that toolglot runs are answered here, and the model goes on.

The client sees them as its own API shows server tools, or not at all. Calls of the client's tools end the response.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Protocol

import msgspec

from toolglot.client.worker import in_worker
from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.fold import fold, merge_extra, unfold_part
from toolglot.core.messages import Extra, Message, Opaque, Part, Text, ToolCall, ToolResult
from toolglot.core.reply import Decision, Stop, Usage, add_usage
from toolglot.core.request import Request
from toolglot.core.tools import Tool
from toolglot.core.vendor_tools import TOOL_SEARCH, Body, ServerCall
from toolglot.errors import ToolglotError, UpstreamError
from toolglot.io.json_codec import preview
from toolglot.pipeline.request.plan import Plan
from toolglot.pipeline.request.server_tools import Served, run_search
from toolglot.wires import find_wire

MAX_ROUNDS = 12  # requests of one response
_MAX_CALLS = 8  # of these tools in one request; they run at the same time
_MAX_TEXT = 100_000  # characters of a result


class ServerTool(Protocol):
    """A tool that fulfils a vendor's server tool."""

    async def definition(self) -> Tool:
        """The function as the model gets it. Raises ToolglotError if it is not available."""
        ...

    async def run(self, call: ToolCall) -> tuple[str, bool]:
        """The result, and whether the tool failed. Never raises for what a tool does."""
        ...


class Round(Protocol):
    """The response to one request."""

    plan: Plan
    received: list[Event] | None
    rejected: tuple[Decision, ...]
    retried: int

    async def begin(self) -> None: ...
    async def __anext__(self) -> list[Event]: ...
    async def aclose(self) -> None: ...


Prepare = Callable[[Request], Awaitable[Round]]


class Serve(Protocol):
    """`serve`, for one route."""

    def __call__(self, request: Request, /, *, loaded: tuple[str, ...]) -> Served: ...


async def definitions(tools: Mapping[str, ServerTool], notes: list[str]) -> dict[str, Tool]:
    """The function for each kind of server tool. One that is not available is left out, with a note."""
    found: dict[str, Tool] = {}
    for kind, tool in tools.items():
        try:
            found[kind] = await tool.definition()
        except ToolglotError as error:
            notes.append(f"server tool {kind}: not available: {preview(str(error), 200)}")
    return found


class ServedResponse:
    """Like `session.Response`: iterate it once, for its events in batches."""

    def __init__(
        self,
        prepare: Prepare,
        request: Request,
        serve: Serve,
        served: Served,
        *,
        tools: Mapping[str, ServerTool],
        notes: tuple[str, ...] = (),
    ) -> None:
        self._prepare, self._request, self._serve, self._tools = prepare, request, serve, tools
        self._served = served
        self._notes = (*notes, *served.notes)
        self._round: Round | None = None
        self._rounds = 0
        self._turn: list[Event] = []  # of this round
        self._indices: dict[int, int] = {}  # block of the round -> block of the response
        self._mine: set[int] = set()  # blocks of the round that are calls for tools that run here
        self._blocks = 0
        self._client_calls = 0
        self._loaded: tuple[str, ...] = ()
        self._done: list[ServerCall] = []
        self._used: dict[str, int] = {}
        self._usage: Usage | None = None
        self._decisions: tuple[Decision, ...] = ()
        self._late_notes: tuple[str, ...] = ()
        self._ended = False
        self.retried = 0

    # -- like a Response

    @property
    def plan(self) -> Plan:
        plan = self._current.plan
        return msgspec.structs.replace(plan, notes=(*self._notes, *plan.notes)) if self._notes else plan

    @property
    def received(self) -> list[Event] | None:
        return self._current.received

    @property
    def rejected(self) -> tuple[Decision, ...]:
        return self._current.rejected

    @property
    def _current(self) -> Round:
        assert self._round is not None  # noqa: S101  (`begin` comes first)
        return self._round

    async def begin(self) -> None:
        self._round = await self._prepare(self._served.request)
        self._rounds += 1
        await self._round.begin()

    def __aiter__(self) -> ServedResponse:
        return self

    async def __anext__(self) -> list[Event]:
        while not self._ended:
            batch = self._forwarded(await self._current.__anext__())
            if not batch:
                continue
            last = batch[-1]
            if isinstance(last, Finish):
                batch = [*batch[:-1], *await self._end_round(last)]
            self._ended = bool(batch) and isinstance(batch[-1], Finish | Fault)
            if batch:
                return batch
        raise StopAsyncIteration

    async def aclose(self) -> None:
        if self._round is not None:
            await self._round.aclose()

    # -- one round

    def _forwarded(self, events: list[Event]) -> list[Event]:
        """The events for the client: without the calls for tools that run here."""
        out: list[Event] = []
        for event in events:
            self._turn.append(event)
            if isinstance(event, Open):
                if event.kind == "call" and event.full_name in self._served.kinds:
                    self._mine.add(event.index)
                    continue
                self._client_calls += event.kind == "call"
                self._indices[event.index] = self._blocks
                out.append(msgspec.structs.replace(event, index=self._blocks))
                self._blocks += 1
            elif isinstance(event, Delta | Close):
                if event.index not in self._mine:
                    out.append(msgspec.structs.replace(event, index=self._indices[event.index]))
            elif isinstance(event, Fault):
                out.append(self._with_earlier(event))
            elif not isinstance(event, Start) or self._rounds == 1:
                out.append(event)
        return out

    async def _end_round(self, last: Finish) -> list[Event]:
        """The items of the calls that ran, and the end of the response, unless the model goes on."""
        reply = fold(self._turn)
        calls = [part for part in reply.calls if part.full_name in self._served.kinds]
        self.retried += self._current.retried
        if not calls:
            return [self._with_earlier(last)]
        done = list(await asyncio.gather(*map(self._run, calls, range(len(calls)))))
        self._done += done
        events = [event for one in done for event in self._shown(one)]
        self._usage = add_usage(self._usage, last.usage)
        self._decisions += last.decisions
        self._late_notes += last.notes
        if self._client_calls:
            return [*events, self._with_earlier(msgspec.structs.replace(last, usage=None, decisions=(), notes=()))]
        try:
            await self._next_round(reply.parts, done)
        except UpstreamError as error:
            return [*events, self._with_earlier(Fault(error.with_traceback(None)))]
        return events

    def _with_earlier(self, end: Finish | Fault) -> Finish | Fault:
        notes = tuple(dict.fromkeys((*self._notes, *self._late_notes, *end.notes)))
        decisions = (*self._decisions, *end.decisions)
        if isinstance(end, Fault):
            return msgspec.structs.replace(end, notes=notes, decisions=decisions)
        stop = end.stop
        if stop.reason == "calls" and not self._client_calls:  # the only calls were cut short
            stop = Stop("stop", stop.raw)
        usage = add_usage(self._usage, end.usage)
        end = msgspec.structs.replace(end, stop=stop, usage=usage, notes=notes, decisions=decisions)
        return self._with_reports(end)

    def _with_reports(self, end: Finish) -> Finish:
        """With what the client's API reports of these calls at the end of a reply."""
        usage, extra = end.usage or Usage(), end.extra
        for name in sorted({*self._served.kinds.values()}):
            wire = find_wire(name)
            calls = tuple(one for one in self._done if self._served.kinds.get(one.call.full_name) == name)
            if wire is None or wire.vendor_tools is None or not calls:
                continue
            extra = merge_extra(extra, _fields(name, wire.vendor_tools.reply_fields(calls)))
            more = merge_extra(usage.extra, _fields(name, wire.vendor_tools.usage_fields(calls)))
            usage = msgspec.structs.replace(usage, extra=more)
        return msgspec.structs.replace(end, usage=usage if end.usage or usage.extra else None, extra=extra)

    async def _next_round(self, parts: tuple[Part, ...], done: list[ServerCall]) -> None:
        results = tuple(ToolResult(one.call.id, one.call.full_name, (Text(one.text),), one.failed) for one in done)
        messages = (*self._served.request.messages, Message("assistant", parts), Message("tool", results))
        self._loaded += tuple(tool.full_name for one in done for tool in one.loaded)
        await self._current.aclose()
        self._turn, self._indices, self._mine = [], {}, set()
        request = msgspec.structs.replace(self._request, messages=messages)
        if any(one.call.full_name != TOOL_SEARCH for one in done):  # the choice was for the first call
            request = msgspec.structs.replace(request, choice=None)
        self._served = await in_worker(partial(self._serve, request, loaded=self._loaded))
        if self._rounds + 1 == MAX_ROUNDS:
            self._served = _without(self._served)
        await self.begin()

    # -- one call

    async def _run(self, call: ToolCall, number: int) -> ServerCall:
        kind = call.full_name
        self._used[kind] = self._used.get(kind, 0) + 1
        limit = self._served.limits.get(kind, 0)
        if number >= _MAX_CALLS or (limit and self._used[kind] > limit):
            return ServerCall(call, f"Error: the limit of {limit or _MAX_CALLS} calls is reached.", failed=True)
        if kind == TOOL_SEARCH:
            return await in_worker(partial(run_search, call, self._served.deferred))
        text, failed = await self._tools[kind].run(call)
        if len(text) > _MAX_TEXT:
            text = f"{text[:_MAX_TEXT]}\n(cut: the result has {len(text)} characters)"
        return ServerCall(call, text, failed)

    def _shown(self, done: ServerCall) -> list[Event]:
        wire = find_wire(self._served.kinds[done.call.full_name])
        if wire is None or wire.vendor_tools is None:
            return []
        events: list[Event] = []
        for block in wire.vendor_tools.write(done):
            events += unfold_part(self._blocks, Opaque(wire.name, block))
            self._blocks += 1
        return events


def _fields(wire: str, fields: Body) -> Extra:
    return {wire: fields} if fields else {}


def _without(served: Served) -> Served:
    """The last request has none of these tools, so that the response ends."""
    tools = tuple(tool for tool in served.request.tools if tool.full_name not in served.kinds)
    return Served(msgspec.structs.replace(served.request, tools=tools))
