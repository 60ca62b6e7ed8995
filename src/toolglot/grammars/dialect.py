"""A dialect: grammars with their markers, how reasoning is marked, and how tools, calls and results are written in a prompt."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from toolglot.core.messages import ToolCall, ToolResult
from toolglot.core.tools import Tool
from toolglot.grammars.parsed_call import Grammar

THINK = ("<think>", "</think>")

# A chat template is recognized by these. Each entry is an alternative; all its texts must be in the template. If several
# dialects match, the longest entry wins, so a format that others extend comes last.
TemplateMarkers = tuple[tuple[str, ...], ...]


class Dialect(msgspec.Struct, frozen=True):
    name: str
    grammars: tuple[Grammar, ...]  # the first is the one that `render_calls` writes; the others are parsed too
    render_tools: Callable[[tuple[Tool, ...]], str]  # the tools, for the system prompt, as the model's template writes them
    render_calls: Callable[[tuple[ToolCall, ...]], str]  # an assistant's calls, exactly as the model's template writes them
    render_result: Callable[[ToolResult], str]
    reasoning: tuple[tuple[str, str], ...] = (THINK,)  # markers around reasoning
    dropped: tuple[str, ...] = ()  # markers that the template puts around plain text: removed from it
    weak: bool = False  # it has no marker, and ordinary text may look like it (bare JSON, a call expression)
    template_markers: TemplateMarkers = ()  # texts that no other dialect's templates have
    template_hints: TemplateMarkers = ()  # other templates may have them too: used only if no dialect's markers match
    source: str = ""  # where the format is documented
