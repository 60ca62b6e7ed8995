"""Written by Beam: the messages of Harmony, but a call's arguments are tags, with each value on lines of its own.

A call that another one follows ends like any message; the last one ends with `<|call|>`.
"""

from __future__ import annotations

import re

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import PLAIN_RESULT, tool_lines
from toolglot.grammars.render_xml import calls_in_tags, tag
from toolglot.grammars.tag_scanner import Tags
from toolglot.grammars.tagged_xml import ATTRIBUTE, TaggedXml

_HEAD = r"<\|channel\|>analysis(?: <\|constrain\|>xml)?<\|message\|>"
_NO_HEAD = r"\s|<(?:[^|]|\|[^c]|\|channel\|>(?:[^a]|analysis(?:[^ <]| ?<(?:[^|]|\|(?:[^cm]|constrain\|>[^x])))))"

_TAGS = Tags(
    (" to=", "<|call|>"),
    {"<rfl:parameter name=": "</rfl:parameter>"},
    re.compile(rf"((?!functions\.)[^\s<]{{1,200}}){_HEAD}"),
    re.compile(rf"functions\.|[^\s<]*(?:{_NO_HEAD})"),
    variants=(("<|start|>assistant to=", "<|end|>"),),
)

_CALLS = calls_in_tags(
    (" to={name}<|channel|>analysis <|constrain|>xml<|message|>", ""),
    tag('<rfl:parameter name="{key}">\n', "\n</rfl:parameter>"),
    around=("", "<|call|>"),
    between="<|end|><|start|>assistant",
    by_name=True,
)


DIALECT = Dialect(
    name="beam",
    grammars=(TaggedXml(_TAGS, ATTRIBUTE, lines="both", strong=True),),
    render_tools=tool_lines(),
    render_calls=_CALLS,
    render_result=PLAIN_RESULT,
    reasoning=(("<|channel|>analysis<|message|>", "<|end|>"),),
    dropped=("<|channel|>final<|message|>", "<|start|>assistant", "<|message|>", "<|call|>", "<|end|>", "<|return|>"),
    template_markers=(("<|channel|>", "<|message|>", "<rfl:parameter"),),
    source="srt/parser/beam.py of SGLang 0.5.23: the response_template of the checkpoint",
)
