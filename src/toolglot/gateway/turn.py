"""One turn of a conversation: read, routed, asked, guarded, mended, written. The same way for every pair of wires."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import lru_cache

import msgspec

from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open
from toolglot.core.fold import fold
from toolglot.core.interfaces import Answering, Writer
from toolglot.core.reply import Decision, Reply
from toolglot.core.request import Request
from toolglot.errors import UpstreamError
from toolglot.gateway.attempts import Asking, Opened, remember
from toolglot.gateway.downstream import Downstream
from toolglot.gateway.durations import with_durations
from toolglot.gateway.exchange import Exchange, header_text
from toolglot.gateway.fronts import OLLAMA, Front
from toolglot.gateway.mend import Mended, ending, mend, refusals, worth_mending
from toolglot.gateway.records import CallSeen, DecisionSeen, Record
from toolglot.text.json_text import encode

BeforeEnd = Callable[[], Awaitable[None]]
_ENDS = (Finish, Fault)


class Turn:
    """`keep`: all that is said is needed at the end, to be stored or recorded."""

    def __init__(
        self, asking: Asking, front: Front, request: Request, opened: Opened, record: Record, *, keep: bool, content: bool
    ) -> None:
        self._asking, self._front, self._request, self._opened = asking, front, request, opened
        self._record, self._content = record, content
        row = opened.target.row
        self._mends = row.mend if row.calls == "hold" else 0
        self._keeps = keep or (self._mends > 0 and bool(request.tools))
        self._kept: list[Event] = []
        self._blocks = 0
        self._said = False  # text or a call has left
        self._texts: set[int] = set()
        self._calls: dict[int, Open] = {}
        self._decisions: list[Decision] = []

    def reply(self) -> Reply:
        """All that left; needs `keep`."""
        return fold(self._kept)

    # -- the two ways out

    async def whole(self, answering: Answering) -> bytes:
        """The reply's body. One that broke off is an error here: half of it is no reply."""
        reply = fold(await self._finished(self._opened.events))
        if reply.error is not None:
            raise reply.error
        body = encode(self._front.wire.write_reply(reply, answering, self._record.notes))
        self._record.notes = list(dict.fromkeys(self._record.notes))
        return body

    async def stream(self, writer: Writer, notes: list[str], out: Downstream, before_end: BeforeEnd | None = None) -> None:
        """Text flows; what must be mended is mended behind it, then the end comes. `before_end` runs when all is known.

        A line that breaks is a Fault, and held text leaves before it.
        """
        begun, answers = self._opened.begun, self._opened.answers
        if begun is None:
            await self._leave(self._opened.events, writer, out, before_end)
        else:
            try:
                await self._leave(answers.feed(*begun.first), writer, out, before_end)
                broken: UpstreamError | None = None
                try:
                    async for chunk in begun.chunks:
                        left = answers.feed(*begun.reader.feed(chunk))
                        if not left:
                            continue
                        if type(left[-1]) in _ENDS:
                            await self._leave(left, writer, out, before_end)
                        elif data := self._written(left, writer):
                            await out.send(data)
                except UpstreamError as error:
                    broken = error.with_traceback(None)  # which holds this frame
                rest: list[Event] = begun.reader.close()
                if broken is not None:
                    rest = [*(event for event in rest if not isinstance(event, Fault)), Fault(broken)]
                left = answers.feed(*rest) + answers.close()
                await self._leave(left, writer, out, before_end)
            finally:
                await begun.answer.aclose()
                answers.feed(*begun.reader.close())  # left in the middle: at their end readers and guard let go of each other
        last = writer.close()
        if last:
            await out.send(last)
        self._record.notes = list(dict.fromkeys([*self._record.notes, *notes]))

    async def _leave(self, events: list[Event], writer: Writer, out: Downstream, before_end: BeforeEnd | None) -> None:
        """Events that go out; the end waits until what was refused is mended."""
        if events and type(events[-1]) in _ENDS:
            last = events[-1]
            if data := self._written(events[:-1], writer):
                await out.send(data)
            events = await self._ending(last)
            self._see(events)
            if before_end is not None:
                await before_end()
            data = _joined(writer, events)
        else:
            data = self._written(events, writer)
        if data:
            await out.send(data)

    def _written(self, events: list[Event], writer: Writer) -> bytes:
        self._see(events)
        return writer.feed(events[0]) if len(events) == 1 else _joined(writer, events)

    async def _finished(self, events: list[Event]) -> list[Event]:
        if not events or not isinstance(events[-1], Finish | Fault):
            events = [*events, Fault(UpstreamError("the answer has no end", 502, "bad_answer"))]
        self._see(events[:-1])
        last = await self._ending(events[-1])
        self._see(last)
        return [*events[:-1], *last]

    # -- events as they come

    def _see(self, events: list[Event]) -> None:
        """What the record and the end need to know."""
        for event in events:
            kind = type(event)
            if kind is Delta:
                if not self._said and event.index in self._texts and event.text.strip():  # type: ignore[union-attr]
                    self._said = True
            elif isinstance(event, Open):
                self._blocks += 1
                if event.kind == "text":
                    self._texts.add(event.index)
                elif event.kind == "call":
                    self._said = True
                    self._calls[event.index] = event
                elif event.kind != "reasoning":
                    self._said = True
            elif isinstance(event, Close):
                if event.index in self._calls:
                    self._see_call(self._calls.pop(event.index), event)
                self._decisions += event.decisions
            elif isinstance(event, Finish | Fault):
                self._see_end(event)
        if self._keeps:
            self._kept += events

    def _see_call(self, opened: Open, end: Close) -> None:
        refused = next((one.code for one in end.decisions if one.code.startswith("rejected_")), "")
        if refused:
            seen = CallSeen(opened.source, "refused", refused)  # passed on as it was, and told so
        else:
            seen = CallSeen(opened.source, "fixed" if end.fixes else "passed", end.fixes[0] if end.fixes else "")
        if self._content:
            seen = msgspec.structs.replace(seen, tool=opened.full_name, written=end.written)
        self._record.calls.append(seen)

    def _see_end(self, event: Finish | Fault) -> None:
        record = self._record
        self._decisions += event.decisions
        for one in event.decisions:
            if one.code.startswith("rejected_"):
                source = one.call.source if one.call is not None else "native"
                seen = CallSeen(source, "refused", one.code)
                if self._content and one.call is not None:
                    seen = msgspec.structs.replace(seen, tool=one.call.full_name, written=one.call.raw)
                record.calls.append(seen)
        record.decisions = [DecisionSeen(one.code, one.message if self._content else None) for one in self._decisions]
        record.notes = list(dict.fromkeys([*self._opened.tried, *event.notes]))
        if isinstance(event, Fault):
            record.code = event.error.code or "fault"
            return
        if event.usage is not None:
            record.input, record.output = event.usage.input, event.usage.output
        left = sum(seen.outcome != "refused" for seen in record.calls)
        remember(self._asking, self._opened, left, (one.code for one in self._decisions))

    # -- the end

    async def _ending(self, last: Event) -> list[Event]:
        if not isinstance(last, Finish):
            return [last]
        events = await self._mended(last)
        if self._front is OLLAMA and isinstance(events[-1], Finish):
            events[-1] = with_durations(events[-1], self._record)
        return events

    async def _mended(self, last: Finish) -> list[Event]:
        refused = refusals(last)
        if not refused:
            return [last]
        mended = Mended(left=refused)
        left = any(seen.outcome != "refused" for seen in self._record.calls)
        if self._request.parallel is False:  # one call is all that is wanted
            refused = () if left else refused[:1]
        if self._mends and refused and worth_mending(last, self._request):
            said = fold(self._kept)
            mended = await mend(self._asking, self._request, self._opened.target, said, refused=refused, times=self._mends)
            self._record.mended = mended.asked
        return ending(last, mended, self._blocks, alone=not self._said)


def _joined(writer: Writer, events: list[Event]) -> bytes:
    return b"".join([writer.feed(event) for event in events])


def about(opened: Opened) -> list[tuple[bytes, bytes]]:
    """What an answer's head says of its origin."""
    return [(b"x-toolglot-upstream", _origin(opened.target.name))]


@lru_cache(256)
def _origin(target: str) -> bytes:
    return header_text([target])


async def begin_stream(exchange: Exchange, front: Front, opened: Opened, array: bool) -> None:
    notes = [*opened.tried, *opened.plan.notes]
    headers = [*about(opened), (b"cache-control", b"no-cache"), (b"x-accel-buffering", b"no")]
    if notes:
        headers.append((b"x-toolglot-notes", header_text(notes)))
    media = "application/json" if array else front.wire.media_type
    await exchange.start(200, media.encode(), headers)


def whole_headers(opened: Opened, record: Record) -> list[tuple[bytes, bytes]]:
    headers = about(opened)
    codes = dict.fromkeys(one.code for one in record.decisions)
    if codes:
        headers.append((b"x-toolglot-decisions", header_text(codes, ", ")))
    if record.notes:
        headers.append((b"x-toolglot-notes", header_text(record.notes)))
    return headers
