"""Renders calls as Python for a prompt."""

from __future__ import annotations

import re
from typing import Any

from toolglot.core.messages import ToolCall
from toolglot.grammars.render_json import RenderCalls
from toolglot.io.json_codec import dumps, loads_object

_KEYWORD = re.compile(r"[^\W\d][\w.\-]*")


def python_calls(opener: str, closer: str, between: str = ", ") -> RenderCalls:
    return lambda calls: opener + between.join(map(python_call, calls)) + closer


def python_call(call: ToolCall) -> str:
    """`f(a=1)`. Arguments that are not a JSON object can't be rendered and are left out."""
    arguments = loads_object(call.arguments_json) or {}
    parts = [f"{key}={literal(value)}" for key, value in arguments.items() if _KEYWORD.fullmatch(key)]
    others = {key: value for key, value in arguments.items() if not _KEYWORD.fullmatch(key)}
    if others:
        parts.append(f"**{literal(others)}")
    return f"{call.full_name}({', '.join(parts)})"


def literal(value: Any) -> str:
    """A JSON value as a Python literal, with double quotes: the escapes of JSON are valid in Python."""
    if isinstance(value, str):
        return dumps(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{dumps(key)}: {literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    return repr(value)
