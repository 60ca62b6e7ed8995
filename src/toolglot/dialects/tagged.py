"""Toolglot's format for models without one: `~~~tool_call` fences on separate lines, one JSON object in each.

Everything between the fences is treated as a call; if it can't be parsed, that is reported. Results are plain sentences and
calls have no id: small models copy what they see, and would write fences and invented ids in their answers.
"""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import PLAIN_RESULT, each_call, tool_lines
from toolglot.grammars.tagged_json import TaggedJson
from toolglot.grammars.tagged_python import TaggedPython

DIALECT = Dialect(
    name="tagged",
    grammars=(
        TaggedJson(("~~~tool_call",), ("~~~",), must_read=True, at_line_start=True),
        TaggedPython("~~~tool_call", "~~~"),
    ),
    render_tools=tool_lines("", "", wrapped=False),
    render_calls=each_call("~~~tool_call\n", "\n~~~", "\n\n"),
    render_result=PLAIN_RESULT,
    source="docs/decisions/0004-text-parsing.md",
)
