"""What the tests of doubts share: tools, and what was said."""

from __future__ import annotations

from typing import Any

from toolglot.core.messages import Message, Text
from toolglot.core.tools import Tool


def a_tool(name: str, about: str, required: tuple[str, ...] | None = None, **properties: Any) -> Tool:
    own = {
        key: {"type": "string", **({"description": held} if isinstance(held, str) else held)}
        for key, held in properties.items()
    }
    return Tool(name, about, {"type": "object", "properties": own, "required": list(own if required is None else required)})


def said(*texts: str | Message) -> tuple[Message, ...]:
    return tuple(one if isinstance(one, Message) else Message("user", (Text(one),)) for one in texts)
