"""Written by GLM 4.7, GLM 5 and Ling 3: as GLM 4.5, without line breaks."""

from __future__ import annotations

from toolglot.grammars.arg_pairs import arg_pairs
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import tool_lines
from toolglot.grammars.render_xml import calls_in_tags, result_in, tag

_CALLS = calls_in_tags(
    ("<tool_call>{name}", "</tool_call>"),
    tag("<arg_key>{key}</arg_key><arg_value>", "</arg_value>"),
    between="",
)

DIALECT = Dialect(
    name="glm47",
    grammars=(arg_pairs(),),
    render_tools=tool_lines(),
    render_calls=_CALLS,
    render_result=result_in("<tool_response>", "</tool_response>"),
    template_hints=(("<tool_call>", "<arg_key>"),),
    source="the chat template of zai-org/GLM-4.7",
)
