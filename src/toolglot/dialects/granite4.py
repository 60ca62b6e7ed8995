"""Written by Granite 4.x: the Hermes format; text is allowed before, between and after calls."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import each_call, result_text, tool_lines
from toolglot.grammars.tagged_json import TOOL_CALL

DIALECT = Dialect(
    name="granite4",
    grammars=(TOOL_CALL,),
    render_tools=tool_lines(),
    render_calls=each_call("<tool_call>\n", "\n</tool_call>"),
    render_result=result_text("<tool_response>\n", "\n</tool_response>"),
    template_markers=(("<|start_of_role|>", "<tool_call>"),),
    source="https://www.ibm.com/granite/docs/models/granite",
)
