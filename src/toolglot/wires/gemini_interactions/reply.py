"""Writes a whole interaction or an error as the API's server does. (The stream's reader reads it.)"""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.core.envelope import seal
from toolglot.core.interfaces import ResponseContext
from toolglot.core.messages import Extra, Part, Reasoning, Text, ToolCall
from toolglot.core.neighbour_state import sealed_neighbour_state, unsigned
from toolglot.core.reply import Reply, Stop, Usage
from toolglot.errors import UpstreamError
from toolglot.io.reply_values import write_timestamp
from toolglot.io.request_validation import Body, wire_extra
from toolglot.wires.gemini_interactions.messages import Turn
from toolglot.wires.gemini_interactions.shapes import ERROR_CODES, WIRE, write_status, write_usage
from toolglot.wires.gemini_interactions.steps import write_call, write_thought


def write_reply(reply: Reply, context: ResponseContext, notes: list[str]) -> Body:
    steps: list[Any] = []
    turn = ReplyTurn(steps, notes)
    for part in reply.parts:
        turn.add(part)
    head = write_head(context, reply.id, reply.model, reply.created)
    extra = wire_extra(reply.extra, WIRE, "reply", notes) if reply.extra else {}
    return {**head, **write_end(reply.stop or Stop("other"), reply.usage), "steps": steps, **extra}


def write_head(context: ResponseContext, id: str | None, model: str | None, created: int | None) -> Body:
    """The fields that do not change."""
    head: Body = {"id": context.id or id or "", "object": "interaction", "model": context.model or model or ""}
    made = context.created or created
    if made:
        head["created"] = head["updated"] = write_timestamp(made)
    asked = context.request.extra.get(WIRE, {}) if context.request is not None else {}
    if asked.get("agent"):
        head["agent"] = head.pop("model")
    if isinstance(asked.get("previous_interaction_id"), str):
        head["previous_interaction_id"] = asked["previous_interaction_id"]
    return head


def write_end(stop: Stop, usage: Usage | None) -> Body:
    status: Body = {"status": write_status(stop)}
    return {**status, "usage": write_usage(usage)} if usage else status


class ReplyTurn(Turn):
    """The steps of a reply: all reasoning is shown, and other vendors' state travels in signatures."""

    def _beside(self, part: Part) -> Part:
        sealed = sealed_neighbour_state(part.extra, WIRE) if isinstance(part, (Text, ToolCall)) else None
        if sealed is not None:
            self._step(write_thought("", {"signature": sealed}))
        return without_signatures(part)

    def _call(self, call: ToolCall) -> Body | None:
        if not call.sealed:
            self._notes.append(f"call {call.id}: it was cut short, and {WIRE} has only complete calls; left out")
            return None
        return write_call(call, self._notes)

    def _thought(self, part: Reasoning) -> Body | None:
        fields = thought_state(part.extra)
        return write_thought(part.text, fields) if part.text or fields else None


def thought_state(extra: Extra) -> Body:
    """What a client must return with a thought: this API's signature, or other wires' sealed state in its place."""
    fields: Body = extra.get(WIRE, {}) if extra else {}
    if not extra or "signature" in fields:
        return fields
    sealed = seal(extra, but=WIRE)
    return {**fields, "signature": sealed} if sealed else fields


def write_error(error: UpstreamError) -> tuple[int, Body]:
    status = error.status or 502
    return status, {"error": error_fields(error)}


def error_fields(error: UpstreamError) -> Body:
    """`code` is the vendor's word, if it is one."""
    status = error.status or 502
    word = ERROR_CODES.get(status, "internal" if status >= 500 else "invalid_request")
    own = error.code and not error.code.isdecimal()
    return {"code": error.code if own else word, "message": error.message}


def without_signatures(part: Part) -> Part:
    """Without other vendors' signatures, which are written separately."""
    if not isinstance(part, (Text, ToolCall)) or not part.extra:
        return part
    extra = unsigned(part.extra, WIRE)
    return part if extra is part.extra else msgspec.structs.replace(part, extra=extra)
