"""What the gate for still smaller models finds due: the tools that are called for, and what may be done in place of another."""

from __future__ import annotations

from functools import cached_property

from toolglot.core.tools import Tool
from toolglot.pipeline.conversation import Conversation
from toolglot.pipeline.gate import Verdict, gate
from toolglot.pipeline.ranked_tools import ALL_ABOUT, NAMED, Ranked
from toolglot.pipeline.several_calls import Calls
from toolglot.pipeline.so_far import SoFar

FEW_TOOLS = 8
MOST_TOLD = 5  # calls or values that a reason tells of


class Due:
    """Asked when it is first needed, and then once."""

    def __init__(self, spoken: Conversation, so_far: SoFar, tools: tuple[Tool, ...]) -> None:
        self._spoken, self._so_far, self._tools = spoken, so_far, tools

    def instead(self, refused: Tool) -> str:
        """What may be done in place of a call: one of a tool for which the question has all, or a question."""
        best = self.best
        if best is None or best.tool.full_name == refused.full_name:
            return "ask the user for it"
        return f"ask the user for it, or call {best.tool.full_name}, if that is meant: it needs nothing that was not said"

    @property
    def gate_opens(self) -> bool:
        return self._gated is None or bool(self._gated.calls)

    @property
    def plainly(self) -> bool:
        """One tool is, which is spoken of, or finds a value that nobody says by chance."""
        return self.best is not None and (self.best.overlap >= NAMED or self.best.filled.sharp)

    @property
    def to_call(self) -> str:
        """What is to be called. Its arguments are the model's to find: told some, it copies them, wrong ones too."""
        return "" if self.best is None else f": call {self.best.tool.full_name}"

    @property
    def best(self) -> Ranked | None:
        """The only tool that the gate finds due, where the question has all that it needs, or is all about it."""
        near = self._gated.calls[0] if self._gated is not None and self._gated.calls else ()
        if len(near) != 1 or not near[0].is_full:
            return None
        return near[0] if near[0].filled.found or near[0].overlap >= ALL_ABOUT else None

    @cached_property
    def asks_alone(self) -> bool:
        """The gate knows one question in English and a few tools. Of anything else it is not asked."""
        return len(self._so_far.asked) == 1 and len(self._tools) <= FEW_TOOLS and self._spoken.is_english

    @cached_property
    def calls(self) -> Calls:
        """All the calls that the gate would make."""
        return gate(self._tools, self._so_far.asked).calls

    @cached_property
    def _gated(self) -> Verdict | None:
        return gate(self._tools, self._so_far.asked, several=False) if self.asks_alone else None
