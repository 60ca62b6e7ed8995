"""Written by Muse Glimmer and Muse Spark (ATEM): each message names its recipient: a tool, `self` (reasoning) or `user` (text).

Muse Spark also writes text to `commentary`, between its calls.

A block in a message to the user is a call only if it is the whole message. A tool `f` may be called `f.f`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.parsed_call import Tools
from toolglot.grammars.render_json import PLAIN_RESULT, tool_lines
from toolglot.grammars.render_xml import calls_in_tags, tag
from toolglot.grammars.tag_scanner import Tags
from toolglot.grammars.tagged_xml import ATTRIBUTE, TaggedXml

_TEXT = ("user", "commentary")  # recipients of text
_ALL = ("<atem:function_calls>", "</atem:function_calls>")
_NAME = re.compile(
    r"""[ \t]*["']?((?:<\|message\|>|[^"'<>\n])*)(?:["']?(?P<more>[^<>\n]*?)(?P<empty>/?)>|(?=<atem:parameter))""",
)
_TO = rf"(?!(?:self|developer|{'|'.join(_TEXT)})<)"  # the other recipients are tools, or their namespaces
_HEADER = re.compile(rf"{_TO}[^\s<>|]+<\|message\|>"), re.compile(rf"(?!{_TO})|[^\s<>|]*+(?:[\s>|]|<(?:[^|]|\|[^m]))")

_TAGS = Tags(
    ("<atem:invoke name=", "</atem:invoke>"),
    {"<atem:parameter name=": "</atem:parameter>"},
    _NAME,
    re.compile(r"[^\n]*\n"),
    outer=_ALL,
    name_of=lambda found: found[1].replace("<|message|>", ""),
)


def _once(name: str, tools: Tools) -> str:
    half = name[: len(name) // 2]
    return half if name not in tools and f"{half}.{half}" == name else name


_CALLS = calls_in_tags(
    ('<atem:invoke name="{name}">\n', "</atem:invoke>"),
    tag('<atem:parameter name="{key}">', "</atem:parameter>\n"),
    each=(f" to={{name}}<|message|>{_ALL[0]}\n", f"\n{_ALL[1]}<|eom|>"),
    between="<|start|>assistant",
    by_name=True,
)


DIALECT = Dialect(
    name="muse_glimmer",
    grammars=(
        TaggedXml(
            replace(_TAGS, header=_HEADER),
            ATTRIBUTE,
            strong=True,
            bare=False,
            framed=True,
            headers=(" to=", "<|start|>assistant to="),
            clean_name=_once,
        ),
        TaggedXml(
            _TAGS,
            ATTRIBUTE,
            strong=True,
            bare=False,
            framed=True,
            registered=True,
            headers=(f" to=user<|message|>{_ALL[0]}", f"<|message|>{_ALL[0]}"),
            clean_name=_once,
        ),
    ),
    render_tools=tool_lines(),
    render_calls=_CALLS,
    render_result=PLAIN_RESULT,
    reasoning=((" to=self<|message|>", "<|eom|>"), (" to=self<|message|>", "<|start|>assistant")),
    dropped=(
        *(f"{start} to={one}<|message|>" for one in _TEXT for start in ("", "<|start|>assistant")),
        "<|start|>assistant",
        "<|message|>",
        "<|eom|>",
        "<|eot|>",
    ),
    template_markers=(("<atem:",),),
    source="the chat template of Muse Glimmer; vllm/tool_parsers/muse_tool_parser.py of vLLM 0.33",
)
