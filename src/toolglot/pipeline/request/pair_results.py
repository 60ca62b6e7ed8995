"""Pair calls and results in the history: most providers reject calls without results and results without calls."""

from __future__ import annotations

import msgspec

from toolglot.core.conversation import contents
from toolglot.core.messages import Message, Part, Text, ToolCall, ToolResult
from toolglot.core.request import Request
from toolglot.wires import continues_stored


def pair_results(request: Request, notes: list[str]) -> Request:
    """A call without a result gets `(no result)`. A result without a call becomes text."""
    if request.extra and continues_stored(request.extra):  # the server stores the calls
        return request
    if contents(request.messages).is_paired:
        return request
    paired: list[Message] = []
    open_calls: dict[str, ToolCall] = {}
    strays: list[ToolResult] = []
    for message in request.messages:
        if message.role == "tool":
            kept, unmatched = _split_results(message, open_calls)
            strays += unmatched
            if kept or not unmatched:
                paired.append(msgspec.structs.replace(message, parts=tuple(kept)) if unmatched else message)
            continue
        _close(open_calls, strays, paired, notes)
        if message.role == "assistant":
            open_calls = {part.id: part for part in message.parts if isinstance(part, ToolCall)}
        paired.append(message)
    if request.messages[-1].role == "tool":  # else results of the last calls may still follow
        _close(open_calls, strays, paired, notes)
    return msgspec.structs.replace(request, messages=tuple(paired))


def _close(open_calls: dict[str, ToolCall], strays: list[ToolResult], paired: list[Message], notes: list[str]) -> None:
    """End a turn: add missing results, then the results without a call."""
    if open_calls:
        _add_missing_results(open_calls, paired, notes)
    if strays:
        notes.extend(f"result {stray.call_id}: it has no call; sent as text" for stray in strays)
        paired.append(Message("user", tuple(map(_as_text, strays))))
        strays.clear()


def _split_results(message: Message, open_calls: dict[str, ToolCall]) -> tuple[list[Part], list[ToolResult]]:
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


def _add_missing_results(open_calls: dict[str, ToolCall], paired: list[Message], notes: list[str]) -> None:
    notes.extend(f"call {call.id}: it has no result; `(no result)` added" for call in open_calls.values())
    missing = tuple(ToolResult(call.id, call.full_name, (Text("(no result)"),)) for call in open_calls.values())
    if paired and paired[-1].role == "tool":
        paired[-1] = msgspec.structs.replace(paired[-1], parts=(*paired[-1].parts, *missing))
    else:
        paired.append(Message("tool", missing))
    open_calls.clear()
