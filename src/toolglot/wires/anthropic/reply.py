"""Writes a whole reply or an error as Anthropic's server does. (The stream's reader reads it.)"""

from __future__ import annotations

from toolglot.core.interfaces import ResponseContext
from toolglot.core.messages import Media, Opaque, Part, Reasoning, Text, ToolCall
from toolglot.core.reply import Reply
from toolglot.errors import UpstreamError
from toolglot.io.request_validation import Body, no_place_in_reply, wire_extra
from toolglot.wires.anthropic.parts import write_call
from toolglot.wires.anthropic.reasoning import take_state_blocks, write_shown
from toolglot.wires.anthropic.shapes import DIRECT, ERROR_TYPES, WIRE, stop_fields, write_whole_usage


def write_reply(reply: Reply, context: ResponseContext, notes: list[str]) -> Body:
    reason, sequence = stop_fields(reply.stop)
    body: Body = {
        "id": context.id or reply.id or "",
        "type": "message",
        "role": "assistant",
        "model": context.model or reply.model or "",
        "content": [block for part in reply.parts for block in _write_part(part, notes)],
        "stop_reason": reason,
        "stop_sequence": sequence,
        "stop_details": None,
        "container": None,
        "usage": write_whole_usage(reply.usage),
    }
    if reply.extra:
        body.update(wire_extra(reply.extra, WIRE, "reply", notes))
    return body


def _write_part(part: Part, notes: list[str]) -> list[Body]:
    if isinstance(part, Reasoning):
        shown = write_shown(part)
        return [] if shown is None else [shown]
    if isinstance(part, Opaque) and part.wire == WIRE:
        return [part.block]
    if isinstance(part, ToolCall) and not part.sealed:
        notes.append(f"call {part.id}: it was cut short; left out")
        return []
    if isinstance(part, (Text, ToolCall)):
        return _write_with_state(part, notes)
    no_place_in_reply(WIRE, "media" if isinstance(part, Media) else "opaque", getattr(part, "wire", None), notes)
    return []


def _write_with_state(part: Text | ToolCall, notes: list[str]) -> list[Body]:
    empty = isinstance(part, Text) and not part.text
    beside, extra = take_state_blocks(part.extra, "alone" if empty else "next")
    if isinstance(part, ToolCall):
        return [*beside, {"caller": DIRECT, **write_call(part, extra, notes)}]
    if empty:
        return beside
    fields = wire_extra(extra, WIRE, "text", notes) if extra else {}
    return [*beside, {"type": "text", "text": part.text, "citations": None, **fields}]


def write_error(error: UpstreamError) -> tuple[int, Body]:
    status = error.status or 502
    kind = ERROR_TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
    return status, {"type": "error", "error": {"type": kind, "message": error.message}, "request_id": None}
