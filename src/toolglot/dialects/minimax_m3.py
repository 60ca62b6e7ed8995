"""Written by MiniMax M3: a mark before every tag; parameters are tags, objects are nested tags, lists are `<item>` tags."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.marked_tags import marked_tags
from toolglot.grammars.render_json import tool_lines
from toolglot.grammars.render_xml import calls_in_tags, nested_value, result_in

_MARK = "]<]minimax[>["

_CALLS = calls_in_tags(
    (f'{_MARK}<invoke name="{{name}}">', f"{_MARK}</invoke>\n"),
    nested_value(_MARK),
    around=(f"{_MARK}<tool_call>\n", f"{_MARK}</tool_call>"),
    between="",
)

DIALECT = Dialect(
    name="minimax_m3",
    grammars=(marked_tags(_MARK),),
    render_tools=tool_lines(),
    render_calls=_CALLS,
    render_result=result_in("<response>", "</response>"),
    reasoning=(("<mm:think>", "</mm:think>"),),
    template_markers=(("]<]minimax[>[",),),
    source="the chat template of MiniMaxAI/MiniMax-M3",
)
