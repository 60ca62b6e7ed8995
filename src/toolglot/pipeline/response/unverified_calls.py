"""Calls that are streamed while the model writes them (`calls="pass"`), before they are validated.

What was sent can't be repaired. A call that needs repair is sent as written; its Close is not sealed and has the decision.
"""

from __future__ import annotations

import msgspec

from toolglot.core.messages import ToolCall
from toolglot.core.reply import Decision
from toolglot.core.tools import Tool, cached_for_toolset
from toolglot.grammars.call_streaming import CallStart, Step
from toolglot.io.block_builder import BlockBuilder
from toolglot.io.json_codec import loads_object
from toolglot.pipeline.response.call_validator import Verdict, reject


class UnverifiedCall(msgspec.Struct):
    """A call that is being streamed."""

    index: int
    position: int
    call: ToolCall
    pieces: list[str]


class UnverifiedCalls:
    """The streamed calls of one region."""

    __slots__ = ("_blocks", "_current", "_ids", "_source", "_streamed", "_tools")

    def __init__(self, blocks: BlockBuilder, tools: tuple[Tool, ...], ids: set[str]) -> None:
        self._blocks = blocks
        self._tools = cached_for_toolset(tools, "by full name", _by_name)
        self._ids = ids
        self._streamed: dict[int, UnverifiedCall] = {}
        self._current: UnverifiedCall | None = None
        self._source = ""

    def feed(self, steps: list[Step], source: str) -> None:
        self._source = source
        for step in steps:
            if isinstance(step, CallStart):
                self._current = self._begin(step) if self._may_stream(step.name) else None
            elif self._current is not None:
                self._current.pieces.append(step.text)
                self._blocks.call_text(self._current.index, step.text)

    def _may_stream(self, name: str) -> bool:
        """Calls of custom or namespaced tools change form, so they wait until they are complete."""
        tool = self._tools.get(name)
        return not self._tools or (tool is not None and tool.kind == "function" and tool.namespace is None)

    def _begin(self, step: CallStart) -> UnverifiedCall:
        position = self._blocks.calls
        call_id = step.id if step.id and step.id not in self._ids else f"{step.name}_{position}"
        self._ids.add(call_id)
        index = self._blocks.open_call(step.name, call_id, source=self._source)
        call = ToolCall(call_id, step.name, source=self._source)
        self._streamed[step.at] = started = UnverifiedCall(index, position, call, [])
        return started

    def pop(self, at: int, name: str) -> UnverifiedCall | None:
        """The streamed call number `at` of the region."""
        streamed = self._streamed.get(at)
        return self._streamed.pop(at) if streamed is not None and streamed.call.name == name else None

    def retract(self) -> None:
        """Close streamed calls that turned out not to be calls."""
        for streamed in self._streamed.values():
            # no arguments: how many were sent depends on chunk sizes
            call = msgspec.structs.replace(streamed.call, arguments_json="", sealed=False)
            rejected = reject(call, "rejected_malformed", "it starts like a call, but is not one")
            self._blocks.close_call(streamed.index, sealed=False, decisions=(rejected,), cut=False)
        self._streamed, self._current = {}, None

    def finish(self, streamed: UnverifiedCall, verdict: Verdict, more: tuple[Decision, ...] = ()) -> bool:
        """Close the call. True if it is valid as it was sent."""
        text = "".join(streamed.pieces)
        call = verdict.call
        if call is None:
            cut = any(decision.code == "rejected_truncated" for decision in verdict.decisions)
            self._blocks.close_call(streamed.index, sealed=False, decisions=verdict.decisions, cut=cut)
            return False
        arguments = loads_object(text)
        if arguments is not None and arguments == loads_object(call.arguments_json or "{}"):
            self._blocks.close_call(streamed.index, decisions=(*more, *verdict.decisions))
            return True
        code = "rejected_arguments" if arguments is None else "rejected_schema"
        why = f"it was sent as written, but needs repair ({', '.join(call.fixes) or 'as a whole'})"
        sent = msgspec.structs.replace(streamed.call, arguments_json=text)
        self._blocks.close_call(streamed.index, sealed=False, decisions=(reject(sent, code, why),), cut=False)
        return False

    def finish_duplicate(self, streamed: UnverifiedCall) -> None:
        why = f"{streamed.call.name}: the same call appears twice in one text"
        self._blocks.close_call(streamed.index, sealed=False, decisions=(Decision("duplicate_call", why),), cut=False)


def _by_name(tools: tuple[Tool, ...], _: str) -> dict[str, Tool]:
    return {tool.full_name: tool for tool in tools}
