"""The way back: a provider's events become those that leave. Text is heard, names are restored, every call is guarded.

A Stage. Native calls and calls from text pass the same guard; where native calls come, the text is not searched for more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.messages import ToolCall
from toolglot.core.reply import Decision, Stop
from toolglot.core.tools import Toolset
from toolglot.pipeline.constrain import ConstrainedExtractor
from toolglot.pipeline.extract import StreamExtractor, toolset
from toolglot.pipeline.guard_calls import Policy, Verdict, judge, refused
from toolglot.pipeline.plan import Plan
from toolglot.pipeline.restore_names import RestoreNames

Calls = Literal["hold", "pass"]


class _NativeCall(msgspec.Struct):
    open: Open
    index: int  # outside
    pieces: list[str]
    told: bool  # its beginning has left


class Answers:
    """`make_id` gives unique ids to calls whose provider gave none."""

    def __init__(
        self,
        plan: Plan,
        *,
        policy: Policy = "balanced",
        calls: Calls = "hold",
        make_id: Callable[[], str] | None = None,
    ) -> None:
        self._plan = plan
        self._policy: Policy = policy
        self._pass = calls == "pass"
        self._make_id = make_id
        self._tools: Toolset = toolset(plan.tools)
        self._restore = RestoreNames(self._tools, plan.route.wire.names)
        self._ear = self._listener(calls)
        self._heard: dict[int, int] = {}  # the listener's indices -> ours
        self._blocks: dict[int, int] = {}  # the provider's indices -> ours, of what passes through
        self._native: dict[int, _NativeCall] = {}
        self._texts: set[int] = set()  # the provider's indices of text that is listened to
        self._next = 0
        self._calls = 0  # that left
        self._cut = False
        self._decisions: list[Decision] = []
        self._ended = False

    def _listener(self, calls: Calls) -> StreamExtractor | ConstrainedExtractor | None:
        plan = self._plan
        if plan.hears is None:
            return None
        if plan.way.kind == "constrained":
            return ConstrainedExtractor(self._tools)
        return StreamExtractor(self._tools, dialect=plan.hears, policy=self._policy, calls=calls, nonce=plan.nonce)

    def feed(self, event: Event) -> list[Event]:
        if self._ended:
            return []
        out: list[Event] = []
        for restored in self._restore.feed(event):
            self._take(restored, out)
        return out

    def close(self) -> list[Event]:
        return []

    def _take(self, event: Event, out: list[Event]) -> None:
        if isinstance(event, Delta):
            self._delta(event, out)
        elif isinstance(event, Open):
            self._open(event, out)
        elif isinstance(event, Close):
            self._close(event, out)
        elif isinstance(event, Finish):
            self._finish(event, out)
        elif isinstance(event, Fault):
            self._fault(event, out)
        else:
            out.append(self._start(event))

    def _start(self, event: Start) -> Start:
        return event

    # -- blocks

    def _open(self, event: Open, out: list[Event]) -> None:
        if event.kind == "call":
            self._open_call(event, out)
        elif event.kind == "text" and self._ear is not None and event.channel is None and not event.extra:
            self._texts.add(event.index)
        else:
            self._blocks[event.index] = index = self._take_index()
            out.append(msgspec.structs.replace(event, index=index))

    def _delta(self, event: Delta, out: list[Event]) -> None:
        index = self._blocks.get(event.index)
        if index is not None:
            out.append(event if index == event.index else Delta(index, event.text))
        elif event.index in self._texts and self._ear is not None:
            self._say(self._ear.feed(event.text), out)
        elif event.index in self._native:
            call = self._native[event.index]
            call.pieces.append(event.text)
            if call.told:
                out.append(Delta(call.index, event.text))

    def _close(self, event: Close, out: list[Event]) -> None:
        index = self._blocks.pop(event.index, None)
        if index is not None:
            out.append(msgspec.structs.replace(event, index=index))
        elif event.index in self._native:
            self._end_call(self._native.pop(event.index), event, out)
        self._texts.discard(event.index)

    def _take_index(self) -> int:
        self._next += 1
        return self._next - 1

    # -- what the listener says

    def _say(self, events: list[Event], out: list[Event]) -> None:
        for event in events:
            if isinstance(event, Open):
                if event.kind == "call":
                    self._calls += 1
                    event = self._with_id(event)
                self._heard[event.index] = index = self._take_index()
                out.append(msgspec.structs.replace(event, index=index))
            elif isinstance(event, Delta):
                out.append(Delta(self._heard[event.index], event.text))
            elif isinstance(event, Close):
                out.append(msgspec.structs.replace(event, index=self._heard.pop(event.index)))
            elif isinstance(event, Finish):
                self._decisions += event.decisions
                self._cut = self._cut or event.stop.reason == "length"

    def _with_id(self, event: Open) -> Open:
        """A number is no id outside of one reply."""
        if self._make_id is None or not event.call_id or not event.call_id.startswith(f"{event.name}_"):
            return event
        return msgspec.structs.replace(event, call_id=self._make_id())

    # -- native calls

    def _open_call(self, event: Open, out: list[Event]) -> None:
        if self._ear is not None:  # the model speaks the server's language: what its text looks like is text
            self._say(self._ear.deafen(), out)
        call = _NativeCall(self._with_id(event), -1, [], told=self._pass and self._forbidden(event) is None)
        self._native[event.index] = call
        if call.told:
            self._calls += 1
            call.index = self._take_index()
            out.append(msgspec.structs.replace(call.open, index=call.index))

    def _end_call(self, call: _NativeCall, end: Close, out: list[Event]) -> None:
        verdict = self._verdict(call, end)
        if call.told:
            out.append(self._told_end(call, end, verdict))
            return
        self._decisions += (*end.decisions, *verdict.decisions)
        if verdict.call is None:
            self._cut = self._cut or not end.sealed
            return
        self._calls += 1
        index, left = self._take_index(), verdict.call
        opened = msgspec.structs.replace(call.open, index=index, name=left.name, namespace=left.namespace, custom=left.custom)
        out += [opened, Delta(index, left.arguments_json)]
        written = left.written if left.written is not None else end.written
        out.append(Close(index, True, (), end.extra, written, left.fixes))

    def _told_end(self, call: _NativeCall, end: Close, verdict: Verdict) -> Close:
        """A call that has left can't be mended: the end says whether it holds as it is."""
        left, text = verdict.call, "".join(call.pieces)
        decisions = (*end.decisions, *verdict.decisions)
        holds = left is not None and left.name == call.open.name and left.arguments_json == (text or "{}")
        if left is not None and not holds:
            why = f"it left as it was written, and would have to be mended ({', '.join(left.fixes)})"
            decisions = (*end.decisions, refused(self._as_call(call, end), "rejected_schema", why))
        self._calls -= not holds
        return msgspec.structs.replace(end, index=call.index, sealed=end.sealed and holds, decisions=decisions)

    def _verdict(self, call: _NativeCall, end: Close) -> Verdict:
        said = self._as_call(call, end)
        reason = self._forbidden(call.open)
        if reason is not None:
            return Verdict(None, (refused(said, "rejected_choice", reason),))
        if self._served(call.open):
            return Verdict(said)
        return judge(said, self._tools, self._policy, position=self._calls)

    def _as_call(self, call: _NativeCall, end: Close) -> ToolCall:
        opened = call.open
        return ToolCall(
            opened.call_id or "",
            opened.name or "",
            "".join(call.pieces) or "{}",
            opened.namespace,
            opened.custom,
            end.sealed,
            opened.source,
            end.written,
            end.fixes,
            opened.extra,
        )

    def _served(self, event: Open) -> bool:
        """A tool that the vendor's own server runs."""
        return any(tool.kind == "server" and tool.name == event.name for tool in self._tools)

    def _forbidden(self, event: Open) -> str | None:
        """Why the caller's choice does not allow this call."""
        choice = self._plan.choice
        if not self._tools:
            return "the request has no tools"
        if choice is None:
            return None
        if choice.mode == "none":
            return "the request forbids calls"
        name = event.full_name
        if choice.names and choice.mode == "required" and not {event.name, name} & set(choice.names):
            return f"only {', '.join(choice.names)} may be called"
        return None

    # -- the end

    def _flush(self, out: list[Event]) -> None:
        if self._ear is not None:
            self._say(self._ear.close(), out)
        for index in self._blocks.values():
            out.append(Close(index, sealed=False))
        for call in self._native.values():
            if call.told:
                out.append(Close(call.index, sealed=False))
        self._blocks, self._native, self._ended = {}, {}, True

    def _finish(self, event: Finish, out: list[Event]) -> None:
        self._flush(out)
        choice = self._plan.choice
        if choice is not None and choice.mode == "required" and not self._calls and self._tools:
            self._decisions.append(Decision("missing_call", "a call was required, and the model made none"))
        decisions = (*event.decisions, *self._decisions)
        notes = tuple(dict.fromkeys((*self._plan.notes, *event.notes)))
        out.append(msgspec.structs.replace(event, stop=self._stop(event.stop), decisions=decisions, notes=notes))

    def _stop(self, stop: Stop) -> Stop:
        """The reason follows the calls that left, whatever the provider's word was."""
        if stop.reason in ("stop", "calls"):
            reason = "calls" if self._calls else "length" if self._cut else "stop"
            return msgspec.structs.replace(stop, reason=reason)
        return stop

    def _fault(self, event: Fault, out: list[Event]) -> None:
        """Held text leaves first: what the model said is not lost because the line broke."""
        self._flush(out)
        decisions = (*event.decisions, *self._decisions)
        notes = tuple(dict.fromkeys((*self._plan.notes, *event.notes)))
        out.append(msgspec.structs.replace(event, decisions=decisions, notes=notes))
