"""Writes a whole reply or an error as Gemini's server does. (The stream's reader reads it.)"""

from __future__ import annotations

from typing import Any

from toolglot.core.events import Start
from toolglot.core.interfaces import ResponseContext
from toolglot.core.messages import Extra, Part, Reasoning, ToolCall
from toolglot.core.reply import Reply, Stop
from toolglot.errors import UpstreamError
from toolglot.io.reply_values import write_timestamp
from toolglot.io.request_validation import Body, wire_extra
from toolglot.wires.gemini.parts import reply_state, write_call, write_part
from toolglot.wires.gemini.shapes import ERROR_WORDS, OTHER_ERROR_WORDS, REASON_IN, REASON_OUT, WIRE, write_usage

_WORDS = frozenset(ERROR_WORDS.values()) | OTHER_ERROR_WORDS


def write_reply(reply: Reply, context: ResponseContext, notes: list[str]) -> Body:
    parts = [obj for part in reply.parts if (obj := write_reply_part(part, notes)) is not None]
    body = last_chunk(parts, reply.stop or Stop("other"), reply.extra, notes)
    if reply.usage:
        body["usageMetadata"] = write_usage(reply.usage)
    return {**body, **head(Start(reply.id, reply.model, reply.created), context)}


def head(start: Start, context: ResponseContext) -> Body:
    """The fields that every chunk has."""
    obj: Body = {"modelVersion": context.model or start.model or "", "responseId": context.id or start.id or ""}
    created = context.created or start.created
    if created:
        obj["createTime"] = write_timestamp(created)
    return obj


def last_chunk(parts: list[Body], stop: Stop, extra: Extra, notes: list[str]) -> Body:
    """The last chunk, with these parts. A blocked prompt has no candidate."""
    fields = wire_extra(extra, WIRE, "reply", notes)
    of_candidate = fields.pop("candidate", {})
    if not parts and stop.raw is not None and _block_reason(fields) == stop.raw:
        return fields
    candidate: Body = {
        "content": {"role": "model", "parts": parts or [{"text": ""}]},
        "finishReason": finish_reason(stop),
        "index": 0,
        **of_candidate,
    }
    return {"candidates": [candidate], **fields}


def _block_reason(fields: Body) -> Any:
    feedback = fields.get("promptFeedback")
    return feedback.get("blockReason", feedback.get("block_reason")) if isinstance(feedback, dict) else None


def finish_reason(stop: Stop) -> str:
    """The original value, if it came from Gemini and still applies."""
    raw = stop.raw
    return raw if raw is not None and REASON_IN.get(raw) == stop.reason else REASON_OUT[stop.reason]


def write_reply_part(part: Part, notes: list[str]) -> Body | None:
    if isinstance(part, ToolCall):
        if not part.sealed:
            notes.append(f"call {part.id}: it was cut short, and gemini has only complete calls; left out")
            return None
        return write_call(part, reply_state(part.extra, f"call {part.id}", notes) if part.extra else {}, notes)
    if isinstance(part, Reasoning):
        fields = reply_state(part.extra, "reasoning", notes) if part.extra else {}
        return {"text": part.text, "thought": True, **fields} if part.text or fields else None
    return write_part(part, notes)


def write_error(error: UpstreamError) -> tuple[int, Body]:
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
    obj: Body = {"code": status, "message": error.message, "status": word}
    if details:
        obj["details"] = details
    return status, {"error": obj}
