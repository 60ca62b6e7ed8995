"""What all stream readers share: open blocks, call ids, the stop reason.

A reader calls `text`, `reasoning`, `open_call` and so on; BlockBuilder turns that into legal events.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.fold import merge_extra, unfold_part
from toolglot.core.messages import Extra, Part, ToolCall
from toolglot.core.reply import Decision, Stop, StopReason, Usage
from toolglot.errors import UpstreamError
from toolglot.io.json_codec import preview
from toolglot.io.reply_values import non_empty_string, read_timestamp


class BlockBuilder:
    __slots__ = (
        "_call_ids",
        "_channel",
        "_cut",
        "_events",
        "_extra",
        "_index",
        "_kind",
        "_next",
        "_open_calls",
        "_whole",
        "at_end",
        "calls",
        "decisions",
        "ended",
        "notes",
        "started",
    )

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._next = 0
        self._kind: str | None = None  # of the text or reasoning block that is open
        self._channel: str | None = None
        self._index = 0
        self._extra: Extra = {}
        self._open_calls: dict[int, bool] = {}
        self._call_ids: set[str] = set()
        self._whole = 0  # calls closed whole
        self._cut = 0  # calls cut short
        self.at_end: list[Callable[[], None]] = []  # run before the end of any kind: readers that buffer text emit it then
        self.calls = 0  # calls opened: the number in a generated id
        self.notes: list[str] = []
        self.decisions: list[Decision] = []
        self.started = False
        self.ended = False

    def take_events(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def start(self, id: object = None, model: object = None, created: object = None) -> None:
        """Takes the values as the provider sent them. Only the first call counts."""
        if not self.started:
            self.started = True
            self._events.append(Start(non_empty_string(id), non_empty_string(model), read_timestamp(created)))

    def note_once(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)

    # -- text and reasoning: one open at a time

    def text(self, piece: str, channel: str | None = None) -> None:
        if self._kind == "text" and self._channel == channel:
            if piece:
                self._events.append(Delta(self._index, piece))
        elif piece:
            self._begin("text", channel)
            self._events.append(Delta(self._index, piece))

    def on_channel(self, channel: str | None) -> Callable[[str], None]:
        """`text`, for one channel."""
        return self.text if channel is None else partial(self.text, channel=channel)

    def reasoning(self, piece: str) -> None:
        if piece:
            if self._kind != "reasoning":
                self._begin("reasoning", None)
            self._events.append(Delta(self._index, piece))

    def open_text(self, channel: str | None = None, extra: Extra | None = None) -> None:
        """Opens a text block even though nothing is in it yet."""
        self._begin("text", channel, extra)

    def open_reasoning(self, extra: Extra | None = None) -> None:
        self._begin("reasoning", None, extra)

    def add_extra(self, extra: Extra) -> None:
        """Adds to the extra of the open block, which is emitted at its end (a signature, annotations)."""
        self._extra = merge_extra(self._extra, extra)

    @property
    def open_kind(self) -> str | None:
        return self._kind

    def end_block(self, *, sealed: bool = True) -> None:
        """Closes the text or reasoning block that is open, if one is."""
        if self._kind is not None:
            self._events.append(Close(self._index, sealed, extra=self._extra))
            self._kind, self._extra = None, {}

    def _begin(self, kind: str, channel: str | None, extra: Extra | None = None) -> None:
        self.end_block()
        self._kind, self._channel, self._index = kind, channel, self._take_index()
        opened = Open(self._index, "text" if kind == "text" else "reasoning", channel=channel, extra=extra or {})
        self._events.append(opened)

    def _take_index(self) -> int:
        self.start()
        self._next += 1
        return self._next - 1

    # -- calls: several may be open at once

    def open_call(
        self,
        name: str,
        call_id: str | None = None,
        *,
        namespace: str | None = None,
        custom: bool = False,
        extra: Extra | None = None,
        source: str = "native",
    ) -> int:
        """The new block's index. A call without an id, or with that of an earlier call, is numbered by its position."""
        self.end_block()
        index = self._take_index()
        if call_id in self._call_ids:
            self.notes.append(f"two calls came with the id {call_id}; the second got a new id")
            call_id = None
        unique_id = call_id or f"{name}_{self.calls}"
        self._call_ids.add(unique_id)
        self.calls += 1
        self._open_calls[index] = True
        self._events.append(Open(index, "call", name, unique_id, None, namespace, custom, source, extra or {}))
        return index

    def call_text(self, index: int, piece: str) -> None:
        if piece:
            self._events.append(Delta(index, piece))

    def close_call(
        self,
        index: int,
        *,
        sealed: bool = True,
        decisions: tuple[Decision, ...] = (),
        extra: Extra | None = None,
        cut: bool = True,
    ) -> None:
        """`cut`: a call that is not sealed was cut short; otherwise it was rejected."""
        if self._open_calls.pop(index, None) is None:
            return
        if sealed:
            self._whole += 1
        elif cut:
            self._cut += 1
        self._events.append(Close(index, sealed, decisions, extra or {}))

    def malformed(self, problem: str, value: object) -> None:
        """An entry that can't be read as a call is skipped, with a decision."""
        self.decisions.append(Decision("rejected_malformed", f"{problem}: {preview(value, 2000)}"))

    # -- whole parts, and the end

    def part(self, part: Part) -> int:
        """A part that arrives in one piece; the index of its block."""
        self.end_block()
        index = self._take_index()
        if isinstance(part, ToolCall):
            self.calls += 1
            self._call_ids.add(part.id)
            self._whole += part.sealed
            self._cut += not part.sealed
        self._events.extend(unfold_part(index, part))
        return index

    def finish(
        self,
        reason: StopReason,
        raw: str | None = None,
        usage: Usage | None = None,
        *,
        sequence: str | None = None,
        extra: Extra | None = None,
    ) -> None:
        """The stop reason follows the calls that are there, whatever the provider reported."""
        if self.ended:
            return
        self._end_all(sealed=False)
        if reason in ("stop", "calls", "stop_sequence"):
            if self._cut:
                reason = "length"
            elif self._whole:
                reason = "calls"
            elif reason == "calls":
                reason = "stop"
                self.notes.append(f"the provider sent {raw!r}, but there is no call")
        self.start()
        self.ended = True
        stop = Stop(reason, raw, sequence)
        usage = None if usage == Usage() else usage  # nothing was counted
        self._events.append(Finish(stop, usage, tuple(self.notes), tuple(self.decisions), extra or {}))

    def fail(self, error: UpstreamError) -> None:
        if self.ended:
            return
        self._end_all(sealed=False)
        self.start()
        self.ended = True
        self._events.append(Fault(error, tuple(self.decisions), tuple(self.notes)))

    def _end_all(self, *, sealed: bool) -> None:
        for emit_buffered in self.at_end:
            emit_buffered()
        self.at_end = []  # they refer to this object: a reference cycle would delay freeing the whole reply
        self.end_block()
        for index in list(self._open_calls):
            self.close_call(index, sealed=sealed)
