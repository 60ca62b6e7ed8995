"""Writes a response to the client in the client's API, whole or as a stream, and records it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import lru_cache, partial

import msgspec

from toolglot.catalog.prices import Price, cost
from toolglot.client.worker import in_worker
from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open
from toolglot.core.fold import fold, merge_extra, unfold_part
from toolglot.core.interfaces import ResponseContext, Wire, Writer
from toolglot.core.messages import Text
from toolglot.core.reply import Decision, Reply, Stop
from toolglot.gateway.frontends import Frontend
from toolglot.gateway.http_exchange import HttpExchange, header_text
from toolglot.gateway.records import Record, RecordedCall, RecordedDecision
from toolglot.gateway.upstream_request import Opened
from toolglot.io.json_codec import encode
from toolglot.pipeline.response.rejected_text import explain_rejected

_MANY = 500  # events or decisions; fewer take milliseconds
_MOST = 1000  # calls and decisions of one request; a flood of more is the work of an attack
_UNKNOWN_TOOL = "rejected_unknown_tool"  # its name is the model's invention, and may be anything

BeforeEnd = Callable[[], Awaitable[None]]


class ClientStream:
    """A stream to the client, with pings while the upstream is silent. A client that stops reading is disconnected.

    One timer serves both timeouts. It is not moved by each chunk: it fires, compares the times, and sleeps again.
    """

    def __init__(self, exchange: HttpExchange, ping: bytes, ping_after: float, client_timeout: float) -> None:
        self._exchange = exchange
        self._ping, self._ping_after, self._client_timeout = ping, ping_after, client_timeout
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._last_sent = self._loop.time()
        self._sending_since: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._pinging: asyncio.Task[None] | None = None
        self._interval = min(ping_after, client_timeout) / 2

    async def __aenter__(self) -> ClientStream:
        self._timer = self._loop.call_later(self._interval, self._check)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._pinging is not None:
            self._pinging.cancel()

    async def send(self, data: bytes) -> None:
        """`data` contains whole events, so that a ping can go between any two."""
        self._last_sent = self._sending_since = self._loop.time()
        await self._exchange.send_chunk(data)
        self._sending_since = None

    def _check(self) -> None:
        now, since = self._loop.time(), self._sending_since
        if since is not None and now - since > self._client_timeout and self._task is not None:
            self._exchange.disconnected = True
            self._task.cancel()
            return
        is_silent = since is None and now - self._last_sent >= self._ping_after
        if is_silent and (self._pinging is None or self._pinging.done()):
            self._last_sent = now
            self._pinging = self._loop.create_task(self._exchange.send_chunk(self._ping))
        self._timer = self._loop.call_later(self._interval, self._check)


class ResponseWriter:
    """`keep_events`: `reply` is needed at the end, to store or record it. `content`: record message contents."""

    def __init__(
        self,
        frontend: Frontend,
        opened: Opened,
        record: Record,
        *,
        keep_events: bool,
        content: bool,
        prices: tuple[Price, ...] = (),
    ) -> None:
        self._prices = prices
        self._frontend, self._opened, self._response = frontend, opened, opened.response
        self._record, self._content, self._keep_events = record, content, keep_events
        self._events: list[Event] = []
        self._blocks = 0
        self.characters = 0  # of all blocks that were sent
        self._is_empty = True  # no text and no call is sent
        self._texts: set[int] = set()
        self._calls: dict[int, Open] = {}
        self._decisions: list[Decision] = []

    def content(self, request: bytes) -> msgspec.Raw:
        """What is recorded: the request, the model's output as it came, and what the client got."""
        written = fold(self._response.received or [])
        return msgspec.Raw(encode({"request": msgspec.Raw(request), "written": written.parts, "reply": self.reply().parts}))

    def reply(self) -> Reply:
        """All that was sent; needs `keep_events`."""
        return fold(self._events)

    async def whole(self, context: ResponseContext) -> bytes:
        """The body of the reply. An incomplete reply raises its error."""
        events: list[Event] = []
        async for batch in self._response:
            events += await self._prepare(batch)
        write = partial(self._whole, events, context)
        return await in_worker(write) if len(events) > _MANY else write()

    def _whole(self, events: list[Event], context: ResponseContext) -> bytes:
        reply = fold(events)
        if reply.error is not None:
            raise reply.error
        body = encode(self._frontend.wire.write_reply(reply, context, self._record.notes))
        self._record.notes = list(dict.fromkeys(self._record.notes))
        return body

    async def stream(self, writer: Writer, notes: list[str], out: ClientStream, before_end: BeforeEnd | None = None) -> None:
        """Sends events as they arrive. `before_end` runs when the reply is complete, before its last events are sent."""
        async for batch in self._response:
            events = self._prepared(batch) if type(batch[-1]) is Delta else await self._prepare(batch)  # most end in a delta
            if before_end is not None and type(events[-1]) in (Finish, Fault):
                await before_end()
            if len(events) == 1:
                data = writer.feed(events[0])
            else:
                write = partial(_fed, writer, events)
                data = await in_worker(write) if len(events) > _MANY else write()
            if data:
                await out.send(data)
        last = writer.close()
        if last:
            await out.send(last)
        self._record.notes = list(dict.fromkeys([*self._record.notes, *notes]))

    # -- events

    async def _prepare(self, events: list[Event]) -> list[Event]:
        last = events[-1]
        many = max(len(events), len(last.decisions) if isinstance(last, Finish | Fault) else 0)
        return await in_worker(partial(self._prepared, events)) if many > _MANY else self._prepared(events)

    def _prepared(self, events: list[Event]) -> list[Event]:
        if isinstance(events[-1], Finish):
            events = self._with_end(events, events[-1])
        for event in events:
            kind = type(event)
            if kind is Delta:
                self.characters += len(event.text)  # type: ignore[union-attr]
                if self._is_empty and event.index in self._texts and event.text.strip():  # type: ignore[union-attr]
                    self._is_empty = False
            elif isinstance(event, Open):
                self._track_block(event)
            elif isinstance(event, Close):
                if event.index in self._calls:
                    self._record_call(self._calls.pop(event.index), event)
                self._decisions += event.decisions
            elif isinstance(event, Finish | Fault):
                self._record_end(event)
        if self._keep_events:
            self._events += events
        return events

    def _track_block(self, event: Open) -> None:
        self._blocks += 1
        if event.kind == "text":
            self._texts.add(event.index)
        elif event.kind != "reasoning":
            self._is_empty = False
            if event.kind == "call":
                self._calls[event.index] = event

    def _with_end(self, events: list[Event], last: Finish) -> list[Event]:
        """Explains an otherwise empty reply, and adds durations where clients expect them."""
        rejected = self._response.rejected
        if rejected and self._is_empty and not any(isinstance(event, Open) for event in events):
            stop = Stop("stop", last.stop.raw) if last.stop.reason == "error" else last.stop
            last = msgspec.structs.replace(last, stop=stop)
            events = [*events[:-1], *unfold_part(self._blocks, Text(explain_rejected(rejected))), last]
        if self._frontend.server.durations is not None:
            events = [*events[:-1], with_durations(last, self._record, self._frontend.wire)]
        return events

    # -- the record

    def _record_call(self, opened: Open, end: Close) -> None:
        rejected = ""
        for decision in end.decisions:
            if decision.code.startswith("rejected_"):
                rejected = decision.code
                break
        if rejected:
            recorded = RecordedCall(opened.source, "refused", rejected)  # sent as it is, with the decision at its end
        else:
            recorded = RecordedCall(opened.source, "fixed" if end.fixes else "passed", end.fixes[0] if end.fixes else "")
        if self._content or rejected != _UNKNOWN_TOOL:
            recorded = msgspec.structs.replace(recorded, tool=opened.full_name)
        if self._content:
            recorded = msgspec.structs.replace(recorded, written=end.written)
        self._record.calls.append(recorded)

    def _record_end(self, event: Finish | Fault) -> None:
        record = self._record
        self._decisions += event.decisions
        for one in event.decisions:
            if one.code.startswith("rejected_"):
                source = one.call.source if one.call is not None else "native"
                recorded = RecordedCall(source, "refused", one.code)
                if one.call is not None and (self._content or one.code != _UNKNOWN_TOOL):
                    recorded = msgspec.structs.replace(recorded, tool=one.call.full_name)
                if self._content and one.call is not None:
                    recorded = msgspec.structs.replace(recorded, written=one.call.raw)
                record.calls.append(recorded)
        kept, record.calls = self._decisions[:_MOST], record.calls[:_MOST]
        record.decisions = [RecordedDecision(one.code, one.message if self._content else None) for one in kept]
        many = len(self._decisions) - len(kept)
        notes = [f"{many} more decisions are not recorded"] if many else []
        record.notes = list(dict.fromkeys([*self._opened.failed, *event.notes, *notes]))
        record.retried = self._response.retried
        if isinstance(event, Fault):
            record.code, record.error = event.error.code or "fault", event.error.message
        elif event.usage is not None:
            record.input, record.output = event.usage.input, event.usage.output
            record.cost = cost(record.target, self._opened.candidate.upstream.row.name, event.usage, self._prices)


