"""The sample conversation as OpenAI Chat bytes: the request, and the reply as a stream."""

from __future__ import annotations

import json
import re
from typing import Any

from toolglot.speed.conversation import REPLY_CALLS, REPLY_TEXT, SYSTEM, TOOLS, TURNS

Body = dict[str, Any]

CHAT_MODEL = "gpt-5.2"
MAX_TOKENS = 4096
USAGE_IN, USAGE_OUT = 6120, 331


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def call_id(count: int) -> str:
    return f"call_{count:02d}_{count * 7919 % 99991:05d}"


def chat_request() -> bytes:
    messages: list[Body] = [{"role": "system", "content": SYSTEM}]
    count = 0
    for turn in TURNS:
        if isinstance(turn, str):
            messages.append({"role": "user", "content": turn})
            continue
        text, calls = turn
        message: Body = {"role": "assistant", "content": text}
        answers = []
        for name, arguments, answer in calls:
            function = {"name": name, "arguments": compact(arguments)}
            message.setdefault("tool_calls", []).append({"id": call_id(count), "type": "function", "function": function})
            answers.append({"role": "tool", "tool_call_id": call_id(count), "content": answer})
            count += 1
        messages += [message, *answers]
    tools = [
        {"type": "function", "function": {"name": name, "description": about, "parameters": schema}}
        for name, about, schema in TOOLS
    ]
    options = {"tool_choice": "auto", "max_completion_tokens": MAX_TOKENS}
    return compact({"model": CHAT_MODEL, "messages": messages, "tools": tools, **options}).encode()


def words() -> list[str]:
    """The reply's text in pieces of up to three letters, like a model's stream."""
    return re.findall(r"\s*\S{1,3}", REPLY_TEXT)


def fragments(arguments: Body) -> list[str]:
    text = compact(arguments)
    return [text[at : at + 8] for at in range(0, len(text), 8)]


def chat_stream() -> list[bytes]:
    def chunk(delta: Body, reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1773309600, "model": CHAT_MODEL}
        return f"data: {compact({**head, 'choices': [choice], 'usage': None})}\n\n".encode()

    pieces = [chunk({"role": "assistant", "content": "", "refusal": None})]
    pieces += [chunk({"content": word}) for word in words()]
    for at, (name, arguments) in enumerate(REPLY_CALLS):
        opened = {"index": at, "id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": ""}}
        pieces.append(chunk({"tool_calls": [opened]}))
        pieces += [chunk({"tool_calls": [{"index": at, "function": {"arguments": text}}]}) for text in fragments(arguments)]
    pieces.append(chunk({}, "tool_calls"))
    usage = {"prompt_tokens": USAGE_IN, "completion_tokens": USAGE_OUT, "total_tokens": USAGE_IN + USAGE_OUT}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1773309600, "model": CHAT_MODEL}
    pieces.append(f"data: {compact({**head, 'choices': [], 'usage': usage})}\n\n".encode())
    return [*pieces, b"data: [DONE]\n\n"]
