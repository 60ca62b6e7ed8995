"""The way back: a provider's events become those that leave. Text is heard, names are restored, every call is guarded.

A Stage. Native calls and calls from text pass the same guard; where native calls come, the text is not searched for more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open
from toolglot.core.messages import ToolCall
from toolglot.core.names import NameRule, Names
from toolglot.core.reply import Decision, Stop
from toolglot.core.tools import Tool, Toolset, made_once
from toolglot.pipeline.constrain import ConstrainedExtractor
from toolglot.pipeline.extract import StreamExtractor, toolset
from toolglot.pipeline.guard_calls import Policy, Verdict, canonical, judge, refused
from toolglot.pipeline.heard_text import HeardText
from toolglot.pipeline.plan import Plan
from toolglot.schema.fitting import drop_filled_nulls
from toolglot.text.json_text import dumps, loads_object

Calls = Literal["hold", "pass"]


class _NativeCall(msgspec.Struct):
    open: Open
    pieces: list[str]
    told: int | None = None  # the index that its beginning has left under


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
        self._known: _Known = made_once(self._tools, ("known", plan.route.wire.names), _known)
        self._text = self._listen(calls)
        self._blocks: dict[int, int] = {}  # the provider's indices -> ours, of what passes through
        self._native: dict[int, _NativeCall] = {}
        self._next = 0
        self._opened = 0  # native calls: what readers number by
        self._calls = 0  # native calls that left
        self._ids: set[str] = set()
        self._cut = False
        self._decisions: list[Decision] = []
        self._ended = False

    def _listen(self, calls: Calls) -> HeardText | None:
        plan = self._plan
        if plan.hears is None or not self._known.callable:
            return None
        ear: StreamExtractor | ConstrainedExtractor
        if plan.way.kind == "constrained":
            ear = ConstrainedExtractor(self._known.callable, self._policy)
        else:
            tools = self._known.sent if plan.way.kind == "native" else self._known.callable
            ear = StreamExtractor(tools, dialect=plan.hears, policy=self._policy, calls=calls, nonce=plan.nonce)
        unasked = plan.hears if plan.way.kind == "native" else None
        return HeardText(ear, self._take_index, self._named, self._forbidden, unasked)

    def _named(self, event: Open, numbered: str) -> Open:
        return self._with_id(self._restored(event), numbered)

    def feed(self, *events: Event) -> list[Event]:
        out: list[Event] = []
        for event in events:
            if not self._ended:
                self._take(event, out)
        return out

    def _take(self, event: Event, out: list[Event]) -> None:
        if type(event) is Delta:
            if self._text is None or not self._text.delta(event, out):
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
            out.append(event)

    def close(self) -> list[Event]:
        return []

    # -- blocks

    def _open(self, event: Open, out: list[Event]) -> None:
        text = self._text
        if event.kind == "call":
            self._open_call(event, out)
        elif event.kind == "text" and text is not None and text.takes(event):
            text.open(event, out)
        else:
            if text is not None:
                text.rest(out)
            self._blocks[event.index] = index = self._take_index()
            out.append(event if index == event.index else msgspec.structs.replace(event, index=index))

    def _delta(self, event: Delta, out: list[Event]) -> None:
        index = self._blocks.get(event.index)
        if index is not None:
            out.append(event if index == event.index else Delta(index, event.text))
        elif event.index in self._native:
            call = self._native[event.index]
            call.pieces.append(event.text)
            if call.told is not None:
                out.append(Delta(call.told, event.text))

    def _close(self, event: Close, out: list[Event]) -> None:
        if self._text is not None and self._text.close(event, out):
            return
        index = self._blocks.pop(event.index, None)
        if index is not None:
            out.append(event if index == event.index else msgspec.structs.replace(event, index=index))
        elif event.index in self._native:
            self._end_call(self._native.pop(event.index), event, out)

    def _take_index(self) -> int:
        self._next += 1
        return self._next - 1

    def _with_id(self, event: Open, numbered: str) -> Open:
        """`numbered` is the id that a reader makes up; a number is none outside of one reply, and no id may come twice."""
        given = call_id = event.call_id or numbered
        if self._make_id is not None and given == numbered:
            call_id = self._make_id()
        turn = 0
        while call_id in self._ids:
            turn += 1
            call_id = self._make_id() if self._make_id is not None else f"{given}_{turn}"
        self._ids.add(call_id)
        return event if call_id == event.call_id else msgspec.structs.replace(event, call_id=call_id)

    # -- native calls

    def _open_call(self, event: Open, out: list[Event]) -> None:
        if self._text is not None:
            self._text.deafen(out)
        numbered = f"{event.name}_{self._opened}"
        self._opened += 1
        call = _NativeCall(self._named(event, numbered), [])
        self._native[event.index] = call
        if self._pass and self._may_be_told(call.open):
            self._calls += 1
            call.told = self._take_index()
            out.append(msgspec.structs.replace(call.open, index=call.told))

    def _restored(self, event: Open) -> Open:
        """Under the name that its tool was registered with."""
        tool = self._known.names.back(event.name or "", event.namespace)
        if tool is None:
            return event
        custom = tool.kind == "custom"
        if event.name == tool.name and event.namespace == tool.namespace and event.custom == custom:
            return event
        return msgspec.structs.replace(event, name=tool.name, namespace=tool.namespace, custom=custom)

    def _may_be_told(self, event: Open) -> bool:
        """Whether a call may leave before it is whole: not one that is known to be refused or mended."""
        known = event.full_name in self._known.by_name and event.full_name not in self._plan.filled
        return known and self._forbidden(event) is None and not (self._text is not None and self._text.called)

    def _end_call(self, call: _NativeCall, end: Close, out: list[Event]) -> None:
        said = _as_call(call, end)
        verdict = self._verdict(said, told=call.told is not None)
        self._cut = self._cut or not end.sealed
        if call.told is not None:
            out.append(self._told_end(call.told, said, end, verdict))
            return
        self._decisions += (*end.decisions, *verdict.decisions)
        left = verdict.call
        if left is None:
            return
        self._calls += 1
        index, opened = self._take_index(), call.open
        out.append(Open(index, "call", left.name, left.id, None, left.namespace, left.custom, opened.source, opened.extra))
        out.append(Delta(index, left.arguments_json))
        out.append(Close(index, True, (), end.extra, left.written, left.fixes))

    def _told_end(self, index: int, said: ToolCall, end: Close, verdict: Verdict) -> Close:
        """A call that has left can't be mended: the end says whether it holds as it is."""
        left = verdict.call
        decisions = (*end.decisions, *verdict.decisions)
        holds = left is not None and left.full_name == said.full_name and left.arguments_json == said.arguments_json
        if left is not None and not holds:
            code = "rejected_arguments" if loads_object(said.arguments_json) is None else "rejected_schema"
            why = f"it left as it was written, and would have to be mended ({', '.join(left.fixes) or 'as a whole'})"
            decisions = (*end.decisions, refused(said, code, why))
        self._calls -= not holds
        return msgspec.structs.replace(end, index=index, sealed=holds, decisions=decisions)

    def _verdict(self, said: ToolCall, *, told: bool = False) -> Verdict:
        if self._plan.choice is not None and self._plan.choice.mode == "none":
            return Verdict(None, (refused(said, "rejected_choice", "the request forbids calls"),))
        if not self._tools:
            return Verdict(None, (refused(said, "rejected_unknown_tool", "the request has no tools"),))
        said = self._unfilled(said)
        verdict = judge(said, self._tools, self._policy, position=self._calls)
        left = verdict.call
        if left is None:
            return verdict
        why = None
        if self._plan.choice is not None or self._plan.single:
            why = self._forbidden(Open(0, "call", left.name, namespace=left.namespace), told=told)
        if why is not None:
            return Verdict(None, (refused(said, "rejected_choice", why),))
        if self._text is not None and self._text.called and canonical(left) in self._text.called:
            why = f"{left.full_name}: the same call stood in the text, and has left"
            return Verdict(None, (Decision("merged_repeat", why, left),))
        return verdict

    def _unfilled(self, said: ToolCall) -> ToolCall:
        """Without the nulls that only strict mode asked for."""
        tool = self._known.by_name.get(said.full_name) if said.full_name in self._plan.filled else None
        held = loads_object(said.arguments_json) if tool is not None else None
        if tool is None or held is None or tool.schema is None:
            return said
        less = drop_filled_nulls(held, tool.schema)
        if less == held:
            return said
        return msgspec.structs.replace(said, arguments_json=dumps(less), written=said.raw)

    def _forbidden(self, event: Open, *, told: bool = False) -> str | None:
        """Why the caller does not allow a call of this tool. `told`: its beginning has left, and it counts already."""
        if self._plan.single and self._calls + (self._text.calls if self._text is not None else 0) > told:
            return "one call at a time is wanted, and another one was made"
        choice = self._plan.choice
        if choice is None:
            return None
        if choice.mode == "none":
            return "the request forbids calls"
        if choice.names and event.name not in choice.names and event.full_name not in choice.names:
            return f"only {', '.join(choice.names)} may be called"
        return None

    # -- the end

    def _flush(self, out: list[Event], *, broken: bool) -> int:
        """Everything is closed; how many calls left."""
        self._ended = True
        for index in self._blocks.values():
            out.append(Close(index, sealed=False))
        for call in self._native.values():
            self._end_call(call, Close(call.open.index, sealed=False), out)
        calls, text = self._calls, self._text
        if text is not None:
            text.end(out, broken=broken)
            self._decisions += text.decisions
            self._cut = self._cut or text.cut
            calls += text.calls
        self._text = None  # the two know each other: what a request took is freed at once, not when cycles are looked for
        return calls

    def _finish(self, event: Finish, out: list[Event]) -> None:
        calls = self._flush(out, broken=False)
        choice = self._plan.choice
        if choice is not None and choice.mode == "required" and not calls and self._known.callable:
            self._decisions.append(Decision("missing_call", "a call was required, and the model made none"))
        stop = self._stop(event.stop, calls)
        if not self._decisions and not self._plan.notes and stop is event.stop:
            out.append(event)
            return
        out.append(msgspec.structs.replace(event, stop=stop, decisions=self._all(event), notes=self._notes(event)))

    def _stop(self, stop: Stop, calls: int) -> Stop:
        """The reason follows the calls that left, whatever the provider's word was."""
        if stop.reason not in ("stop", "calls", "stop_sequence"):
            return stop
        reason = "length" if self._cut else "calls" if calls else "stop" if stop.reason == "calls" else stop.reason
        return stop if reason == stop.reason else msgspec.structs.replace(stop, reason=reason)

    def _fault(self, event: Fault, out: list[Event]) -> None:
        """Held text leaves first: what the model said is not lost because the line broke."""
        self._flush(out, broken=True)
        out.append(msgspec.structs.replace(event, decisions=self._all(event), notes=self._notes(event)))

    def _all(self, event: Finish | Fault) -> tuple[Decision, ...]:
        return (*event.decisions, *self._decisions)

    def _notes(self, event: Finish | Fault) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self._plan.notes, *event.notes)))


class _Known(msgspec.Struct, frozen=True):
    """The tools of a request, as the way back needs them."""

    names: Names
    by_name: dict[str, Tool]
    callable: Toolset  # all but those that a vendor's server runs
    sent: Toolset  # these, and under the names that the model was shown where the wire allows no others


def _known(tools: tuple[Tool, ...], key: tuple[str, NameRule]) -> _Known:
    ours = tuple(tool for tool in tools if tool.kind != "server")
    callable_ = tools if isinstance(tools, Toolset) and len(ours) == len(tools) else Toolset(ours)
    names, rule = Names(tools, key[1]), key[1]
    shown = [] if not names.changed else [_as_sent(tool, names, rule) for tool in ours]
    by_name = {tool.full_name: tool for tool in ours}
    others = [tool for tool in shown if tool.full_name not in by_name]
    return _Known(names, by_name, callable_, Toolset([*ours, *others]) if others else callable_)


def _as_sent(tool: Tool, names: Names, rule: NameRule) -> Tool:
    namespace = tool.namespace if rule.namespaces else None
    return msgspec.structs.replace(tool, name=names.out(tool.name, tool.namespace), namespace=namespace)


def _as_call(call: _NativeCall, end: Close) -> ToolCall:
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
