"""Granite 3.x: `<|tool_call|>` and one array, with no end marker; some write the plain tag."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import one_array, result_text, tool_array
from toolglot.grammars.tagged_json import TOOL_CALL, TaggedJson

DIALECT = Dialect(
    name="granite3",
    grammars=(TaggedJson(("<|tool_call|>",)), TOOL_CALL),
    render_tools=tool_array(
        "<|start_of_role|>available_tools<|end_of_role|>",
        "<|end_of_text|>",
        'To call functions, write <|tool_call|> and an array:\n<|tool_call|>[{"name": "...", "arguments": {...}}]',
        wrapped=False,
    ),
    render_calls=one_array("<|tool_call|>[", "]"),
    render_result=result_text("<|start_of_role|>tool_response<|end_of_role|>", "<|end_of_text|>"),
    dropped=("<|end_of_text|>",),
    source="https://www.ibm.com/granite/docs/models/granite",
)
