"""What it takes to judge a call: one of twenty tools, with lists and objects among its arguments."""

from __future__ import annotations

from functools import partial
from typing import Any

from toolglot.core.messages import ToolCall
from toolglot.core.tools import Tool, Toolset
from toolglot.pipeline.guard_calls import judge
from toolglot.speed.conversation import REPLY_CALLS, TOOLS
from toolglot.speed.subject import Subject, json_floor
from toolglot.text.json_text import dumps

NAME, RIGHT = REPLY_CALLS[0]
# what is asked of the guard -> how the arguments differ from what is right
CHANGES: dict[str, dict[str, Any]] = {
    "right as it is": {},
    "mended, a number came as text": {"number": str(RIGHT["number"])},
    "refused, a word that is no choice": {"state": "paused"},
}


def calls() -> list[Subject]:
    tools = Toolset(Tool(name, about, schema) for name, about, schema in TOOLS)
    floor = json_floor("a call", dumps(RIGHT).encode())
    return [
        Subject(name, partial(judge, ToolCall("call_0", NAME, dumps({**RIGHT, **change})), tools), "call", floor=floor)
        for name, change in CHANGES.items()
    ]
