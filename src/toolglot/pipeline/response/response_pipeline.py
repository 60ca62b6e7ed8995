"""The response pipeline: the upstream's events pass a chain of stages and come out as the events for the client.

    parse text -> assign ids -> restore names -> validate -> ground -> finish

Each stage takes a batch of events and returns a batch; Finish or Fault is the last event. A stage that a request does not
need is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Literal

import msgspec

from toolglot.core.budget import Budget
from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, StageEvent, WholeCall
from toolglot.core.fold import unfold_part
from toolglot.core.interfaces import Stage
from toolglot.core.names import NameMap, NameRule
from toolglot.core.reply import Decision, Stop
from toolglot.core.tools import Tool, Toolset, cached_for_toolset
from toolglot.pipeline.request.constrained import ConstrainedExtractor
from toolglot.pipeline.request.plan import Plan
from toolglot.pipeline.response.call_ids import AssignIds
from toolglot.pipeline.response.call_validator import Policy, UnsupportedSchemas, reject
from toolglot.pipeline.response.extract import StreamExtractor, toolset
from toolglot.pipeline.response.grounding import Grounding
from toolglot.pipeline.response.restore_names import RestoreNames
from toolglot.pipeline.response.text_block_extractor import TextBlockExtractor
from toolglot.pipeline.response.validate_calls import Calls, ValidateCalls


class ResponsePipeline:
    """`make_id` creates an id for a call that has none from its provider."""

    def __init__(
        self,
        plan: Plan,
        *,
        policy: Policy = "balanced",
        calls: Calls = "hold",
        make_id: Callable[[], str] | None = None,
        schemas: UnsupportedSchemas = "reject",
    ) -> None:
        self._budget, self._schemas = Budget(), schemas
        tools = toolset(plan.tools)
        views: _ToolViews = cached_for_toolset(tools, ("tool views", plan.route.wire.names), _tool_views)
        self._constrained: ConstrainedExtractor | None = None
        self._parse: TextBlockExtractor | None = None
        callable_, shown = views.of(tools)
        if plan.text_dialect is not None and callable_ and calls != "off":
            self._parse = self._parser(plan, callable_, shown, policy, calls)
        self._identify: list[Stage] = [AssignIds(make_id), RestoreNames(views.names)]
        self._check: list[Stage] = []
        self._open_calls: Container[int] = ()
        if calls != "off":
            validate = ValidateCalls(plan, tools, views.by_name, policy, calls, budget=self._budget, schemas=schemas)
            self._check.append(validate)
            self._open_calls = validate.blocks
        if plan.grounding is not None and calls == "hold" and policy != "eager":
            self._check.append(GroundCalls(plan.grounding, views.by_name))
        self.sent = FinishReply(plan, has_tools=bool(callable_))
        self._ended = False

    def _parser(
        self, plan: Plan, callable_: Toolset, shown: Toolset, policy: Policy, calls: Literal["hold", "pass"]
    ) -> TextBlockExtractor:
        if plan.tool_mode.kind == "constrained":
            self._constrained = ConstrainedExtractor(callable_, policy)
            self._constrained.budget, self._constrained.schemas = self._budget, self._schemas
            self._constrained.reasoning = plan.route.profile.reasoning
            return TextBlockExtractor(self._constrained)
        is_native = plan.tool_mode.kind == "native"
        tools = shown if is_native else callable_
        dialect = plan.text_dialect or "auto"
        extractor = StreamExtractor(
            tools,
            messages=plan.given,
            dialect=dialect,
            policy=policy,
            calls=calls,
            nonce=plan.nonce,
            weak_forms=plan.weak_forms,
        )
        extractor.reports_named = is_native
        extractor.budget, extractor.schemas = self._budget, self._schemas
        return TextBlockExtractor(extractor)

    @property
    def no_tool(self) -> bool:
        """The model answered `no_tool`: `Plan.plain` must be sent for the text answer."""
        return self._constrained is not None and self._constrained.no_tool

    def may_validate(self, events: list[Event]) -> bool:
        """Whether a call may be complete after these events. The text of a native call only adds to it."""
        return any(type(event) is not Delta or (self._parse is not None and self._parse.scans(event.index)) for event in events)

    def feed(self, events: list[Event]) -> list[Event]:
        if self._ended or not events:
            return []
        self._ended = type(events[-1]) in (Finish, Fault)
        batch: list[StageEvent] = [*events] if self._parse is None else self._parse.feed(events)
        alone = batch[0] if len(batch) == 1 else None
        if type(alone) is not Delta:  # which has no id and no name
            for stage in self._identify:
                batch = stage.feed(batch)
        if type(alone) is not Delta or alone.index in self._open_calls:
            for stage in self._check:
                batch = stage.feed(batch)
        return self.sent.feed(batch)


class GroundCalls:
    """Stage that rejects calls of a small model that are not related to the conversation."""

    def __init__(self, grounding: Grounding, by_name: dict[str, Tool]) -> None:
        self._grounding, self._by_name = grounding, by_name
        self._decisions: list[Decision] = []

    def feed(self, events: list[StageEvent]) -> list[StageEvent]:
        out: list[StageEvent] = []
        for event in events:
            if type(event) is WholeCall:
                tool = self._by_name.get(event.call.full_name)
                rejection = None if tool is None else self._grounding.rejection(event.call, tool)
                if rejection is not None:
                    self._decisions.append(reject(event.call, *rejection))
                    continue
            elif isinstance(event, Finish | Fault) and self._decisions:
                event = msgspec.structs.replace(event, decisions=(*event.decisions, *self._decisions))
            out.append(event)
        return out


class FinishReply:
    """Last stage: numbers blocks without gaps, turns whole calls into events, and sets the stop reason by the calls."""

    def __init__(self, plan: Plan, *, has_tools: bool) -> None:
        self._plan = plan
        self._has_tools = has_tools
        self._indices: dict[int, int] = {}
        self.calls = 0  # sent to the client
        self.decisions: list[Decision] = []  # all, with those of single calls; complete after the last event
        self._is_call: set[int] = set()
        self._truncated = False
        self.blocks = 0  # sent to the client
        self.characters = 0  # of all deltas that were sent

    def feed(self, events: list[StageEvent]) -> list[Event]:
        out: list[Event] = []
        for event in events:
            if type(event) is Delta:
                index = self._indices[event.index]
                self.characters += len(event.text)
                out.append(event if index == event.index else Delta(index, event.text))
            elif isinstance(event, Open):
                index = self._take_index(event.index)
                if event.kind == "call":
                    self.calls += 1
                    self._is_call.add(event.index)
                out.append(event if index == event.index else msgspec.structs.replace(event, index=index))
            elif isinstance(event, Close):
                out.append(self._closed(event))
            elif isinstance(event, WholeCall):
                self.calls += 1
                self.characters += len(event.call.arguments_json)
                out += unfold_part(self._take_index(event.index), event.call)
                del self._indices[event.index]
                if event.extra:
                    out[-1] = msgspec.structs.replace(out[-1], extra=event.extra)
            elif isinstance(event, Finish):
                self._close_all(out)
                out.append(self._finished(event))
            elif isinstance(event, Fault):
                self._close_all(out)
                out.append(msgspec.structs.replace(event, notes=self._notes(event)))
            else:
                out.append(event)
        return out

    def _take_index(self, upstream_index: int) -> int:
        self._indices[upstream_index] = index = self.blocks
        self.blocks += 1
        return index

    def _closed(self, event: Close) -> Close:
        self.decisions += event.decisions
        index = self._indices.pop(event.index)
        if event.index in self._is_call and not event.sealed:
            self.calls -= 1
            self._truncated = self._truncated or any(one.code == "rejected_truncated" for one in event.decisions)
        return event if index == event.index else msgspec.structs.replace(event, index=index)

    def _close_all(self, out: list[Event]) -> None:
        for index in self._indices.values():
            out.append(Close(index, sealed=False))

    def _finished(self, event: Finish) -> Finish:
        decisions = (*self._plan.decisions, *event.decisions) if self._plan.decisions else event.decisions
        choice = self._plan.choice
        if choice is not None and choice.mode == "required" and not self.calls and self._has_tools:
            decisions = (*decisions, Decision("missing_call", "a call is required, but the model made none"))
        self.decisions += decisions
        stop = self._stop(event.stop, decisions)
        if stop is event.stop and decisions is event.decisions and not self._plan.notes:
            return event
        return msgspec.structs.replace(event, stop=stop, decisions=decisions, notes=self._notes(event))

    def _stop(self, stop: Stop, decisions: tuple[Decision, ...]) -> Stop:
        """The stop reason by the calls that were sent, not by the provider's stop reason."""
        if stop.reason not in ("stop", "calls", "stop_sequence"):
            return stop
        truncated = self._truncated or any(decision.code == "rejected_truncated" for decision in decisions)
        reason = "length" if truncated else "calls" if self.calls else "stop" if stop.reason == "calls" else stop.reason
        return stop if reason == stop.reason else msgspec.structs.replace(stop, reason=reason)

    def _notes(self, event: Finish | Fault) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self._plan.notes, *event.notes)))


