"""Written by models that Cline, Roo Code and similar agents prompt: the tool's name is the tag, and each parameter is a tag.

Parsed only for registered tools, because any HTML looks like it.
"""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.nested_tags import ToolTags
from toolglot.grammars.render_json import PLAIN_RESULT, tool_lines
from toolglot.grammars.render_xml import calls_in_tags, on_lines

_CALLS = calls_in_tags(
    ("<{name}>\n", "</{name}>"),
    on_lines("<{key}>", "</{key}>\n"),
    between="\n\n",
    by_name=True,
)

DIALECT = Dialect(
    name="cline_xml",
    grammars=(ToolTags(),),
    render_tools=tool_lines(),
    render_calls=_CALLS,
    render_result=PLAIN_RESULT,
    source="the system prompt of cline/cline",
)
