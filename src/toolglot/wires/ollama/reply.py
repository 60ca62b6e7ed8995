"""Writes a whole reply or an error as Ollama's server does. (The stream's reader reads it.)"""

from __future__ import annotations

from toolglot.core.interfaces import ResponseContext
from toolglot.core.messages import Extra, Media, Opaque, Reasoning, Text, ToolCall
from toolglot.core.reply import Reply, Stop, Usage
from toolglot.errors import UpstreamError
from toolglot.io.json_codec import encode
from toolglot.io.reply_values import write_timestamp
from toolglot.io.request_validation import Body, no_place_in_reply, wire_extra
from toolglot.wires.ollama.messages import note_state, write_call, write_image
from toolglot.wires.ollama.shapes import DURATIONS, WIRE, write_reason, write_usage


def write_reply(reply: Reply, context: ResponseContext, notes: list[str]) -> Body:
    message = _message(reply, notes)
    more, end = write_end(reply.stop, reply.usage, reply.extra, notes)
    message.update(more)
    return {**write_head(reply.model, reply.created, context), "message": message, **end}


def write_head(model: str | None, created: int | None, context: ResponseContext) -> Body:
    """The fields that every line of a stream has. There is no id on this wire."""
    return {"model": context.model or model or "", "created_at": write_timestamp(context.created or created or 0)}


def _message(reply: Reply, notes: list[str]) -> Body:
    texts: list[str] = []
    thoughts: list[str] = []
    images: list[str] = []
    calls: list[Body] = []
    for part in reply.parts:
        if isinstance(part, Text):
            texts.append(part.text)
            wire_extra(part.extra, WIRE, "text", notes)
        elif isinstance(part, Reasoning):
            thoughts.append(part.text)
            note_state(part.extra, notes)
        elif isinstance(part, ToolCall):
            if part.sealed:
                calls.append(write_call(part, len(calls), notes))
            else:
                note_cut(part.id, notes)
        elif isinstance(part, Media):
            images += write_image(part, "reply", notes)
        elif isinstance(part, Opaque):
            no_place_in_reply(WIRE, "opaque", part.wire, notes)
    message: Body = {"role": "assistant", "content": "".join(texts)}
    optional = {"thinking": "".join(thoughts), "images": images, "tool_calls": calls}
    message.update({key: value for key, value in optional.items() if value})
    return message


def note_cut(call_id: str | None, notes: list[str]) -> None:
    notes.append(f"call {call_id}: it was cut short, and ollama has only complete calls; left out")


def write_end(stop: Stop | None, usage: Usage | None, extra: Extra, notes: list[str]) -> tuple[Body, Body]:
    """The fields that the last line adds to the message, and to the line itself."""
    fields = wire_extra(extra, WIRE, "reply", notes)
    more = fields.pop("message", {})
    end: Body = {"done": True, "done_reason": write_reason(stop, notes), **dict.fromkeys(DURATIONS, 0)}
    if usage:
        end.update(write_usage(usage, notes))
    end.update(fields)
    return more, end


def write_error(error: UpstreamError) -> tuple[int, Body]:
    return error.status or 502, {"error": error.message}


def empty_chunk(model: str) -> bytes:
    """A keep-alive: Ollama's clients read every line as a chunk."""
    return encode({"model": model, "message": {"role": "assistant", "content": ""}, "done": False}) + b"\n"


def durations(total: float, first: float) -> Body:
    """From which Ollama's clients compute tokens per second. The time to the first chunk counts as prompt evaluation."""
    whole = max(1, int(total * 1e9))
    prompt = min(whole, int(first * 1e9))
    return {"total_duration": whole, "prompt_eval_duration": prompt, "eval_duration": max(1, whole - prompt)}
