"""Writes a whole reply, which is what a stream ends with. (The stream's reader reads it.)"""

from __future__ import annotations

from toolglot.core.interfaces import ResponseContext
from toolglot.core.messages import Part, Text, ToolCall
from toolglot.core.neighbour_state import sealed_neighbour_state
from toolglot.core.reply import Reply, Stop
from toolglot.io.request_validation import Body, wire_extra
from toolglot.wires.openai_common import FAMILY
from toolglot.wires.openai_responses.items import state_item
from toolglot.wires.openai_responses.output import (
    Ids,
    cuts_text,
    ended,
    failed,
    kind_of,
    response_head,
    write_item,
)
from toolglot.wires.openai_responses.shapes import WIRE
from toolglot.wires.openai_responses.vendor_tools import client_tools


def write_reply(reply: Reply, context: ResponseContext, notes: list[str]) -> Body:
    head = response_head(context, reply.id, reply.model, reply.created)
    output = _write_output(reply.parts, Ids(head["id"]), notes, client_tools(context.request))
    extra = wire_extra(reply.extra, WIRE, "reply", notes, FAMILY) if reply.extra else {}
    if reply.error is not None:
        tail, cut = failed(reply.error), True
    else:
        refused = any(type(part) is Text and part.channel == "refusal" for part in reply.parts)
        tail = ended(reply.stop or Stop("other"), reply.usage, refused, extra, head)
        cut = cuts_text(tail, reply.decisions)
    if cut and reply.parts and isinstance(reply.parts[-1], Text):
        output[-1]["status"] = "incomplete"
    return {**head, **tail, "output": output}


def _write_output(parts: tuple[Part, ...], ids: Ids, notes: list[str], own: frozenset[str]) -> list[Body]:
    output: list[Body] = []
    for part in parts:
        extra = getattr(part, "extra", {})
        sealed = sealed_neighbour_state(extra, WIRE) if isinstance(part, (Text, ToolCall)) else None
        if sealed is not None:
            output.append({**state_item(sealed), "id": ids.take("reasoning", {}, len(output))})
        item = write_item(part, ids.take(kind_of(part), extra, len(output)), notes, own)
        if item is not None:
            output.append(item)
    return output
