"""Writing a whole reply, and an error, as Gemini's server does. (Reading is the stream's reader.)"""

from __future__ import annotations

from typing import Any

from toolglot.core.events import Start
from toolglot.core.fold import fold
from toolglot.core.interfaces import Answering
from toolglot.core.messages import Extra, Part, Reasoning, ToolCall
from toolglot.core.reply import Reply, Stop
from toolglot.errors import UpstreamError
from toolglot.reading.shape import own_extra
from toolglot.wires.gemini.parts import reply_state, write_call, write_part
from toolglot.wires.gemini.shapes import ERROR_WORDS, OTHER_ERROR_WORDS, REASON_IN, REASON_OUT, WIRE, write_time, write_usage
from toolglot.wires.gemini.stream import read_events

Body = dict[str, Any]

_WORDS = frozenset(ERROR_WORDS.values()) | OTHER_ERROR_WORDS


def read_reply(body: Body, channel: str | None = None) -> Reply:
    return fold(read_events(body, channel))


def write_reply(reply: Reply, answering: Answering, notes: list[str]) -> Body:
    parts = [held for part in reply.parts if (held := write_reply_part(part, notes)) is not None]
    body = last_chunk(parts, reply.stop or Stop("other"), reply.extra, notes)
    if reply.usage:
        body["usageMetadata"] = write_usage(reply.usage)
    return {**body, **head(Start(reply.id, reply.model, reply.created), answering)}


def head(start: Start, answering: Answering) -> Body:
    """What every chunk says of the reply."""
    held: Body = {"modelVersion": answering.model or start.model or "", "responseId": answering.id or start.id or ""}
    created = answering.created or start.created
    if created and (time := write_time(created)):
        held["createTime"] = time
    return held


def last_chunk(parts: list[Body], stop: Stop, extra: Extra, notes: list[str]) -> Body:
    """What tells the end, with the parts given. A prompt that was blocked has no candidate at all."""
    own = own_extra(extra, WIRE, "reply", notes)
    of_candidate = own.pop("candidate", {})
    if not parts and stop.raw is not None and _block_reason(own) == stop.raw:
        return own
    candidate: Body = {
        "content": {"role": "model", "parts": parts or [{"text": ""}]},
        "finishReason": finish_reason(stop),
        "index": 0,
        **of_candidate,
    }
    return {"candidates": [candidate], **own}


def _block_reason(own: Body) -> Any:
    feedback = own.get("promptFeedback")
    return feedback.get("blockReason", feedback.get("block_reason")) if isinstance(feedback, dict) else None


def finish_reason(stop: Stop) -> str:
    """Gemini's own word where it said one and it still holds."""
    raw = stop.raw
    return raw if raw is not None and REASON_IN.get(raw) == stop.reason else REASON_OUT[stop.reason]


def write_reply_part(part: Part, notes: list[str]) -> Body | None:
    if isinstance(part, ToolCall):
        if not part.sealed:
            notes.append(f"call {part.id}: it was cut short, and gemini has no half calls; left out")
            return None
        return write_call(part, reply_state(part.extra, f"call {part.id}", notes) if part.extra else {}, notes)
    if isinstance(part, Reasoning):
        own = reply_state(part.extra, "reasoning", notes) if part.extra else {}
        return {"text": part.text, "thought": True, **own} if part.text or own else None
    return write_part(part, notes)


def write_fault(error: UpstreamError) -> tuple[int, Body]:
    status = error.status or 502
    word = ERROR_WORDS.get(status, "INTERNAL" if status >= 500 else "INVALID_ARGUMENT")
    details: list[Body] = []
    if error.code in _WORDS:
        word = error.code
    elif error.code and not error.code.isdecimal():
        details.append({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": error.code})
    if error.retry_after is not None:
        delay = f"{error.retry_after:.3f}".rstrip("0").rstrip(".")
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{delay}s"})
    held: Body = {"code": status, "message": error.message, "status": word}
    if details:
        held["details"] = details
    return status, {"error": held}
