"""Ours, for models that know no form of their own: `~~~tool_call` fences on lines of their own, one JSON object in each.

What stands between the fences was meant as a call: where it can't be read, that is told. Results are told in words, and calls
have no id: small models copy what they see, and answered with fences and ids of their own making.
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
    source="docs/decisions/0004-hearing.md",
)
