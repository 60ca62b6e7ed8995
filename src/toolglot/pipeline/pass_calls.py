"""Calls that leave while they are still being written (`calls="pass"`): their end carries the verdict.

What has left can't be mended. So a call that would have to be is told as it came, and its Close says that it does not hold: it
is not sealed, and a decision says why.
"""

from __future__ import annotations

import msgspec

from toolglot.core.messages import ToolCall
from toolglot.core.reply import Decision
from toolglot.core.tools import Tool, made_once
from toolglot.grammars.unfolding import Begun, Step
from toolglot.pipeline.guard_calls import Verdict, refused
from toolglot.reading.blocks import Blocks
from toolglot.text.json_text import loads_object


class Told(msgspec.Struct):
    """A call whose beginning has left."""

    index: int
    position: int
    call: ToolCall
    pieces: list[str]


class Telling:
    """The calls of one region, as far as they were told."""

    __slots__ = ("_blocks", "_ids", "_now", "_source", "_told", "_tools")

    def __init__(self, blocks: Blocks, tools: tuple[Tool, ...], ids: set[str]) -> None:
        self._blocks = blocks
        self._tools = made_once(tools, "by full name", _by_name)
        self._ids = ids
        self._told: dict[int, Told] = {}
        self._now: Told | None = None
        self._source = ""

    def take(self, steps: list[Step], source: str) -> None:
        self._source = source
        for step in steps:
            if isinstance(step, Begun):
                self._now = self._begin(step) if self._passes(step.name) else None
            elif self._now is not None:
                self._now.pieces.append(step.text)
                self._blocks.call_text(self._now.index, step.text)

    def _passes(self, name: str) -> bool:
        """A tool of another kind is spoken to in its own way, and waits until the call is whole."""
        tool = self._tools.get(name)
        return not self._tools or (tool is not None and tool.kind == "function" and tool.namespace is None)

    def _begin(self, step: Begun) -> Told:
        position = self._blocks.calls
        call_id = step.id if step.id and step.id not in self._ids else f"{step.name}_{position}"
        self._ids.add(call_id)
        index = self._blocks.open_call(step.name, call_id, source=self._source)
        told = self._told[step.at] = Told(index, position, ToolCall(call_id, step.name, source=self._source), [])
        return told

    def pop(self, at: int, name: str) -> Told | None:
        """What was told of the region's call number `at`."""
        told = self._told.get(at)
        return self._told.pop(at) if told is not None and told.call.name == name else None

    def withdraw(self) -> None:
        """What was told and is no call after all."""
        for told in self._told.values():
            call = msgspec.structs.replace(told.call, arguments_json="", sealed=False)  # how far it got is chance
            why = "it began like a call, and did not go on like one"
            self._blocks.close_call(told.index, sealed=False, decisions=(refused(call, "rejected_malformed", why),), cut=False)
        self._told, self._now = {}, None

    def end(self, told: Told, verdict: Verdict, more: tuple[Decision, ...] = ()) -> bool:
        """Closes it; whether the call holds as it was told."""
        text = "".join(told.pieces)
        call = verdict.call
        if call is None:
            cut = any(decision.code == "rejected_truncated" for decision in verdict.decisions)
            self._blocks.close_call(told.index, sealed=False, decisions=verdict.decisions, cut=cut)
            return False
        held = loads_object(text)
        if held is not None and held == loads_object(call.arguments_json or "{}"):
            self._blocks.close_call(told.index, decisions=(*more, *verdict.decisions))
            return True
        code = "rejected_arguments" if held is None else "rejected_schema"
        why = f"it left as it was written, and would have to be mended ({', '.join(call.fixes) or 'as a whole'})"
        said = msgspec.structs.replace(told.call, arguments_json=text)
        self._blocks.close_call(told.index, sealed=False, decisions=(refused(said, code, why),), cut=False)
        return False

    def repeated(self, told: Told) -> None:
        why = f"{told.call.name}: the same call stood twice in one text"
        self._blocks.close_call(told.index, sealed=False, decisions=(Decision("merged_repeat", why),), cut=False)


def _by_name(tools: tuple[Tool, ...], _: str) -> dict[str, Tool]:
    return {tool.full_name: tool for tool in tools}
