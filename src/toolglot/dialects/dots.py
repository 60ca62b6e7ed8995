"""Written by dots.llm: `<invoke>` elements, or a JSON object, in `<dots_function_call>`."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import tool_lines
from toolglot.grammars.render_xml import calls_in_tags, result_in, tag
from toolglot.grammars.tag_scanner import Tags
from toolglot.grammars.tagged_xml import ATTRIBUTE, BROKEN, TaggedXml

_ALL = ("<dots_function_call>", "</dots_function_call>")

_CALLS = calls_in_tags(
    ('<invoke name="{name}">', "</invoke>"),
    tag('<parameter name="{key}">', "</parameter>"),
    around=_ALL,
    between="",
)

DIALECT = Dialect(
    name="dots",
    grammars=(
        TaggedXml(
            Tags(
                ("<invoke name=", "</invoke>"),
                {"<parameter name=": "</parameter>"},
                ATTRIBUTE,
                BROKEN,
                outer=_ALL,
                closers=("</minimax:tool_call>",),
                json_calls=True,
            ),
            ATTRIBUTE,
        ),
    ),
    render_tools=tool_lines(),
    render_calls=_CALLS,
    render_result=result_in("<dots_function_result>", "</dots_function_result>"),
    template_markers=(("<dots_function_call>",),),
    source="the chat template of rednote-hilab/dots.llm",
)
