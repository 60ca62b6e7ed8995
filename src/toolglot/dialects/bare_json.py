"""Written by many models: calls as JSON with no markers, as one object, an array, or several values in a row."""

from __future__ import annotations

from toolglot.grammars.bare_json import BARE_JSON
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import one_array, result_object, tool_lines

DIALECT = Dialect(
    name="bare_json",
    grammars=(BARE_JSON,),
    render_tools=tool_lines("", "", wrapped=False),
    render_calls=one_array("[", "]", alone=True),
    render_result=result_object("", "", "name", "content"),
    weak=True,
    source="docs/reference/dialects.md",
)
