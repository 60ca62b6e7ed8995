"""Written by small models without any prompt for it: `get_weather: {"city": "Paris"}`, a registered tool's name and JSON."""

from __future__ import annotations

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.name_then_json import NAME_IN_LINE, NAME_THEN_JSON
from toolglot.grammars.render_json import named_calls, result_text, tool_lines

DIALECT = Dialect(
    name="name_then_json",
    grammars=(NAME_THEN_JSON, NAME_IN_LINE),
    render_tools=tool_lines("", "", wrapped=False),
    render_calls=named_calls("{name}: {arguments}", "\n"),
    render_result=result_text("{name} returned: ", ""),
    weak=True,
    source="docs/reference/dialects.md",
)
