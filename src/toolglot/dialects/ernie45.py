"""Written by ERNIE 4.5 thinking: the Hermes format with a newline after each call; answers are in `<response>` tags."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import each_call, result_text, tool_lines
from toolglot.grammars.tagged_json import TOOL_CALL

DIALECT = Dialect(
    name="ernie45",
    grammars=(TOOL_CALL,),
    render_tools=tool_lines(),
    render_calls=each_call("<tool_call>\n", "\n</tool_call>\n", ""),
    render_result=result_text("<tool_output>\n", "\n</tool_output>"),
    template_hints=(("<tool_call>", "<response>"),),
    source="https://huggingface.co/baidu/ERNIE-4.5-21B-A3B-Thinking",
)
