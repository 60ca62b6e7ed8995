"""Stage that validates calls: only calls that match a registered tool, its schema and the request's tool choice pass.

Calls from text were validated when they were parsed. Native calls are buffered until they are complete, and sent in the order
in which they were opened. Under `calls="pass"` a call is streamed, and its Close reports whether it is valid.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from toolglot.core.budget import Budget, BudgetSpent
from toolglot.core.events import Close, Delta, Fault, Finish, Open, StageEvent, WholeCall
from toolglot.core.messages import ToolCall
from toolglot.core.reply import Decision
from toolglot.core.tools import Tool, Toolset
from toolglot.io.json_codec import dumps, loads_object
from toolglot.pipeline.request.plan import Plan
from toolglot.pipeline.response.call_validator import Policy, UnsupportedSchemas, Verdict, call_key, reject, validate_call
from toolglot.schema.fitting import drop_filled_nulls

Calls = Literal["hold", "pass", "off"]  # off: calls are neither searched for nor validated


class _Block(msgspec.Struct):
    """A call that is being received. `streams`: it is sent as it arrives. `output`: the events to send once it is complete."""

    opened: Open
    streams: bool = False
    forbidden: str | None = None
    pieces: list[str] = []
    output: list[StageEvent] | None = None

    def call(self, end: Close) -> ToolCall:
        opened = self.opened
        return ToolCall(
            opened.call_id or "",
            opened.name or "",
            "".join(self.pieces) or "{}",
            opened.namespace,
            opened.custom,
            end.sealed,
            opened.source,
            end.written,
            end.fixes,
            opened.extra,
        )


class ValidateCalls:
    def __init__(
        self,
        plan: Plan,
        tools: Toolset,
        by_name: dict[str, Tool],
        policy: Policy,
        calls: Calls,
        *,
        budget: Budget | None = None,
        schemas: UnsupportedSchemas = "reject",
    ) -> None:
        self._plan, self._tools, self._by_name = plan, tools, by_name
        self._policy: Policy = policy
        self._budget = budget or Budget()
        self._schemas: UnsupportedSchemas = schemas
        self._pass = calls == "pass"
        self.blocks: dict[int, _Block] = {}  # open calls, in the order of their opening
        self._count = 0  # calls that were sent
        self._from_text: set[tuple[str, str]] = set()
        self._decisions: list[Decision] = []

    def feed(self, events: list[StageEvent]) -> list[StageEvent]:
        out: list[StageEvent] = []
        for event in events:
            kind = type(event)
            if kind is Delta:
                block = self.blocks.get(event.index)  # type: ignore[union-attr]
                if block is not None:
                    block.pieces.append(event.text)  # type: ignore[union-attr]
                if block is None or block.streams:
                    out.append(event)
            elif kind is Open and event.kind == "call":  # type: ignore[union-attr]
                self._open(event, out)  # type: ignore[arg-type]
            elif kind is Close and event.index in self.blocks:  # type: ignore[union-attr]
                self._close(event, out)  # type: ignore[arg-type]
            elif kind is WholeCall:
                self._from_parser(event, out)  # type: ignore[arg-type]
            elif kind is Finish or kind is Fault:
                self._end(event, out)  # type: ignore[arg-type]
            else:
                out.append(event)
        return out

    # -- native calls, and streamed calls from text

    def _open(self, event: Open, out: list[StageEvent]) -> None:
        forbidden = self._forbidden(event.name or "", event.full_name)
        streams = forbidden is None and (event.source != "native" or (self._pass and self._may_stream(event)))
        self.blocks[event.index] = _Block(event, streams, forbidden, [])
        if streams:
            self._count += 1
            out.append(event)

    def _may_stream(self, event: Open) -> bool:
        """False if the call is known to be rejected or changed, or if a call before it is buffered."""
        known = event.full_name in self._by_name and event.full_name not in self._plan.filled
        return known and not self._from_text and all(block.streams for block in self.blocks.values())

    def _close(self, end: Close, out: list[StageEvent]) -> None:
        block = self.blocks[end.index]
        call = block.call(end)
        if block.opened.source != "native":
            block.output = self._parsed_end(block, call, end)
        elif block.streams:
            block.output = [self._streamed_end(call, end)]
        else:
            verdict = self._verdict(call)
            self._decisions += (*end.decisions, *verdict.decisions)
            self._count += verdict.call is not None
            block.output = [] if verdict.call is None else [WholeCall(end.index, verdict.call, end.extra)]
        while self.blocks:
            first = next(iter(self.blocks))
            output = self.blocks[first].output
            if output is None:
                return
            out += output
            del self.blocks[first]

    def _streamed_end(self, call: ToolCall, end: Close) -> Close:
        """What was sent can't be repaired: the Close reports whether the call is valid as it is."""
        self._count -= 1  # don't count the call itself
        verdict = self._verdict(call)
        valid, decisions = verdict.call, (*end.decisions, *verdict.decisions)
        is_same = valid is not None and valid.full_name == call.full_name and valid.arguments_json == call.arguments_json
        if valid is not None and not is_same:
            code = "rejected_arguments" if loads_object(call.arguments_json) is None else "rejected_schema"
            why = f"it was sent as written, but needs repair ({', '.join(valid.fixes) or 'as a whole'})"
            decisions = (*end.decisions, reject(call, code, why))
        self._count += is_same
        return msgspec.structs.replace(end, sealed=is_same, decisions=decisions)

    def _parsed_end(self, block: _Block, call: ToolCall, end: Close) -> list[StageEvent]:
        if block.forbidden is not None:
            rejected = (reject(call, "rejected_choice", block.forbidden),) if end.sealed else end.decisions
            self._decisions += rejected
            return []
        if end.sealed:
            self._from_text.add(call_key(call))
        else:
            self._count -= 1
        return [end]

    def _verdict(self, call: ToolCall) -> Verdict:
        if not self._tools:
            return Verdict(None, (reject(call, "rejected_unknown_tool", "the request has no tools"),))
        try:
            call = self._without_filled(call)
        except BudgetSpent as spent:
            return Verdict(None, (reject(call, "rejected_limit", str(spent)),))
        verdict = validate_call(
            call, self._tools, self._policy, position=self._count, budget=self._budget, schemas=self._schemas
        )
        valid = verdict.call
        if valid is None:
            return verdict
        forbidden = self._forbidden(valid.name, valid.full_name)
        if forbidden is not None:
            return Verdict(None, (reject(call, "rejected_choice", forbidden),))
        if self._from_text and call_key(valid) in self._from_text:
            why = f"{valid.full_name}: the same call was parsed from the text and sent"
            return Verdict(None, (Decision("duplicate_call", why, valid),))
        return verdict

    def _without_filled(self, call: ToolCall) -> ToolCall:
        """Drop the nulls that only the strict schema requires."""
        tool = self._by_name.get(call.full_name) if call.full_name in self._plan.filled else None
        arguments = loads_object(call.arguments_json) if tool is not None else None
        if tool is None or arguments is None or tool.schema is None:
            return call
        cleaned = drop_filled_nulls(arguments, tool.schema, self._budget)
        if cleaned == arguments:
            return call
        return msgspec.structs.replace(call, arguments_json=dumps(cleaned), written=call.raw)

    # -- whole calls from text

    def _from_parser(self, event: WholeCall, out: list[StageEvent]) -> None:
        call = event.call
        forbidden = self._forbidden(call.name, call.full_name)
        if forbidden is not None:
            self._decisions.append(reject(call, "rejected_choice", forbidden))
            return
        self._count += 1
        self._from_text.add(call_key(call))
        out.append(event)

    # -- both

    def _forbidden(self, name: str, full_name: str) -> str | None:
        """The reason if the request does not allow a call of this tool."""
        choice = self._plan.choice
        if choice is not None and choice.mode == "none":
            return "the request forbids calls"
        if self._plan.single and self._count:
            return "the request allows one call at a time, and there is one already"
        if choice is not None and choice.names and name not in choice.names and full_name not in choice.names:
            return f"only {', '.join(choice.names)} may be called"
        return None

    def _end(self, event: Finish | Fault, out: list[StageEvent]) -> None:
        for index in list(self.blocks):
            if self.blocks[index].output is None:
                self._close(Close(index, sealed=False), out)
        if self._decisions:
            event = msgspec.structs.replace(event, decisions=(*event.decisions, *self._decisions))
        out.append(event)
