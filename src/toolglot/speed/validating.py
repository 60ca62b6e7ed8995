"""Validating a call: one of twenty tools, with lists and objects in its arguments."""

from __future__ import annotations

from functools import partial
from typing import Any

from toolglot.core.messages import ToolCall
from toolglot.core.tools import Tool, Toolset
from toolglot.io.json_codec import dumps
from toolglot.pipeline.response.call_validator import validate_call
from toolglot.speed.conversation import REPLY_CALLS, TOOLS
from toolglot.speed.subject import Subject, json_floor

NAME, ARGUMENTS = REPLY_CALLS[0]
# case -> changes to the valid arguments
CHANGES: dict[str, dict[str, Any]] = {
    "valid": {},
    "repaired, a number as text": {"number": str(ARGUMENTS["number"])},
    "rejected, not an enum value": {"state": "paused"},
}


def calls() -> list[Subject]:
    tools = Toolset(Tool(name, about, schema) for name, about, schema in TOOLS)
    floor = json_floor("a call", dumps(ARGUMENTS).encode())
    subjects = []
    for name, change in CHANGES.items():
        call = ToolCall("call_0", NAME, dumps({**ARGUMENTS, **change}))
        subjects.append(Subject(name, partial(validate_call, call, tools), "call", floor=floor))
    return subjects
