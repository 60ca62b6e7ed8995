"""A dialect: a grammar with its markers, how the family marks its reasoning, and how calls are put into a prompt."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from toolglot.core.messages import ToolCall, ToolResult
from toolglot.core.tools import Tool
from toolglot.grammars.heard import Grammar

THINK = ("<think>", "</think>")


class Dialect(msgspec.Struct, frozen=True):
    name: str
    grammars: tuple[Grammar, ...]  # the first is the one that it renders; others are read as well
    render_tools: Callable[[tuple[Tool, ...]], str]  # for the system prompt: what there is, as the family has it
    render_calls: Callable[[tuple[ToolCall, ...]], str]  # an assistant's calls, exactly as the family's template has them
    render_result: Callable[[ToolResult], str]
    reasoning: tuple[tuple[str, str], ...] = (THINK,)  # how thoughts begin and end
    dropped: tuple[str, ...] = ()  # markers of the template around plain text, which are no text
    weak: bool = False  # no marker of its own: prose may look like it (bare JSON, a call expression)
    source: str = ""  # where the format is documented
