"""Written by Step-3: XML calls between special tokens; the word `function` before each is optional."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import PLAIN_RESULT, tool_lines
from toolglot.grammars.render_xml import calls_in_tags, tag
from toolglot.grammars.tag_scanner import Tags
from toolglot.grammars.tagged_xml import ATTRIBUTE, BROKEN, TaggedXml

_BEGIN, _END, _SEP = "<｜tool_call_begin｜>", "<｜tool_call_end｜>", "<｜tool_sep｜>"
_ALL = ("<｜tool_calls_begin｜>", "<｜tool_calls_end｜>")

_CALLS = calls_in_tags(
    ('<steptml:invoke name="{name}">', "</steptml:invoke>"),
    tag('<steptml:parameter name="{key}">', "</steptml:parameter>"),
    each=(f"{_BEGIN}function{_SEP}", _END),
    around=_ALL,
    between="",
)

DIALECT = Dialect(
    name="step3",
    grammars=(
        TaggedXml(
            Tags(
                ("<steptml:invoke name=", "</steptml:invoke>"),
                {"<steptml:parameter name=": "</steptml:parameter>"},
                ATTRIBUTE,
                BROKEN,
                outer=_ALL,
                skipped=(_BEGIN, f"function{_SEP}", _SEP, _END),
            ),
            ATTRIBUTE,
            strong=True,
            headers=(_BEGIN,),
        ),
    ),
    render_tools=tool_lines(),
    render_calls=_CALLS,
    render_result=PLAIN_RESULT,
    dropped=("<｜tool_call_begin｜>function<｜tool_sep｜>",),  # left over if the outer marker is missing
    template_markers=(("steptml:",),),
    source="the chat template of stepfun-ai/step3",
)
