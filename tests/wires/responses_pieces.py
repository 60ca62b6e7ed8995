"""The example stream of OpenAI Responses, and how tests read it."""

from __future__ import annotations

import json
from typing import Any

from toolglot.core.event_order import first_order_error
from toolglot.core.events import Event
from toolglot.core.fold import fold
from toolglot.core.messages import Reasoning, Text, ToolCall
from toolglot.core.reply import Reply, Stop, Usage
from toolglot.wires.openai_responses import WIRE

OURS = "openai-responses"
TEXT = {"type": "output_text", "text": "Checking.", "annotations": []}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Need two lookups."}]}
SAID = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [TEXT]}
PARIS = '{"city":"Paris"}'
USED = {
    "input_tokens": 9,
    "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 1},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 5},
    "total_tokens": 29,
}


def call(id: str, name: str, arguments: str, status: str = "completed") -> dict[str, Any]:
    kind = {"type": "function_call", "id": f"fc_{id}", "call_id": f"call_{id}", "name": name}
    return {**kind, "arguments": arguments, "status": status}


OUTPUT: list[dict[str, Any]] = [
    {**THOUGHT, "encrypted_content": "gAAA"},
    SAID,
    call("a", "get_weather", PARIS),
    call("b", "get_time", "{}"),
]


def response(status: str = "completed", output: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    head = {"id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": "m"}
    return {**head, "output": OUTPUT if output is None else output, "usage": USED, **more}


def sse(*events: tuple[str, dict[str, Any]]) -> bytes:
    lines = []
    for number, (kind, body) in enumerate(events):
        data = {"type": f"response.{kind}", "sequence_number": number, **body}
        lines.append(f"event: response.{kind}\ndata: {json.dumps(data)}\n\n")
    return "".join(lines).encode()


def at(index: int, **more: Any) -> dict[str, Any]:
    return {"output_index": index, **more}


# the example of wire.md, event by event
EVENTS: list[tuple[str, dict[str, Any]]] = [
    ("created", {"response": response("in_progress", [])}),
    ("output_item.added", at(0, item={"type": "reasoning", "id": "rs_1", "summary": []})),
    ("reasoning_summary_part.added", at(0, item_id="rs_1", summary_index=0, part={"type": "summary_text", "text": ""})),
    ("reasoning_summary_text.delta", at(0, item_id="rs_1", summary_index=0, delta="Need two lookups.")),
    ("output_item.done", at(0, item=OUTPUT[0])),
    ("output_item.added", at(1, item={**SAID, "status": "in_progress", "content": []})),
    ("content_part.added", at(1, item_id="msg_1", content_index=0, part={**TEXT, "text": ""})),
    ("output_text.delta", at(1, item_id="msg_1", content_index=0, delta="Checking.", logprobs=[])),
    ("output_text.done", at(1, item_id="msg_1", content_index=0, text="Checking.", logprobs=[])),
    ("output_item.done", at(1, item=SAID)),
    ("output_item.added", at(2, item=call("a", "get_weather", "", "in_progress"))),
    ("function_call_arguments.delta", at(2, item_id="fc_a", delta=PARIS)),
    ("function_call_arguments.done", at(2, item_id="fc_a", arguments=PARIS)),
    ("output_item.done", at(2, item=OUTPUT[2])),
    ("output_item.added", at(3, item=call("b", "get_time", "", "in_progress"))),
    ("output_item.done", at(3, item=OUTPUT[3])),
    ("completed", {"response": response(output=[])}),
]
MEANT = Reply(
    "resp_1",
    "m",
    (
        Reasoning("Need two lookups.", {OURS: {"id": "rs_1", "encrypted_content": "gAAA"}}),
        Text("Checking.", None, {OURS: {"id": "msg_1"}}),
        ToolCall("call_a", "get_weather", PARIS, extra={OURS: {"id": "fc_a"}}),
        ToolCall("call_b", "get_time", extra={OURS: {"id": "fc_b"}}),
    ),
    Stop("calls", "completed"),
    Usage(9, 20, 4, 1, 5),
    1,
)


def read(data: bytes, size: int = 0, channel: str | None = None) -> list[Event]:
    reader = WIRE.reader(channel)
    size = size or len(data) or 1
    found = [event for start in range(0, len(data), size) for event in reader.feed(data[start : start + size])]
    found += reader.close()
    assert first_order_error(found) is None
    return found


def heard(*events: tuple[str, dict[str, Any]]) -> Reply:
    return fold(read(sse(*events)))


DONE = ("completed", {"response": response(output=[], usage=None)})
