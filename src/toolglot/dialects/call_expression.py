"""Ours: `SearchDatabase(query="python", limit=10)` anywhere in prose, for the names of registered tools."""

from __future__ import annotations

from toolglot.grammars.call_expression import CALL_EXPRESSION
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import how_to, result_text, tool_lines
from toolglot.grammars.render_python import python_calls

DIALECT = Dialect(
    name="call_expression",
    grammars=(CALL_EXPRESSION,),
    render_tools=tool_lines(how_to('FunctionName(key="text", other=1)')),
    render_calls=python_calls("", "", "\n"),
    render_result=result_text("{name} returned: ", ""),
    weak=True,
    source="docs/reference/dialects.md",
)
