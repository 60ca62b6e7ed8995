"""OpenAI Chat's chunks, and what reading them gives."""

from __future__ import annotations

import json
from typing import Any

from tests.cutting import cut
from toolglot.core.event_order import first_order_error
from toolglot.core.events import Event
from toolglot.core.fold import fold
from toolglot.core.reply import Reply
from toolglot.wires.openai_chat import WIRE

CUTS = (1, 7, 64, None)


def chunk(delta: Any, **choice: Any) -> dict[str, Any]:
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": delta, **choice}],
    }


def stream(*chunks: Any, done: bool = True) -> bytes:
    lines = [f"data: {json.dumps(held)}\n\n" for held in chunks]
    return ("".join(lines) + ("data: [DONE]\n\n" if done else "")).encode()


def events(data: bytes, size: int | None = None) -> list[Event]:
    reader = WIRE.reader(None)
    found = [event for piece in cut(data, size) for event in reader.feed(piece)]
    return found + reader.close()


def read(data: bytes) -> Reply:
    """The reply, which is the same however the bytes are cut."""
    whole = events(data)
    assert first_order_error(whole) is None
    for size in CUTS:
        cut_up = events(data, size)
        assert first_order_error(cut_up) is None
        assert fold(cut_up) == fold(whole)
    return fold(whole)


END = chunk({}, finish_reason="stop")
PARTIAL = [
    chunk({"content": "Let me"}),
    chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x":'}}]}),
]
