"""A request that came on another wire. Only this API stores conversations by default."""

from __future__ import annotations

import msgspec

from toolglot.core.messages import Message, Reasoning
from toolglot.core.request import Request
from toolglot.io.request_validation import Body
from toolglot.wires.openai_common import FAMILY
from toolglot.wires.openai_responses.shapes import WIRE

_SEALED = "encrypted_content"


def adopt(request: Request) -> Request:
    """Nothing is stored unless the client requests it; so reasoning is sent encrypted, not by its id."""
    shared = request.extra.get(FAMILY, {})
    if shared.get("store"):
        return request
    extra = {**request.extra, FAMILY: {**shared, "store": False}}
    thinking = request.thinking
    if thinking is not None and (thinking.show or thinking.effort not in (None, "off")):  # else the model may not reason
        fields: Body = request.extra.get(WIRE, {})
        extra[WIRE] = {"include": [f"reasoning.{_SEALED}"], **fields}
    return msgspec.structs.replace(request, messages=tuple(map(_without_ids, request.messages)), extra=extra)


def _without_ids(message: Message) -> Message:
    if not any(map(_is_known_by_id, message.parts)):
        return message
    parts = tuple(Reasoning(part.text) if _is_known_by_id(part) else part for part in message.parts)  # type: ignore[union-attr]
    return msgspec.structs.replace(message, parts=parts)


def _is_known_by_id(part: object) -> bool:
    return type(part) is Reasoning and _SEALED not in part.extra.get(WIRE, {_SEALED: ""})
