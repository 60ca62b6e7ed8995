"""Written by Seed-OSS: the tags of Qwen3-Coder in `<seed:tool_call>`; values are next to their tags, so white space is data."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import PLAIN_RESULT, tool_lines
from toolglot.grammars.render_xml import calls_in_tags, tag
from toolglot.grammars.tag_scanner import Tags
from toolglot.grammars.tagged_xml import EQUALS, NO_EQUALS, TaggedXml

_CALLS = calls_in_tags(
    ("<function={name}>\n", "</function>"),
    tag("<parameter={key}>", "</parameter>\n"),
    each=("<seed:tool_call>\n", "\n</seed:tool_call>"),
)

DIALECT = Dialect(
    name="seed_oss",
    grammars=(
        TaggedXml(
            Tags(
                ("<function=", "</function>"),
                {"<parameter=": "</parameter>"},
                EQUALS,
                NO_EQUALS,
                outer=("<seed:tool_call>", "</seed:tool_call>"),
                closers=("</tool_call>",),
            )
        ),
    ),
    render_tools=tool_lines(),
    render_calls=_CALLS,
    render_result=PLAIN_RESULT,
    reasoning=(("<seed:think>", "</seed:think>"),),
    template_markers=(("<seed:tool_call>",),),
    source="the chat template of ByteDance-Seed/Seed-OSS-36B-Instruct",
)
