"""Writes a whole reply or an error as OpenAI Chat's server does. (The stream's reader reads it.)"""

from __future__ import annotations

import msgspec

from toolglot.core.envelope import seal
from toolglot.core.interfaces import Quirks, ResponseContext
from toolglot.core.messages import Extra, Opaque, Reasoning, Text, ToolCall
from toolglot.core.reply import Reply
from toolglot.io.request_validation import Body, no_place_in_reply, wire_extra
from toolglot.wires.openai_chat import signatures
from toolglot.wires.openai_chat.legacy_functions import first_call, uses_legacy_functions
from toolglot.wires.openai_chat.messages import write_call
from toolglot.wires.openai_chat.shapes import WIRE, finish_reason, write_usage
from toolglot.wires.openai_common import FAMILY


def write_reply(reply: Reply, context: ResponseContext, notes: list[str]) -> Body:
    body: Body = {
        "id": context.id or reply.id or "",
        "object": "chat.completion",
        "created": context.created or reply.created or 0,
        "model": context.model or reply.model or "",
        "choices": [_choice(reply, notes, uses_functions=uses_legacy_functions(context.request))],
    }
    if reply.usage:
        body["usage"] = write_usage(reply.usage)
    if reply.extra:
        kept, choice, message = split_extra_fields(reply.extra, notes)
        body["choices"][0].update(choice)
        body["choices"][0]["message"].update(message)
        body.update(kept)
    return body


def split_extra_fields(extra: Extra, notes: list[str]) -> tuple[Body, Body, Body]:
    """The extra fields of a reply: for the body, for its choice, and for the choice's message."""
    kept = wire_extra(extra, WIRE, "reply", notes, FAMILY)
    choices = kept.pop("choices", None) or [{}]
    choice = dict(choices[0])
    return kept, choice, choice.pop("message", {})


def _choice(reply: Reply, notes: list[str], *, uses_functions: bool) -> Body:
    message: Body = {"role": "assistant", "content": None, "refusal": None, "annotations": []}
    texts: list[str] = []
    refusals: list[str] = []
    thoughts: list[str] = []
    details: list[Body] = []
    calls: list[ToolCall] = []
    for part in reply.parts:
        if isinstance(part, Text):
            (refusals if part.channel == "refusal" else texts).append(part.text)
            if part.extra:
                message.update(wire_extra(part.extra, WIRE, "text", notes))
        elif isinstance(part, Reasoning):
            thoughts.append(part.text)
            details += write_details(part.extra)
        elif isinstance(part, ToolCall):
            calls.append(part)
        else:
            no_place_in_reply(WIRE, "opaque" if isinstance(part, Opaque) else "media", getattr(part, "wire", None), notes)
    if texts or not (calls or refusals):  # null if there is something else
        message["content"] = "".join(texts)
    if refusals:
        message["refusal"] = "".join(refusals)
    if any(thoughts):
        message["reasoning_content"] = "".join(thoughts)
    if details:
        message["reasoning_details"] = details
    if calls and uses_functions:
        message["function_call"] = first_call(calls, notes)
    elif calls:
        message["tool_calls"] = [_write_call(call, notes) for call in calls]
    reason = finish_reason(reply.stop, refused=bool(refusals), uses_functions=uses_functions)
    return {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}


def _write_call(call: ToolCall, notes: list[str]) -> Body:
    if call.extra:
        call = msgspec.structs.replace(call, extra=signatures.for_client(call.extra))
    return write_call(call, notes, Quirks())


def write_details(extra: Extra) -> list[Body]:
    """Signatures and encrypted reasoning for the client to return: this wire's, and other wires' sealed."""
    kept = extra.get(WIRE, {}).get("reasoning_details")
    details = list(kept) if isinstance(kept, list) else []
    sealed = seal(extra, but=WIRE)
    if sealed:
        details.append({"type": "reasoning.encrypted", "data": sealed, "format": "toolglot", "index": len(details)})
    return details
