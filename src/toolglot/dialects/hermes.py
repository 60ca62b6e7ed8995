"""Written by Hermes 2 and 3, Qwen2.5, Qwen3, QwQ and others: each call a JSON object in `<tool_call>` tags.

The others: MiMo-VL, Bielik, Reka Edge, Trinity.
"""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import each_call, result_text, tool_lines
from toolglot.grammars.tagged_json import TOOL_CALL
from toolglot.grammars.tagged_python import TaggedPython

DIALECT = Dialect(
    name="hermes",
    grammars=(TOOL_CALL, TaggedPython("<tool_call>", "</tool_call>")),
    render_tools=tool_lines(),
    render_calls=each_call("<tool_call>\n", "\n</tool_call>"),
    render_result=result_text("<tool_response>\n", "\n</tool_response>"),
    template_hints=(("<tool_call>",), ("<tool_call>", "</tool_call>", "<|start_header_id|>")),
    source="https://github.com/NousResearch/Hermes-Function-Calling",
)
