"""The response object and its output items.

Every field that the API's type requires is written, because clients validate them.
"""

from __future__ import annotations

from typing import Any

from toolglot.core.envelope import seal
from toolglot.core.interfaces import Quirks, ResponseContext
from toolglot.core.messages import Extra, Media, Opaque, Part, Reasoning, Text, ToolCall
from toolglot.core.neighbour_state import NEIGHBOUR_STATE, unsigned
from toolglot.core.reply import Decision, Stop, Usage
from toolglot.core.request import Request
from toolglot.errors import UpstreamError
from toolglot.io.request_validation import Body, wire_block, wire_extra
from toolglot.wires.openai_common import FAMILY
from toolglot.wires.openai_responses.content import PART_KEYS, write_output_text
from toolglot.wires.openai_responses.items import write_call, write_reasoning
from toolglot.wires.openai_responses.request import leading_instructions, write_text, write_thinking
from toolglot.wires.openai_responses.shapes import (
    ERROR_CODE_OF_STATUS,
    ERROR_CODES,
    INCOMPLETE_OUT,
    REASON_IN,
    WIRE,
    make_id,
    write_usage,
)
from toolglot.wires.openai_responses.tools import write_choice, write_tools
from toolglot.wires.openai_responses.vendor_tools import write_client_call

_QUIRKS = Quirks()

# The API's defaults.
_DEFAULTS: Body = {
    "background": False,
    "frequency_penalty": 0.0,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "default",
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
}
_CUTS = frozenset({*INCOMPLETE_OUT.values(), "steered"})
_ECHOED = (
    "background",
    "frequency_penalty",
    "max_tool_calls",
    "metadata",
    "presence_penalty",
    "previous_response_id",
    "prompt_cache_key",
    "safety_identifier",
    "store",
    "top_logprobs",
    "truncation",
)


class Ids:
    """The ids of one response's items: the original id if it is unused, else a generated one."""

    def __init__(self, response_id: str) -> None:
        self._response_id = response_id
        self._taken: set[str] = set()

    def take(self, kind: str, extra: Extra, index: int) -> str:
        item_id = extra.get(WIRE, {}).get("id") if extra else None
        if not isinstance(item_id, str) or not item_id or item_id in self._taken:
            item_id = make_id(kind, self._response_id, index)
        self._taken.add(item_id)
        return item_id


def kind_of(part: Part) -> str:
    if isinstance(part, Reasoning):
        return "reasoning"
    if isinstance(part, ToolCall):
        return "custom" if part.custom else "call"
    return "media" if isinstance(part, Media) else "text"


def write_item(part: Part, item_id: str, notes: list[str], client_tools: frozenset[str] = frozenset()) -> Body | None:
    """One part as an output item; None if this API has no item for it. `client_tools`: those with items of their own."""
    match part:
        case ToolCall() if part.sealed and part.full_name in client_tools:
            return write_client_call(part, item_id)
        case Text():
            return _write_message(part, item_id, notes)
        case ToolCall():
            extras = _extra_fields(part.extra, f"call {part.id}", notes)
            return write_call(part, {"status": "completed" if part.sealed else "incomplete", **extras, "id": item_id}, _QUIRKS)
        case Reasoning(text, extra):
            extras = dict(extra.get(WIRE, {}))
            sealed = None if "encrypted_content" in extras else seal(extra, but=WIRE)
            if sealed:
                extras["encrypted_content"] = sealed
            return write_reasoning(text, {**extras, "id": item_id})
        case Opaque():
            return wire_block(part, WIRE, notes)
        case Media(kind="image", data=str(data)):
            return {"id": item_id, "type": "image_generation_call", "status": "completed", "result": data}
        case _:
            notes.append("reply: openai-responses has no place for audio, a file or a URL; left out")
            return None


def _extra_fields(extra: Extra, where: str, notes: list[str]) -> Body:
    if not extra:
        return {}
    extras = wire_extra(unsigned(extra, WIRE), WIRE, where, notes)
    extras.pop(NEIGHBOUR_STATE, None)
    return extras


def _write_message(part: Text, item_id: str, notes: list[str]) -> Body:
    content = write_output_text(part)
    if part.channel != "refusal":
        content.setdefault("logprobs", [])
    extras = _extra_fields(part.extra, "text", notes)
    state = {key: value for key, value in extras.items() if key not in PART_KEYS}
    return {"type": "message", "role": "assistant", "status": "completed", "content": [content], **state, "id": item_id}


# -- the response object: a head that never changes, and a tail that tells how it ended


def response_head(context: ResponseContext, id: str | None, model: str | None, created: int | None) -> Body:
    head: Body = {
        "id": context.id or id or "resp_0",
        "object": "response",
        "created_at": context.created or created or 0,
        "model": context.model or model or "",
        **_DEFAULTS,
    }
    if context.request is not None:
        head.update(_echo(context.request))
    return head


def _echo(request: Request) -> Body:
    """Fields of the request. Notes are dropped, because this is only an echo."""
    notes: list[str] = []
    extras = wire_extra(request.extra, WIRE, "", notes, FAMILY)
    fields: Body = {
        "instructions": leading_instructions(request.messages, notes) or None,
        "max_output_tokens": request.max_tokens,
        "parallel_tool_calls": request.parallel,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "user": request.user,
    }
    echo = {key: value for key, value in fields.items() if value is not None}
    echo.update({key: extras[key] for key in _ECHOED if extras.get(key) is not None})
    if request.tools:
        echo["tools"] = write_tools(request.tools, notes, _QUIRKS)
    if request.choice is not None:
        echo["tool_choice"] = write_choice(request.choice, request.tools, notes, _QUIRKS)
    if request.thinking is not None:
        echo["reasoning"] = {"effort": None, "summary": None, **write_thinking(request.thinking, notes)}
    text = write_text(request, extras)
    if text:
        echo["text"] = {"format": {"type": "text"}, **text}
    return echo


def running() -> Body:
    return {"status": "in_progress", "error": None, "incomplete_details": None, "completed_at": None, "usage": None}


def ended(stop: Stop, usage: Usage | None, refused: bool, extra: Body, head: Body) -> Body:
    if stop.reason == "error":
        return failed(UpstreamError("the model ended its reply with an error", code=stop.raw))
    reason = stop.raw if stop.raw in REASON_IN else INCOMPLETE_OUT.get(stop.reason)
    if refused and stop.raw not in REASON_IN and stop.reason == "filter":
        reason = None  # a refusal is a complete answer
    return {
        **running(),
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "completed_at": None if reason else head["created_at"],
        "usage": write_usage(usage) if usage else None,
        **extra,
    }


def cuts_text(tail: Body, decisions: tuple[Decision, ...]) -> bool:
    """Whether the text that a response ends with was cut short; not if a rejected call was."""
    details = tail["incomplete_details"]
    cut = details is not None and details["reason"] in _CUTS
    return cut and all(one.code != "rejected_truncated" for one in decisions)


def failed(error: UpstreamError) -> Body:
    code = error.code if error.code in ERROR_CODES else ERROR_CODE_OF_STATUS.get(error.status or 500, "server_error")
    fields: dict[str, Any] = {"code": code, "message": error.message, "param": None, "type": error.code}
    return {**running(), "status": "failed", "error": fields}
