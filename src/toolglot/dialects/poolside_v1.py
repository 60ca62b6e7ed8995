"""Written by Laguna: the GLM format, or JSON after or instead of the name; sometimes in the wrong tag, `<user>`."""

from __future__ import annotations

from toolglot.grammars.arg_pairs import arg_pairs
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import tool_lines
from toolglot.grammars.render_xml import calls_in_tags, result_in, tag
from toolglot.grammars.tagged_json import TOOL_CALL

_CALLS = calls_in_tags(
    ("<tool_call>{name}\n", "</tool_call>"),
    tag("<arg_key>{key}</arg_key>\n<arg_value>", "</arg_value>\n"),
)

DIALECT = Dialect(
    name="poolside_v1",
    grammars=(arg_pairs(), TOOL_CALL, arg_pairs("<user>", "</user>", json_calls=True, registered=True)),
    render_tools=tool_lines(),
    render_calls=_CALLS,
    render_result=result_in("<tool_response>", "</tool_response>"),
    source="the chat template of poolside/Laguna",
)
