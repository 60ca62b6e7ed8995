"""Written by Hy3: the key and value pairs of GLM with a separator after the name, all calls in one wrapper.

Released checkpoints add a suffix to every tag, also to those of reasoning (`:opensource`).
"""

from __future__ import annotations

from toolglot.grammars.arg_pairs import arg_pairs
from toolglot.grammars.dialect import THINK, Dialect
from toolglot.grammars.render_json import tool_lines
from toolglot.grammars.render_xml import calls_in_tags, result_in, tag
from toolglot.grammars.suffixed_pairs import SuffixedPairs

SUFFIXED = SuffixedPairs()
REASONING = (THINK, *((f"<think:{suffix}>", f"</think:{suffix}>") for suffix in ("opensource", "6124c78e")))

_CALLS = calls_in_tags(
    ("<tool_call>{name}<tool_sep>\n", "</tool_call>"),
    tag("<arg_key>{key}</arg_key>\n<arg_value>", "</arg_value>\n"),
    around=("<tool_calls>\n", "\n</tool_calls>"),
)

DIALECT = Dialect(
    name="hunyuan_v3",
    grammars=(arg_pairs(outer=("<tool_calls>", "</tool_calls>"), separator="<tool_sep>"), SUFFIXED),
    render_tools=tool_lines(),
    render_calls=_CALLS,
    render_result=result_in("<tool_response>\n", "\n</tool_response>"),
    reasoning=REASONING,
    template_markers=(("<tool_sep>", "<arg_key>"), ("<tool_calls{}>", "<arg_key{}>", "<tool_sep{}>")),
    source="the chat templates of tencent/Hy3-preview and tencent/Hy3",
)
