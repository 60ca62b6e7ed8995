"""Written by Jamba 1.5 and later, and Apriel: one array in `<tool_calls>` tags."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import one_array, result_text, tool_lines
from toolglot.grammars.tagged_json import TOOL_CALLS
from toolglot.grammars.tagged_python import TaggedPython

DIALECT = Dialect(
    name="jamba",
    grammars=(TOOL_CALLS, TaggedPython("<tool_calls>", "</tool_calls>")),
    render_tools=tool_lines("<tool_definitions>\n", "\n</tool_definitions>"),
    render_calls=one_array("<tool_calls>[", "]</tool_calls>", between=",\n"),
    render_result=result_text("<|tool|> ", ""),
    dropped=("[BEGIN FINAL RESPONSE]",),
    template_hints=(("<tool_calls>",),),
    source="https://docs.ai21.com/docs/jamba-function-calling",
)
