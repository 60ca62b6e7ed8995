"""Written by many models: calls as JSON with no markers, as one object, an array, or several values in a row."""

from __future__ import annotations

from toolglot.core.messages import ToolCall
from toolglot.grammars.bare_json import BARE_JSON
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.render_json import each_call, one_array, result_object, tool_lines

_ONE, _MANY = each_call("", ""), one_array("[", "]")


def _render_calls(calls: tuple[ToolCall, ...]) -> str:
    return _ONE(calls) if len(calls) == 1 else _MANY(calls)


DIALECT = Dialect(
    name="bare_json",
    grammars=(BARE_JSON,),
    render_tools=tool_lines("", "", wrapped=False),
    render_calls=_render_calls,
    render_result=result_object("", "", "name", "content"),
    weak=True,
    source="docs/reference/dialects.md",
)