class _ToolViews(msgspec.Struct, frozen=True):
    """The tools of a request in the forms that the stages need."""

    names: NameMap
    by_name: dict[str, Tool]
    callable: Toolset | None  # without the provider's server tools
    shown: Toolset | None  # the same, and under their sanitized names where the wire needs those

    def of(self, tools: Toolset) -> tuple[Toolset, Toolset]:
        """`callable` and `shown`. They are None where they are `tools`: these have the views in their cache, and a cycle of
        references would keep both until garbage is collected.
        """
        callable_ = tools if self.callable is None else self.callable
        return callable_, callable_ if self.shown is None else self.shown


def _tool_views(tools: tuple[Tool, ...], key: tuple[str, NameRule]) -> _ToolViews:
    ours = tuple(tool for tool in tools if tool.kind != "server")
    callable_ = None if len(ours) == len(tools) else Toolset(ours)
    names, rule = NameMap(tools, key[1]), key[1]
    shown = [] if not names.changed else [_as_shown(tool, names, rule) for tool in ours]
    by_name = {tool.full_name: tool for tool in ours}
    others = [tool for tool in shown if tool.full_name not in by_name]
    return _ToolViews(names, by_name, callable_, Toolset([*ours, *others]) if others else None)


def _as_shown(tool: Tool, names: NameMap, rule: NameRule) -> Tool:
    namespace = tool.namespace if rule.namespaces else None
    return msgspec.structs.replace(tool, name=names.out(tool.name, tool.namespace), namespace=namespace)
