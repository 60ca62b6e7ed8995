"""The conversation as Anthropic and Gemini have it: requests, a whole reply, and its stream; all of it bytes.

As OpenAI Chat has it, it comes with the package: `toolglot.speed.as_chat`.
"""

from __future__ import annotations

import json
from typing import Any

from toolglot.speed.as_chat import MAX_TOKENS, USAGE_IN, USAGE_OUT, call_id, compact, fragments, words
from toolglot.speed.conversation import REPLY_CALLS, REPLY_TEXT, SYSTEM, TOOLS, TURNS

Body = dict[str, Any]

ANTHROPIC_MODEL, GEMINI_MODEL = "claude-sonnet-4-5", "gemini-2.5-pro"


# -- requests


def anthropic_request() -> bytes:
    messages: list[Body] = []
    count = 0
    for turn in TURNS:
        if isinstance(turn, str):
            messages.append({"role": "user", "content": turn})
            continue
        text, calls = turn
        blocks: list[Body] = [{"type": "text", "text": text}] if text else []
        answers: list[Body] = []
        for name, arguments, answer in calls:
            blocks.append({"type": "tool_use", "id": call_id(count), "name": name, "input": arguments})
            answers.append({"type": "tool_result", "tool_use_id": call_id(count), "content": answer})
            count += 1
        messages.append({"role": "assistant", "content": blocks})
        if answers:
            messages.append({"role": "user", "content": answers})
    tools = [{"name": name, "description": about, "input_schema": schema} for name, about, schema in TOOLS]
    head = {"model": ANTHROPIC_MODEL, "max_tokens": MAX_TOKENS, "system": SYSTEM}
    return compact({**head, "messages": messages, "tools": tools, "tool_choice": {"type": "auto"}}).encode()


def gemini_request() -> bytes:
    contents: list[Body] = []
    count = 0
    for turn in TURNS:
        if isinstance(turn, str):
            contents.append({"role": "user", "parts": [{"text": turn}]})
            continue
        text, calls = turn
        parts: list[Body] = [{"text": text}] if text else []
        answers: list[Body] = []
        for name, arguments, answer in calls:
            parts.append({"functionCall": {"id": call_id(count), "name": name, "args": arguments}})
            response = json.loads(answer) if answer.startswith("{") else {"output": answer}
            answers.append({"functionResponse": {"id": call_id(count), "name": name, "response": response}})
            count += 1
        contents.append({"role": "model", "parts": parts})
        if answers:
            contents.append({"role": "user", "parts": answers})
    declared = []
    for name, about, schema in TOOLS:
        has_any = {"parametersJsonSchema": schema} if schema["properties"] else {}
        declared.append({"name": name, "description": about, **has_any})
    body = {
        "systemInstruction": {"parts": [{"text": SYSTEM}]},
        "contents": contents,
        "tools": [{"functionDeclarations": declared}],
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
        "generationConfig": {"maxOutputTokens": MAX_TOKENS},
    }
    return compact(body).encode()


# -- whole replies


def anthropic_reply() -> bytes:
    content: list[Body] = [{"type": "text", "text": REPLY_TEXT}]
    for at, (name, arguments) in enumerate(REPLY_CALLS):
        content.append({"type": "tool_use", "id": f"toolu_{at}", "name": name, "input": arguments})
    usage = {"input_tokens": USAGE_IN, "output_tokens": USAGE_OUT}
    head = {"id": "msg_01", "type": "message", "role": "assistant", "model": ANTHROPIC_MODEL}
    return compact({**head, "content": content, "stop_reason": "tool_use", "stop_sequence": None, "usage": usage}).encode()


def gemini_reply() -> bytes:
    parts: list[Body] = [{"text": REPLY_TEXT}]
    for at, (name, arguments) in enumerate(REPLY_CALLS):
        parts.append({"functionCall": {"id": f"fc_{at}", "name": name, "args": arguments}})
    return compact(_gemini_chunk(parts, "STOP")).encode()


# -- streams, as the pieces that arrive


def anthropic_stream() -> list[bytes]:
    def event(kind: str, **more: Any) -> bytes:
        return f"event: {kind}\ndata: {compact({'type': kind, **more})}\n\n".encode()

    def block(index: int, opened: Body, deltas: list[Body]) -> list[bytes]:
        inner = [event("content_block_delta", index=index, delta=delta) for delta in deltas]
        start = event("content_block_start", index=index, content_block=opened)
        return [start, *inner, event("content_block_stop", index=index)]

    message = {"id": "msg_01", "type": "message", "role": "assistant", "model": ANTHROPIC_MODEL, "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": USAGE_IN, "output_tokens": 1}}
    pieces = [event("message_start", message=message)]
    pieces += block(0, {"type": "text", "text": ""}, [{"type": "text_delta", "text": word} for word in words()])
    for at, (name, arguments) in enumerate(REPLY_CALLS):
        deltas = [{"type": "input_json_delta", "partial_json": text} for text in fragments(arguments)]
        pieces += block(at + 1, {"type": "tool_use", "id": f"toolu_{at}", "name": name, "input": {}}, deltas)
    usage = {"output_tokens": USAGE_OUT}
    pieces.append(event("message_delta", delta={"stop_reason": "tool_use", "stop_sequence": None}, usage=usage))
    return [*pieces, event("message_stop")]


def gemini_stream() -> list[bytes]:
    pieces = [_gemini_frame([{"text": word}]) for word in words()]
    for at, (name, arguments) in enumerate(REPLY_CALLS):
        pieces.append(_gemini_frame([{"functionCall": {"id": f"fc_{at}", "name": name, "args": arguments}}]))
    return [*pieces, _gemini_frame([{"text": ""}], "STOP")]


def _gemini_frame(parts: list[Body], reason: str | None = None) -> bytes:
    return f"data: {compact(_gemini_chunk(parts, reason))}\r\n\r\n".encode()


def _gemini_chunk(parts: list[Body], reason: str | None) -> Body:
    candidate: Body = {"content": {"role": "model", "parts": parts}, "index": 0}
    usage = {"promptTokenCount": USAGE_IN, "totalTokenCount": USAGE_IN}
    if reason:
        candidate["finishReason"] = reason
        usage |= {"candidatesTokenCount": USAGE_OUT, "totalTokenCount": USAGE_IN + USAGE_OUT}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": GEMINI_MODEL, "responseId": "r_01"}