def _fed(writer: Writer, events: list[Event]) -> bytes:
    return b"".join([writer.feed(event) for event in events])


def with_durations(last: Finish, record: Record, wire: Wire) -> Finish:
    """With durations measured here, unless the upstream sent them."""
    measured = wire.server.durations(record.elapsed(), record.first or 0.0) if wire.server.durations else {}
    if not measured or measured.keys() & last.extra.get(wire.name, {}).keys():
        return last
    return msgspec.structs.replace(last, extra=merge_extra({wire.name: measured}, last.extra))


def _upstream_header(opened: Opened) -> list[tuple[bytes, bytes]]:
    return [(b"x-toolglot-upstream", _header_value(opened.candidate.name))]


@lru_cache(256)
def _header_value(name: str) -> bytes:
    return header_text([name])


async def start_stream(exchange: HttpExchange, frontend: Frontend, opened: Opened, as_array: bool) -> None:
    notes = [*opened.failed, *opened.response.plan.notes]
    headers = [*_upstream_header(opened), (b"cache-control", b"no-cache"), (b"x-accel-buffering", b"no")]
    if notes:
        headers.append((b"x-toolglot-notes", header_text(notes)))
    media_type = "application/json" if as_array else frontend.wire.media_type
    await exchange.start(200, media_type.encode(), headers)


def response_headers(opened: Opened, record: Record) -> list[tuple[bytes, bytes]]:
    headers = _upstream_header(opened)
    codes = dict.fromkeys(one.code for one in record.decisions)
    if codes:
        headers.append((b"x-toolglot-decisions", header_text(codes, ", ")))
    if record.notes:
        headers.append((b"x-toolglot-notes", header_text(record.notes)))
    return headers
