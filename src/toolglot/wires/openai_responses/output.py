"""What a server answers: the output items, and the response object around them.

Every field that the API's own type requires is there, for clients insist on them.
"""

from __future__ import annotations

from typing import Any

from toolglot.core.envelope import seal
from toolglot.core.interfaces import Answering, Quirks
from toolglot.core.messages import Extra, Media, Opaque, Part, Reasoning, Text, ToolCall
from toolglot.core.reply import Decision, Stop, Usage
from toolglot.core.request import Request
from toolglot.errors import UpstreamError
from toolglot.reading.shape import own_extra
from toolglot.wires.openai_family import FAMILY
from toolglot.wires.openai_responses.beside import BESIDE, unsigned
from toolglot.wires.openai_responses.content import PART_KEYS, write_said
from toolglot.wires.openai_responses.items import write_call, write_opaque, write_reasoning
from toolglot.wires.openai_responses.request import leading_instructions, write_text, write_thinking
from toolglot.wires.openai_responses.shapes import (
    ERROR_CODE_OF_STATUS,
    ERROR_CODES,
    INCOMPLETE_OUT,
    REASON_IN,
    WIRE,
    Body,
    make_id,
    write_usage,
)
from toolglot.wires.openai_responses.tools import write_choice, write_tools

_QUIRKS = Quirks()

# What the API itself answers where a request said nothing.
_DEFAULTS: Body = {
    "background": False,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
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
_CUTS = frozenset(INCOMPLETE_OUT.values())
_ECHOED = (
    "background",
    "max_tool_calls",
    "metadata",
    "previous_response_id",
    "prompt_cache_key",
    "safety_identifier",
    "store",
    "top_logprobs",
    "truncation",
)


class Ids:
    """The ids of one response's items: their own where they have one that is free, else made up."""

    def __init__(self, response_id: str) -> None:
        self._response_id = response_id
        self._taken: set[str] = set()

    def take(self, kind: str, extra: Extra, index: int) -> str:
        own = extra.get(WIRE, {}).get("id") if extra else None
        if not isinstance(own, str) or not own or own in self._taken:
            own = make_id(kind, self._response_id, index)
        self._taken.add(own)
        return own


def kind_of(part: Part) -> str:
    if isinstance(part, Reasoning):
        return "reasoning"
    if isinstance(part, ToolCall):
        return "custom" if part.custom else "call"
    return "media" if isinstance(part, Media) else "text"


def write_item(part: Part, item_id: str, notes: list[str]) -> Body | None:
    """One part as an output item, or None where there is no place for it."""
    match part:
        case Text():
            return _write_message(part, item_id, notes)
        case ToolCall():
            own = _own(part.extra, f"call {part.id}", notes)
            return write_call(part, {"status": "completed" if part.sealed else "incomplete", **own, "id": item_id}, _QUIRKS)
        case Reasoning(text, extra):
            own = dict(extra.get(WIRE, {}))
            sealed = None if "encrypted_content" in own else seal(extra, but=WIRE)
            if sealed:
                own["encrypted_content"] = sealed
            return write_reasoning(text, {**own, "id": item_id})
        case Opaque():
            return next(iter(write_opaque(part, notes)), None)
        case Media(kind="image", data=str(data)):
            return {"id": item_id, "type": "image_generation_call", "status": "completed", "result": data}
        case _:
            notes.append("reply: openai-responses has no place for a sound, a file or an address; left out")
            return None


def _own(extra: Extra, where: str, notes: list[str]) -> Body:
    if not extra:
        return {}
    own = own_extra(unsigned(extra), WIRE, where, notes)
    own.pop(BESIDE, None)
    return own


def _write_message(part: Text, item_id: str, notes: list[str]) -> Body:
    said = write_said(part)
    if part.channel != "refusal":
        said.setdefault("logprobs", [])
    own = _own(part.extra, "text", notes)
    state = {key: value for key, value in own.items() if key not in PART_KEYS}
    return {"type": "message", "role": "assistant", "status": "completed", "content": [said], **state, "id": item_id}


# -- the response object: a head that never changes, and a tail that tells how it ended


def response_head(answering: Answering, id: str | None, model: str | None, created: int | None) -> Body:
    head: Body = {
        "id": answering.id or id or "resp_0",
        "object": "response",
        "created_at": answering.created or created or 0,
        "model": answering.model or model or "",
        **_DEFAULTS,
    }
    if answering.request is not None:
        head.update(_echo(answering.request))
    return head


def _echo(request: Request) -> Body:
    """What the client asked for. What gets lost on this way is no loss: nobody acts on it."""
    notes: list[str] = []
    own = own_extra(request.extra, WIRE, "", notes, FAMILY)
    told: Body = {
        "instructions": leading_instructions(request.messages, notes) or None,
        "max_output_tokens": request.max_tokens,
        "parallel_tool_calls": request.parallel,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "user": request.user,
    }
    echo = {key: value for key, value in told.items() if value is not None}
    echo.update({key: own[key] for key in _ECHOED if own.get(key) is not None})
    if request.tools:
        echo["tools"] = write_tools(request.tools, notes, _QUIRKS)
    if request.choice is not None:
        echo["tool_choice"] = write_choice(request.choice, request.tools, notes, _QUIRKS)
    if request.thinking is not None:
        echo["reasoning"] = {"effort": None, "summary": None, **write_thinking(request.thinking, notes)}
    text = write_text(request, own)
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
        reason = None  # the refusal is the answer
    return {
        **running(),
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "completed_at": None if reason else head["created_at"],
        "usage": write_usage(usage) if usage else None,
        **extra,
    }


def cuts_text(tail: Body, decisions: tuple[Decision, ...]) -> bool:
    """Whether the text that a response ends with was cut short; not where a call was, which did not leave."""
    details = tail["incomplete_details"]
    cut = details is not None and details["reason"] in _CUTS
    return cut and all(one.code != "rejected_truncated" for one in decisions)


def failed(error: UpstreamError) -> Body:
    code = error.code if error.code in ERROR_CODES else ERROR_CODE_OF_STATUS.get(error.status or 500, "server_error")
    told: dict[str, Any] = {"code": code, "message": error.message, "param": None, "type": error.code}
    return {**running(), "status": "failed", "error": told}
