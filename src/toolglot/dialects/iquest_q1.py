"""Written by IQuest-Q1: the format of GLM 4.7 in its own tag."""

from __future__ import annotations

from toolglot.grammars.arg_pairs import arg_pairs
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import tool_lines
from toolglot.grammars.render_xml import calls_in_tags, result_in, tag

_MARKERS = ("<iquest_tool_call>", "</iquest_tool_call>")

DIALECT = Dialect(
    name="iquest_q1",
    grammars=(arg_pairs(*_MARKERS, named=False),),
    render_tools=tool_lines(),
    render_calls=calls_in_tags(
        (_MARKERS[0] + "{name}", _MARKERS[1]), tag("<arg_key>{key}</arg_key><arg_value>", "</arg_value>"), between=""
    ),
    render_result=result_in("<tool_response>", "</tool_response>"),
    template_markers=(_MARKERS[:1],),
    source="srt/function_call/iquest_q1_detector.py of SGLang 0.5.23, for IQuestLab/IQuest-Q1",
)
