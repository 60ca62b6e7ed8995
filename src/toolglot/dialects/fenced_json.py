"""Written by many models that drift from their format: each call as JSON in a fenced block."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.fences import JSON_FENCES
from toolglot.grammars.render_json import each_call, result_object, tool_lines

DIALECT = Dialect(
    name="fenced_json",
    grammars=(JSON_FENCES,),
    render_tools=tool_lines("", "", wrapped=False),
    render_calls=each_call("```json\n", "\n```", "\n\n"),
    render_result=result_object("```json\n", "\n```", "name", "content"),
    weak=True,
    template_hints=(("Action:", "```json"),),
    source="docs/reference/dialects.md",
)
