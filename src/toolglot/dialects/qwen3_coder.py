"""Written by Qwen3-Coder, Qwen3.5 and later, MiMo and Nemotron 3: `<function=f>` with `<parameter=a>` tags.

Values are on separate lines. The opening `<tool_call>` is often missing; its closing tag is then still part of the call. The
`>` after a name may be missing too.
"""

from __future__ import annotations

import re

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import tool_lines
from toolglot.grammars.render_xml import calls_in_tags, result_in, tag
from toolglot.grammars.tag_scanner import Tags
from toolglot.grammars.tagged_xml import TaggedXml

_NAME = re.compile(r"([^<>\n{]{1,300}?)(?:(?P<empty>/?)>|\s*(?=<parameter=))")
_NO_NAME = re.compile(r"[^<>\n{]*(?:\{|<[^p]|\n\s*(?:[^\s<]|<[^p]))")
_CALLS = calls_in_tags(
    ("<function={name}>\n", "</function>"),
    tag("<parameter={key}>\n", "\n</parameter>\n"),
    each=("<tool_call>\n", "\n</tool_call>"),
)

GRAMMAR = TaggedXml(
    Tags(
        ("<function=", "</function>"),
        {"<parameter=": "</parameter>"},
        _NAME,
        _NO_NAME,
        outer=("<tool_call>", "</tool_call>"),
        closers=("</seed:tool_call>",),
    ),
    lines="both",
)

DIALECT = Dialect(
    name="qwen3_coder",
    grammars=(GRAMMAR,),
    render_tools=tool_lines(),
    render_calls=_CALLS,
    render_result=result_in("<tool_response>\n", "\n</tool_response>"),
    template_hints=(("<function=", "<parameter="), ("<tool_call>", "<function=", "<parameter=", "</parameter>", "</function>")),
    source="the chat template of Qwen/Qwen3-Coder-30B-A3B-Instruct",
)
