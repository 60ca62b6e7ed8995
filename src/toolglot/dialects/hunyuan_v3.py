"""Written by Hy3: the key and value pairs of GLM with a separator after the name, all calls in one wrapper.

Hy4 adds a suffix to every tag.
"""

from __future__ import annotations

from toolglot.grammars.arg_pairs import arg_pairs
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import tool_lines
from toolglot.grammars.render_xml import calls_in_tags, result_in, tag

_ALL = ("<tool_calls>", "</tool_calls>")

_CALLS = calls_in_tags(
    ("<tool_call>{name}<tool_sep>\n", "</tool_call>"),
    tag("<arg_key>{key}</arg_key>\n<arg_value>", "</arg_value>\n"),
    around=("<tool_calls>\n", "\n</tool_calls>"),
)

DIALECT = Dialect(
    name="hunyuan_v3",
    grammars=(
        arg_pairs(outer=_ALL, separator="<tool_sep>"),
        arg_pairs(outer=_ALL, separator="<tool_sep>", suffix=":opensource"),
    ),
    render_tools=tool_lines(),
    render_calls=_CALLS,
    render_result=result_in("<tool_response>\n", "\n</tool_response>"),
    template_markers=(("<tool_sep>", "<arg_key>"),),
    source="the chat template of tencent/Hy3-preview",
)
