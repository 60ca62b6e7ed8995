"""Written by Granite-20B-FunctionCalling: `<function_call>` before each object, with no end marker."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import each_call, result_text, tool_array
from toolglot.grammars.tagged_json import TaggedJson
from toolglot.grammars.tagged_python import TaggedPython

DIALECT = Dialect(
    name="granite_20b_fc",
    grammars=(TaggedJson(("<function_call>",)), TaggedPython("<function_call>", "</function_call>")),
    render_tools=tool_array("<|function_call_library|>\n", wrapped=False),
    render_calls=each_call("<function_call> ", ""),
    render_result=result_text("<function_response> ", ""),
    template_hints=(("<function_call>",),),
    source="https://huggingface.co/ibm-granite/granite-20b-functioncalling",
)
