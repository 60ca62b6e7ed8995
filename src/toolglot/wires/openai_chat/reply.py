"""Writing a whole reply, and an error, as OpenAI Chat's server does. (Reading is the stream's reader.)"""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.core.envelope import seal
from toolglot.core.fold import fold
from toolglot.core.interfaces import Answering, Quirks
from toolglot.core.messages import Extra, Opaque, Reasoning, Text, ToolCall
from toolglot.core.reply import Reply
from toolglot.reading.shape import own_extra
from toolglot.wires.openai_chat import signatures
from toolglot.wires.openai_chat.functions import is_of_old, only_call
from toolglot.wires.openai_chat.messages import write_call
from toolglot.wires.openai_chat.shapes import WIRE, finish_reason, write_usage
from toolglot.wires.openai_chat.stream import read_events
from toolglot.wires.openai_family import FAMILY

Body = dict[str, Any]


def read_reply(body: Body, channel: str | None = None) -> Reply:
    return fold(read_events(body, channel))


def write_reply(reply: Reply, answering: Answering, notes: list[str]) -> Body:
    body: Body = {
        "id": answering.id or reply.id or "",
        "object": "chat.completion",
        "created": answering.created or reply.created or 0,
        "model": answering.model or reply.model or "",
        "choices": [_choice(reply, notes, of_old=is_of_old(answering.request))],
    }
    if reply.usage:
        body["usage"] = write_usage(reply.usage)
    if reply.extra:
        kept, choice, message = split_own(reply.extra, notes)
        body["choices"][0].update(choice)
        body["choices"][0]["message"].update(message)
        body.update(kept)
    return body


def split_own(extra: Extra, notes: list[str]) -> tuple[Body, Body, Body]:
    """What a reply has of this wire's own: for the body, for its choice, and for the choice's message."""
    kept = own_extra(extra, WIRE, "reply", notes, FAMILY)
    choices = kept.pop("choices", None) or [{}]
    choice = dict(choices[0])
    return kept, choice, choice.pop("message", {})


def _choice(reply: Reply, notes: list[str], *, of_old: bool) -> Body:
    message: Body = {"role": "assistant", "content": None, "refusal": None}
    texts: list[str] = []
    refusals: list[str] = []
    thoughts: list[str] = []
    details: list[Body] = []
    calls: list[ToolCall] = []
    for part in reply.parts:
        if isinstance(part, Text):
            (refusals if part.channel == "refusal" else texts).append(part.text)
            if part.extra:
                message.update(own_extra(part.extra, WIRE, "text", notes))
        elif isinstance(part, Reasoning):
            thoughts.append(part.text)
            details += write_details(part.extra)
        elif isinstance(part, ToolCall):
            calls.append(part)
        else:
            what = f"block of {part.wire}'s own" if isinstance(part, Opaque) else "picture or file"
            notes.append(f"reply: openai-chat has no place for a {what}; left out")
    if texts or not (calls or refusals):  # null is what stands beside something else that is said
        message["content"] = "".join(texts)
    if refusals:
        message["refusal"] = "".join(refusals)
    if any(thoughts):
        message["reasoning_content"] = "".join(thoughts)
    if details:
        message["reasoning_details"] = details
    if calls and of_old:
        message["function_call"] = only_call(calls, notes)
    elif calls:
        message["tool_calls"] = [_write_call(call, notes) for call in calls]
    reason = finish_reason(reply.stop, refused=bool(refusals), of_old=of_old)
    return {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}


def _write_call(call: ToolCall, notes: list[str]) -> Body:
    if call.extra:
        call = msgspec.structs.replace(call, extra=signatures.told(call.extra))
    return write_call(call, notes, Quirks())


def write_details(extra: Extra) -> list[Body]:
    """Signatures and encrypted reasoning for the client to give back: our own, and other wires' under seal."""
    own = extra.get(WIRE, {}).get("reasoning_details")
    details = list(own) if isinstance(own, list) else []
    sealed = seal(extra, but=WIRE)
    if sealed:
        details.append({"type": "reasoning.encrypted", "data": sealed, "format": "toolglot", "index": len(details)})
    return details
