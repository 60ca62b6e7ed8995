"""The same call twice in one text: a model says it again, and it counts once. But who rolls two dice calls twice."""

from __future__ import annotations

import re

from toolglot.core.messages import ToolCall
from toolglot.core.tools import Tool
from toolglot.pipeline.guard_calls import canonical

_OF_CHANCE = re.compile(r"(?<![^\W_])(?:random|roll|dice|toss|flip|shuffle|uuid)", re.IGNORECASE)


class Repeats:
    """What was called in a text. Native calls are no text: they are never asked about."""

    def __init__(self, tools: tuple[Tool, ...]) -> None:
        self._tools = tools
        self._called: set[tuple[str, str]] = set()

    def __contains__(self, call: ToolCall) -> bool:
        if canonical(call) not in self._called:
            return False
        return not any(brings_something_new(tool) for tool in self._tools if tool.full_name == call.full_name)

    def add(self, call: ToolCall) -> None:
        self._called.add(canonical(call))


def brings_something_new(tool: Tool) -> bool:
    """Each time, with the same arguments too."""
    return _OF_CHANCE.search(f"{tool.name} {tool.description or ''}") is not None
