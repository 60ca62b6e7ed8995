"""Every call answered, every answer asked for: most providers refuse a history where that is not so."""

from __future__ import annotations

import msgspec

from toolglot.core.messages import Message, Part, Text, ToolCall, ToolResult
from toolglot.core.request import Request

_STATEFUL = ("previous_response_id", "conversation")


def settle(request: Request, notes: list[str]) -> Request:
    """A call that was never answered gets `(no result)`; an answer to no call becomes plain text."""
    own = request.extra.get("openai-responses") if request.extra else None
    if own and any(own.get(key) for key in _STATEFUL):  # the calls are in the server's keeping
        return request
    if _is_settled(request.messages):
        return request
    settled: list[Message] = []
    open_calls: dict[str, ToolCall] = {}
    strays: list[ToolResult] = []
    for message in request.messages:
        if message.role == "tool":
            kept, loose = _answers(message, open_calls)
            strays += loose
            if kept or not loose:
                settled.append(msgspec.structs.replace(message, parts=tuple(kept)) if loose else message)
            continue
        _close(open_calls, strays, settled, notes)
        if message.role == "assistant":
            open_calls = {part.id: part for part in message.parts if isinstance(part, ToolCall)}
        settled.append(message)
    if request.messages[-1].role == "tool":  # else the last calls may still be answered elsewhere
        _close(open_calls, strays, settled, notes)
    return msgspec.structs.replace(request, messages=tuple(settled))


def _close(open_calls: dict[str, ToolCall], strays: list[ToolResult], settled: list[Message], notes: list[str]) -> None:
    """The end of a turn's results: first those that are missing, then what answers nothing."""
    if open_calls:
        _answer_for(open_calls, settled, notes)
    if strays:
        notes.extend(f"result {stray.call_id}: it answers no call; it goes as text" for stray in strays)
        settled.append(Message("user", tuple(map(_as_text, strays))))
        strays.clear()


def _is_settled(messages: tuple[Message, ...]) -> bool:
    """The common case: every result answers a call that waits for it, and none waits when the talk goes on."""
    waiting: set[str] = set()
    for message in messages:
        if message.role == "tool":
            for part in message.parts:
                if type(part) is ToolResult:
                    if part.call_id not in waiting:
                        return False
                    waiting.remove(part.call_id)
        elif waiting:
            return False
        elif message.role == "assistant":
            for part in message.parts:
                if type(part) is ToolCall:
                    waiting.add(part.id)
    return not waiting or messages[-1].role != "tool"


def _answers(message: Message, open_calls: dict[str, ToolCall]) -> tuple[list[Part], list[ToolResult]]:
    kept: list[Part] = []
    strays: list[ToolResult] = []
    for part in message.parts:
        if isinstance(part, ToolResult) and open_calls.pop(part.call_id, None) is None:
            strays.append(part)
        else:
            kept.append(part)
    return kept, strays


def _as_text(stray: ToolResult) -> Text:
    return Text(f"(result of {stray.name or 'a tool'}, {stray.call_id}) {stray.text}")


def _answer_for(open_calls: dict[str, ToolCall], settled: list[Message], notes: list[str]) -> None:
    notes.extend(f"call {call.id}: it has no result; `(no result)` stands in" for call in open_calls.values())
    made = tuple(ToolResult(call.id, call.full_name, (Text("(no result)"),)) for call in open_calls.values())
    if settled and settled[-1].role == "tool":
        settled[-1] = msgspec.structs.replace(settled[-1], parts=(*settled[-1].parts, *made))
    else:
        settled.append(Message("tool", made))
    open_calls.clear()
