"""A call that the guard refused, as the model is told of it: what was wrong, and what to do now."""

from __future__ import annotations

import msgspec

from toolglot.core.messages import Message, Text, ToolCall, ToolResult
from toolglot.core.reply import Decision, Reply
from toolglot.text.json_text import loads_object, shown

NOT_RUN = "Not run:"  # so begins what the model is told
_AGAIN = "Make the call again"
ADVICE = {
    "rejected_unknown_tool": "If one of these does what is wanted, call it; if none does, say so in plain words.",
    "rejected_schema": f"{_AGAIN} with arguments that satisfy the tool's schema.",
    "rejected_arguments": f"{_AGAIN}; its arguments must be one JSON object.",
    "rejected_truncated": f"It never came to its end. {_AGAIN}, whole, and shorter if it was long.",
    "rejected_malformed": f"{_AGAIN}, in the form that you were shown.",
    "rejected_limit": "Make fewer or smaller calls.",
    "rejected_invented": "Make up no value.",
    "rejected_repeat": "Use the result: make the next call, or answer in plain words.",
    "rejected_unrelated": "Do without it: answer the user now, in your own words.",
    "rejected_result": "No tool has been run. Call the tools that give it, in the form that you were shown.",
    "rejected_unused": "Call it, in the form that you were shown; if it is not what is wanted, give your answer again.",
    "lacking_answer": "Answer again, in plain words, with what was asked for.",
    "rejected_incomplete": "Make all of them in one reply.",
    "rejected_choice": "Make only calls that are allowed now, or answer without a call.",
}
# replies that the model is not shown again: it would only copy them
UNSHOWN = frozenset({"rejected_result", "rejected_unused", "lacking_answer"})
_BACK = ("rejected_", "lacking_")  # how the codes begin of what the model is told of, to do it again
_SHOWN = 300  # characters of what was written, told back


def refusals(reply: Reply) -> list[Decision]:
    """The calls of a reply that may not be run, and an answer that lacks something. A call cut short is one of them."""
    told = [held for held in reply.decisions if held.code.startswith(_BACK) and held.call is not None]
    judged = {held.call.id for held in told if held.call is not None}
    cut = (part for part in reply.parts if isinstance(part, ToolCall) and not part.sealed and part.id not in judged)
    return told + [Decision("rejected_truncated", f"{call.full_name}: the call was cut short", call) for call in cut]


def as_said(call: ToolCall) -> ToolCall:
    """The call as it may stand in a history: what is no JSON object would be refused there."""
    arguments = call.arguments_json if loads_object(call.arguments_json) is not None else "{}"
    return msgspec.structs.replace(call, arguments_json=arguments, sealed=True)


def answer(refused: Decision, call: ToolCall) -> ToolResult:
    return ToolResult(call.id, call.full_name, (Text(sentence(refused)),), is_error=True)


def is_ours(message: Message) -> bool:
    """Whether it tells the model of a reply that named no tool: it stands in the user's place, who did not say it."""
    told = message.parts[0] if message.role == "user" and message.parts else None
    return isinstance(told, Text) and told.text.startswith(NOT_RUN)


def told_of(message: Message) -> frozenset[str]:
    """The codes of the refusals that the model is told of here."""
    texts = [part.text for part in message.parts if isinstance(part, Text | ToolResult) and part.text.startswith(NOT_RUN)]
    return frozenset(code for code, advice in ADVICE.items() if any(advice in text for text in texts))


def sentence(refused: Decision) -> str:
    """Precise, for the model: the reason with its path or names, what it wrote where that can't be seen, and what to do."""
    words = [f"{NOT_RUN} {refused.message.rstrip('.')}."]
    call = refused.call
    if call is not None and call.name and loads_object(call.arguments_json) is None and call.arguments_json.strip():
        words.append(f"The arguments were: {shown(call.arguments_json, _SHOWN)}")
    words.append(ADVICE.get(refused.code, f"{_AGAIN} as the tool wants it."))
    return " ".join(words)
