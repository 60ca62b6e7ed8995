"""How a dialect's calls are written, as parts of a grammar. The renderers make them, so that both come from one declaration."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

from toolglot.core.messages import ToolCall
from toolglot.core.tools import Tool
from toolglot.grammars.gbnf import EMPTY, MAX_CALLS, Rules, either, join, literal

INDEX = "[0-9]{1,3}"
ID = r'"\"" [a-zA-Z0-9_.:-]{1,64} "\""'


class CallRules(NamedTuple):
    """`opener`, then for each call `start`, its name and the rest. `between` and `closer` are expressions."""

    marker: str  # the part of opener and start that shows that a call begins
    opener: str
    start: str
    calls: dict[str, tuple[str, str]]  # for each tool: the text with its name, and the expression after it
    between: str
    closer: str = EMPTY
    by_name: bool = False  # only with a tool's name
    alone: bool = False  # one call may stand without opener and closer

    def whole(self, rules: Rules, *, parallel: bool) -> str:
        """The expression for an answer that is only calls."""
        options = [join(literal(marker), rest) for marker, rest in self.begun(rules, parallel=parallel).items()]
        return either([*options, *([self._call(rules)] if self.alone else [])])

    def _call(self, rules: Rules) -> str:
        return rules.add("call", either(join(literal(text), rest) for text, rest in self.calls.values()))

    def begun(self, rules: Rules, *, parallel: bool) -> dict[str, str]:
        """The expressions that follow a marker, for each marker."""
        whole = self._call(rules)
        more = f"({join(self.between, literal(self.start), whole)}){{0,{MAX_CALLS - 1}}}" if parallel else ""
        end = join(more, self.closer)
        before = self.opener + self.start
        if not self.by_name:
            return {self.marker: join(literal(before[len(self.marker) :]), whole, end)}
        found = {}
        for text, rest in self.calls.values():
            head = before + text
            marker = head.rstrip()
            found[marker] = join(literal(head[len(marker) :]), rest, end)
        return found

    def fixed_text(self) -> str:
        """All text that the dialect writes around values, to find its tokens."""
        return "\n".join([self.opener + self.start, *(text + rest for text, rest in self.calls.values()), self.closer])


@runtime_checkable
class CallForm(Protocol):
    """A renderer that can also give the rules of what it renders."""

    def __call__(self, calls: tuple[ToolCall, ...], /) -> str: ...
    def rules(self, rules: Rules, tools: tuple[Tool, ...], /) -> CallRules: ...
