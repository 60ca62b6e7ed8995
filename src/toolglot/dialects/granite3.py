"""Written by Granite 3.x: `<|tool_call|>` and one array, with no end marker; some models write the tag without bars."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import PLAIN_RESULT, one_array, tool_array
from toolglot.grammars.tagged_json import TOOL_CALL, TOOL_CALL_TOKEN

DIALECT = Dialect(
    name="granite3",
    grammars=(TOOL_CALL_TOKEN, TOOL_CALL),
    render_tools=tool_array(wrapped=False),
    render_calls=one_array("<|tool_call|>[", "]"),
    render_result=PLAIN_RESULT,
    dropped=("<|end_of_text|>",),
    template_markers=(("<|tool_call|>",),),
    source="https://www.ibm.com/granite/docs/models/granite",
)
