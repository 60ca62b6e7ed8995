"""Ours, for models that know no form of their own: `~~~tool_call` fences on lines of their own, one JSON object in each.

What stands between the fences was meant as a call: where it can't be read, that is told.
"""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import each_call, result_object, tool_lines
from toolglot.grammars.tagged_json import TaggedJson
from toolglot.grammars.tagged_python import TaggedPython

DIALECT = Dialect(
    name="tagged",
    grammars=(
        TaggedJson(("~~~tool_call",), ("~~~",), must_read=True, at_line_start=True),
        TaggedPython("~~~tool_call", "~~~"),
    ),
    render_tools=tool_lines("", "", wrapped=False),
    render_calls=each_call("~~~tool_call\n", "\n~~~", "\n\n", with_id=True),
    render_result=result_object("~~~tool_result\n", "\n~~~", "id", "name", "content"),
    source="docs/decisions/0004-hearing.md",
)
