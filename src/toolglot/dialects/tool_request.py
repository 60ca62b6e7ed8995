"""Written by models that LM Studio prompts, if they have no format: each call a JSON object in `[TOOL_REQUEST]`.

Other wrappers that models invent around the same object are parsed too.
"""

from __future__ import annotations

from toolglot.grammars.arrow_calls import ArrowCalls
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import each_call, result_text, tool_lines
from toolglot.grammars.tagged_json import TaggedJson
from toolglot.grammars.tagged_python import TaggedPython

_OTHERS = {
    "<toolcall>": "</toolcall>",
    "<tool>": "</tool>",
    "<function>": "</function>",
    "[TOOL_CALL]": "[/TOOL_CALL]",
    "<tools>": "</tools>",
    "<invoke>": "</invoke>",
    "<tool-call>": "</tool-call>",
    "<|tool_calls|>": "<|/tool_calls|>",
    "<tool-use>": "</tool-use>",
    "<tool_code>": "</tool_code>",
}

DIALECT = Dialect(
    name="tool_request",
    grammars=(
        TaggedJson(("[TOOL_REQUEST]",), ("[END_TOOL_REQUEST]",)),
        *(TaggedJson((opener,), (closer,)) for opener, closer in _OTHERS.items()),
        ArrowCalls(("[TOOL_CALL]",), ("[/TOOL_CALL]",)),
        TaggedPython("<tool_code>", "</tool_code>"),
    ),
    render_tools=tool_lines(),
    render_calls=each_call("[TOOL_REQUEST]", "[END_TOOL_REQUEST]"),
    render_result=result_text("[TOOL_RESULT]", "[END_TOOL_RESULT]"),
    template_markers=(("[TOOL_REQUEST]",),),
    source="https://lmstudio.ai/docs/developer/openai-compat/tools",
)
