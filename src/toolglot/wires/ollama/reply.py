"""Writing a whole reply, and an error, as Ollama's server does. (Reading is the stream's reader.)"""

from __future__ import annotations

from toolglot.core.fold import fold
from toolglot.core.interfaces import Answering
from toolglot.core.messages import Extra, Media, Opaque, Reasoning, Text, ToolCall
from toolglot.core.reply import Reply, Stop, Usage
from toolglot.errors import UpstreamError
from toolglot.reading.shape import Body, own_extra
from toolglot.wires.ollama.messages import note_state, write_call, write_image
from toolglot.wires.ollama.shapes import DURATIONS, WIRE, write_reason, write_time, write_usage
from toolglot.wires.ollama.stream import read_events


def read_reply(body: Body, channel: str | None = None) -> Reply:
    return fold(read_events(body, channel))


def write_reply(reply: Reply, answering: Answering, notes: list[str]) -> Body:
    message = _message(reply, notes)
    more, end = write_end(reply.stop, reply.usage, reply.extra, notes)
    message.update(more)
    return {**write_head(reply.model, reply.created, answering), "message": message, **end}


def write_head(model: str | None, created: int | None, answering: Answering) -> Body:
    """What every line of a stream repeats. There is no id on this wire."""
    return {"model": answering.model or model or "", "created_at": write_time(answering.created or created)}


def _message(reply: Reply, notes: list[str]) -> Body:
    texts: list[str] = []
    thoughts: list[str] = []
    images: list[str] = []
    calls: list[Body] = []
    for part in reply.parts:
        if isinstance(part, Text):
            texts.append(part.text)
            own_extra(part.extra, WIRE, "text", notes)
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
            note_opaque(part.wire, notes)
    message: Body = {"role": "assistant", "content": "".join(texts)}
    told = {"thinking": "".join(thoughts), "images": images, "tool_calls": calls}
    message.update({key: value for key, value in told.items() if value})
    return message


def note_cut(call_id: str | None, notes: list[str]) -> None:
    notes.append(f"call {call_id}: it was cut short, and ollama has whole calls only; left out")


def note_opaque(wire: str | None, notes: list[str]) -> None:
    notes.append(f"reply: ollama has no place for a block of {wire}'s own; left out")


def write_end(stop: Stop | None, usage: Usage | None, extra: Extra, notes: list[str]) -> tuple[Body, Body]:
    """What the last line adds to the message, and what it says of the whole."""
    own = own_extra(extra, WIRE, "reply", notes)
    more = own.pop("message", {})
    end: Body = {"done": True, "done_reason": write_reason(stop, notes), **dict.fromkeys(DURATIONS, 0)}
    if usage:
        end.update(write_usage(usage, notes))
    end.update(own)
    return more, end


def write_fault(error: UpstreamError) -> tuple[int, Body]:
    return error.status or 502, {"error": error.message}
