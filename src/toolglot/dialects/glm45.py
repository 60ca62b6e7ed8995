"""Written by GLM 4.5 and 4.6: the name, then alternating keys and values, each on a line. White space in values is data."""

from __future__ import annotations

from toolglot.grammars.arg_pairs import arg_pairs
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import tool_lines
from toolglot.grammars.render_xml import calls_in_tags, result_in, tag

_CALLS = calls_in_tags(
    ("<tool_call>{name}\n", "</tool_call>"),
    tag("<arg_key>{key}</arg_key>\n<arg_value>", "</arg_value>\n"),
)

DIALECT = Dialect(
    name="glm45",
    grammars=(arg_pairs(),),
    render_tools=tool_lines(),
    render_calls=_CALLS,
    render_result=result_in("<tool_response>\n", "\n</tool_response>"),
    template_hints=(("<tool_call>", "\n<arg_key>"), ("<tool_call>", "\\n<arg_key>")),
    source="the chat template of zai-org/GLM-4.5",
)
