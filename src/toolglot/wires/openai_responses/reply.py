"""A whole reply, and an error. Reading is the stream's reader; writing is what the stream's writer ends with."""

from __future__ import annotations

from toolglot.core.fold import fold
from toolglot.core.interfaces import Answering
from toolglot.core.messages import Part, Text, ToolCall
from toolglot.core.reply import Reply, Stop
from toolglot.reading.shape import own_extra
from toolglot.wires.openai_family import FAMILY
from toolglot.wires.openai_responses.beside import reasoning_beside, sealed_beside
from toolglot.wires.openai_responses.output import (
    Ids,
    cuts_text,
    ended,
    failed,
    kind_of,
    response_head,
    write_item,
)
from toolglot.wires.openai_responses.shapes import WIRE, Body
from toolglot.wires.openai_responses.stream import read_events


def read_reply(body: Body, channel: str | None = None) -> Reply:
    return fold(read_events(body, channel))


def write_reply(reply: Reply, answering: Answering, notes: list[str]) -> Body:
    head = response_head(answering, reply.id, reply.model, reply.created)
    output = _write_output(reply.parts, Ids(head["id"]), notes)
    extra = own_extra(reply.extra, WIRE, "reply", notes, FAMILY) if reply.extra else {}
    if reply.error is not None:
        tail, cut = failed(reply.error), True
    else:
        refused = any(type(part) is Text and part.channel == "refusal" for part in reply.parts)
        tail = ended(reply.stop or Stop("other"), reply.usage, refused, extra, head)
        cut = cuts_text(tail, reply.decisions)
    if cut and reply.parts and isinstance(reply.parts[-1], Text):
        output[-1]["status"] = "incomplete"
    return {**head, **tail, "output": output}


def _write_output(parts: tuple[Part, ...], ids: Ids, notes: list[str]) -> list[Body]:
    output: list[Body] = []
    for part in parts:
        extra = getattr(part, "extra", {})
        sealed = sealed_beside(extra) if isinstance(part, (Text, ToolCall)) else None
        if sealed is not None:
            output.append({**reasoning_beside(sealed), "id": ids.take("reasoning", {}, len(output))})
        item = write_item(part, ids.take(kind_of(part), extra, len(output)), notes)
        if item is not None:
            output.append(item)
    return output
