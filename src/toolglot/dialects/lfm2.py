"""Written by LFM2 and LFM2.5: a list of Python calls, `<|tool_call_start|>[f(a=1)]<|tool_call_end|>`, or a JSON array."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.pythonic import MarkedPython
from toolglot.grammars.render_json import result_text, tool_array
from toolglot.grammars.render_python import python_calls

DIALECT = Dialect(
    name="lfm2",
    grammars=(MarkedPython("<|tool_call_start|>", "<|tool_call_end|>"),),
    render_tools=tool_array("List of tools: <|tool_list_start|>", "<|tool_list_end|>", wrapped=False),
    render_calls=python_calls("<|tool_call_start|>[", "]<|tool_call_end|>"),
    render_result=result_text("<|tool_response_start|>", "<|tool_response_end|>"),
    dropped=("<|tool_call_end|>", "<|im_end|>"),
    template_markers=(("<|tool_call_start|>",), ("<|tool_list_start|>",)),
    source="https://docs.liquid.ai/lfm/key-concepts/tool-use",
)
