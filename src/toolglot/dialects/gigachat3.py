"""Written by GigaChat 3 and 3.1: one object after `<|function_call|>`, in 3.0 after a message header; a single call."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import PLAIN_RESULT, each_call, tool_array
from toolglot.grammars.tagged_json import TaggedJson

DIALECT = Dialect(
    name="gigachat3",
    grammars=(TaggedJson(("<|function_call|>", "<|message_sep|>\n\nfunction call<|role_sep|>", "function call<|role_sep|>")),),
    render_tools=tool_array(wrapped=False),
    render_calls=each_call("<|function_call|>", "", ""),
    render_result=PLAIN_RESULT,
    dropped=("<|message_sep|>",),
    template_markers=(("<|function_call|>",), ("function call<|role_sep|>",)),
    source="https://huggingface.co/ai-sage/GigaChat3-10B-A1.8B",
)
