"""Writing a whole reply, and an error, as Anthropic's server does. (Reading is the stream's reader.)"""

from __future__ import annotations

from toolglot.core.fold import fold
from toolglot.core.interfaces import Answering
from toolglot.core.messages import Media, Opaque, Part, Reasoning, Text, ToolCall
from toolglot.core.reply import Reply
from toolglot.errors import UpstreamError
from toolglot.reading.shape import own_extra
from toolglot.wires.anthropic.parts import write_call
from toolglot.wires.anthropic.reasoning import take_beside, write_shown
from toolglot.wires.anthropic.shapes import ERROR_TYPES, WIRE, Body, stop_words, write_usage
from toolglot.wires.anthropic.stream import read_events


def read_reply(body: Body, channel: str | None = None) -> Reply:
    return fold(read_events(body, channel))


def write_reply(reply: Reply, answering: Answering, notes: list[str]) -> Body:
    reason, sequence = stop_words(reply.stop)
    body: Body = {
        "id": answering.id or reply.id or "",
        "type": "message",
        "role": "assistant",
        "model": answering.model or reply.model or "",
        "content": [block for part in reply.parts for block in _write_part(part, notes)],
        "stop_reason": reason,
        "stop_sequence": sequence,
        "usage": write_usage(reply.usage),
    }
    if reply.extra:
        body.update(own_extra(reply.extra, WIRE, "reply", notes))
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
        return _write_said(part, notes)
    notes.append(no_place(part.kind if isinstance(part, Media) else "opaque", getattr(part, "wire", None)))
    return []


def _write_said(part: Text | ToolCall, notes: list[str]) -> list[Body]:
    empty = isinstance(part, Text) and not part.text
    beside, extra = take_beside(part.extra, "alone" if empty else "next")
    if isinstance(part, ToolCall):
        return [*beside, write_call(part, extra, notes)]
    if empty:
        return beside
    own = own_extra(extra, WIRE, "text", notes) if extra else {}
    return [*beside, {"type": "text", "text": part.text, **own}]


def no_place(kind: str, wire: str | None) -> str:
    what = f"block of {wire}'s own" if kind == "opaque" else "picture or file"
    return f"reply: anthropic has no place for a {what}; left out"


def write_fault(error: UpstreamError) -> tuple[int, Body]:
    status = error.status or 502
    kind = ERROR_TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
    return status, {"type": "error", "error": {"type": kind, "message": error.message}, "request_id": None}
