"""Calls written into a prompt as Python, and the tools and results of the families that write so."""

from __future__ import annotations

from toolglot.core.messages import ToolCall
from toolglot.grammars.python_calls import written
from toolglot.grammars.render_json import RenderCalls
from toolglot.text.json_text import loads_object


def python_call(call: ToolCall) -> str:
    """`f(a=1)`. Arguments that are no JSON object can't be written so, and are left out."""
    return written(call.full_name, loads_object(call.arguments_json) or {})


def python_calls(opener: str, closer: str, between: str = ", ") -> RenderCalls:
    return lambda calls: opener + between.join(map(python_call, calls)) + closer
