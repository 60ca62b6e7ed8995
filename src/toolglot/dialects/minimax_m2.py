"""Written by MiniMax M2: `<invoke>` elements in one wrapper; values are next to their tags, so white space is data."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import tool_lines
from toolglot.grammars.render_xml import calls_in_tags, result_in, tag
from toolglot.grammars.tag_scanner import Tags
from toolglot.grammars.tagged_xml import ATTRIBUTE, BROKEN, TaggedXml

_ALL = ("<minimax:tool_call>", "</minimax:tool_call>")

_CALLS = calls_in_tags(
    ('<invoke name="{name}">\n', "</invoke>"),
    tag('<parameter name="{key}">', "</parameter>\n"),
    around=("<minimax:tool_call>\n", "\n</minimax:tool_call>"),
)

DIALECT = Dialect(
    name="minimax_m2",
    grammars=(
        TaggedXml(
            Tags(
                ("<invoke name=", "</invoke>"),
                {"<parameter name=": "</parameter>"},
                ATTRIBUTE,
                BROKEN,
                outer=_ALL,
                closers=("</dots_function_call>", "</function_calls>", "</tool_calls>", "</tool_call>"),
            ),
            ATTRIBUTE,
        ),
    ),
    render_tools=tool_lines(),
    render_calls=_CALLS,
    render_result=result_in("<response>", "</response>"),
    template_markers=(("<minimax:tool_call>",),),
    source="the chat template of MiniMaxAI/MiniMax-M2",
)
