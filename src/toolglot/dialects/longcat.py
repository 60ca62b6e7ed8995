"""Written by LongCat-Flash: the Hermes format in `<longcat_tool_call>` tags."""

from __future__ import annotations

from toolglot.grammars.dialect import THINK, Dialect
from toolglot.grammars.render_json import each_call, result_text, tool_lines
from toolglot.grammars.tagged_json import TaggedJson

DIALECT = Dialect(
    name="longcat",
    grammars=(TaggedJson(("<longcat_tool_call>",), ("</longcat_tool_call>",)),),
    render_tools=tool_lines(),
    render_calls=each_call("<longcat_tool_call>\n", "\n</longcat_tool_call>"),
    render_result=result_text("<longcat_tool_response>\n", "\n</longcat_tool_response>"),
    reasoning=(("<longcat_think>", "</longcat_think>"), THINK),
    template_markers=(("<longcat_tool_call>",),),
    source="https://huggingface.co/meituan-longcat/LongCat-Flash-Chat",
)
