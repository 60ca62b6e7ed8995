"""Written by many small models: `SearchDatabase(query="python", limit=10)` anywhere in text, for registered tools only."""

from __future__ import annotations

from toolglot.grammars.call_expression import CALL_EXPRESSION
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import result_text
from toolglot.grammars.render_python import python_calls
from toolglot.grammars.render_signature import signatures

DIALECT = Dialect(
    name="call_expression",
    grammars=(CALL_EXPRESSION,),
    render_tools=signatures,
    render_calls=python_calls("", "", "\n"),
    render_result=result_text("{name} returned: ", ""),
    weak=True,
    source="docs/reference/dialects.md",
)
