"""Hunyuan-A13B: one array in `<tool_calls>` tags; answers stand in `<answer>`."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import one_array, result_text, tool_lines
from toolglot.grammars.tagged_json import TOOL_CALLS

DIALECT = Dialect(
    name="hunyuan_a13b",
    grammars=(TOOL_CALLS,),
    render_tools=tool_lines(),
    render_calls=one_array("<tool_calls>[", "]</tool_calls>"),
    render_result=result_text("<tool_response>", "</tool_response>"),
    source="https://github.com/Tencent-Hunyuan/Hunyuan-A13B",
)
