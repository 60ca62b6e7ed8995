"""What is asked and what the upstream answers: the conversation of the other benches, with 20 tools; and one for the soak."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import payloads
from toolglot.speed import as_chat
from toolglot.speed.conversation import REPLY_CALLS, REPLY_TEXT

CHAT, ANTHROPIC = "openai-chat", "anthropic"
PATHS = {CHAT: "/v1/chat/completions", ANTHROPIC: "/v1/messages"}
TO_CHAT, TO_ANTHROPIC = "to-chat", "to-anthropic"  # the names that routes lead on from
SOAK_WORDS = 100
_SOAK_CALL = ("update_issue", {"number": 7, "title": "soaked", "state": "open", "labels": ["x"]})


def chat_reply(text: str = REPLY_TEXT, calls: list[tuple[str, Any]] = REPLY_CALLS) -> bytes:
    made = [
        {"id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": as_chat.compact(arguments)}}
        for at, (name, arguments) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": text, "refusal": None, "annotations": [], "tool_calls": made}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls"}
    count = {"prompt_tokens": as_chat.USAGE_IN, "completion_tokens": as_chat.USAGE_OUT}
    usage = {**count, "total_tokens": as_chat.USAGE_IN + as_chat.USAGE_OUT}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1773309600, "model": as_chat.CHAT_MODEL}
    return as_chat.compact({**head, "choices": [choice], "usage": usage}).encode()


def upstream_files(folder: Path) -> list[str]:
    """The four files of `upstream.c`."""
    return _written(folder, chat_reply(), as_chat.chat_stream(), payloads.anthropic_reply(), payloads.anthropic_stream())


def chunks_of(model: str) -> int:
    """How many chunks the upstream sends."""
    return len(as_chat.chat_stream() if model == TO_CHAT else payloads.anthropic_stream())


def request(wire: str, model: str, *, stream: bool) -> bytes:
    body = json.loads(as_chat.chat_request() if wire == CHAT else payloads.anthropic_request())
    body["model"] = model
    if stream:
        body["stream"] = True
        if wire == CHAT:
            body["stream_options"] = {"include_usage": True}
    return as_chat.compact(body).encode()


# -- the soak's


def soak_files(folder: Path) -> list[str]:
    """Numbered words behind a tag of the request's own, and a call whose arguments hold the tag."""
    text = soak_text("@" * 8)
    name, arguments = _SOAK_CALL
    call = (name, {**arguments, "title": "@" * 8})
    words = [f"{word} " for word in text.split()]
    chunk_head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1773309600, "model": "m"}

    def chunk(delta: Any, reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return f"data: {as_chat.compact({**chunk_head, 'choices': [choice]})}\n\n".encode()

    function = {"name": name, "arguments": as_chat.compact(call[1])}
    chat = [chunk({"role": "assistant", "content": word} if not at else {"content": word}) for at, word in enumerate(words)]
    chat += [chunk({"tool_calls": [{"index": 0, "id": "call_0", "type": "function", "function": function}]})]
    chat += [chunk({}, "tool_calls"), b"data: [DONE]\n\n"]
    return _written(folder, _one_tag(chat_reply(text, [])), chat, _one_tag(_soak_message(text)), _soak_events(words, call))


def _one_tag(reply: bytes) -> bytes:
    return reply.replace(b'"tool_calls":[],', b"").replace(b'"finish_reason":"tool_calls"', b'"finish_reason":"stop"')


def soak_text(tag: str) -> str:
    return f"{tag} " + " ".join(f"w{at}" for at in range(1, SOAK_WORDS))


def _soak_message(text: str) -> bytes:
    head = {"id": "msg_01", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": text}]}
    usage = {"input_tokens": 10, "output_tokens": 20}
    return as_chat.compact({**head, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage}).encode()


def _soak_events(words: list[str], call: tuple[str, Any]) -> list[bytes]:
    def event(kind: str, **more: Any) -> bytes:
        return f"event: {kind}\ndata: {as_chat.compact({'type': kind, **more})}\n\n".encode()

    message: dict[str, Any] = {"id": "msg_01", "type": "message", "role": "assistant", "model": "m", "content": []}
    message |= {"stop_reason": None, "usage": {"input_tokens": 10, "output_tokens": 1}}
    deltas = [event("content_block_delta", index=0, delta={"type": "text_delta", "text": word}) for word in words]
    made = {"type": "tool_use", "id": "toolu_0", "name": call[0], "input": {}}
    written = {"type": "input_json_delta", "partial_json": as_chat.compact(call[1])}
    return [
        event("message_start", message=message),
        event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
        *deltas,
        event("content_block_stop", index=0),
        event("content_block_start", index=1, content_block=made),
        event("content_block_delta", index=1, delta=written),
        event("content_block_stop", index=1),
        event("message_delta", delta={"stop_reason": "tool_use", "stop_sequence": None}, usage={"output_tokens": 20}),
        event("message_stop"),
    ]


def _written(folder: Path, chat: bytes, chat_stream: list[bytes], anthropic: bytes, events: list[bytes]) -> list[str]:
    folder.mkdir(parents=True, exist_ok=True)
    files = {"chat": chat, "chat.stream": b"".join(chat_stream), "anthropic": anthropic, "anthropic.stream": b"".join(events)}
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return [str(folder / name) for name in files]
