"""The floor: what a good engineer would write for exactly this conversation and nothing else.

No checks, no other shapes, no notes: decode, walk the dicts once, encode. toolglot is measured by how near it comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

Body = dict[str, Any]
decode: Callable[[bytes | str], Any]
encode: Callable[[Any], bytes]

try:
    import orjson
except ImportError:
    CODEC, decode, encode = "msgspec", msgspec.json.Decoder().decode, msgspec.json.Encoder().encode
else:
    CODEC, decode, encode = "orjson", orjson.loads, orjson.dumps

_ANTHROPIC_CHOICE = {"auto": {"type": "auto"}, "required": {"type": "any"}, "none": {"type": "none"}}
_GEMINI_MODE = {"auto": "AUTO", "required": "ANY", "none": "NONE"}
_NO_SIGNATURE = "skip_thought_signature_validator"
_CHAT_REASON = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length"}
_STOP_REASON = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}


# -- requests


def chat_to_anthropic(data: bytes) -> bytes:
    body = decode(data)
    system = ""
    messages: list[Body] = []
    results: list[Body] | None = None
    for message in body["messages"]:
        role = message["role"]
        if role == "tool":
            if results is None:
                results = []
                messages.append({"role": "user", "content": results})
            results.append({"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]})
            continue
        results = None
        if role == "assistant":
            text = message["content"]
            blocks: list[Body] = [{"type": "text", "text": text}] if text else []
            for call in message.get("tool_calls", ()):
                function = call["function"]
                arguments = decode(function["arguments"])
                blocks.append({"type": "tool_use", "id": call["id"], "name": function["name"], "input": arguments})
            messages.append({"role": "assistant", "content": blocks})
        elif role == "user":
            messages.append({"role": "user", "content": message["content"]})
        else:
            system = message["content"]
    tools = []
    for tool in body["tools"]:
        source = tool["function"]
        tools.append({"name": source["name"], "description": source["description"], "input_schema": source["parameters"]})
    return encode(
        {
            "model": body["model"],
            "max_tokens": body["max_completion_tokens"],
            "system": system,
            "messages": messages,
            "tools": tools,
            "tool_choice": _ANTHROPIC_CHOICE[body["tool_choice"]],
        }
    )


def chat_to_gemini(data: bytes) -> bytes:
    body = decode(data)
    system = ""
    contents: list[Body] = []
    names: dict[str, str] = {}
    unsigned: list[Body] = []  # the first call of each step since the user spoke: Gemini wants a signature on it
    results: list[Body] | None = None
    for message in body["messages"]:
        role = message["role"]
        if role == "tool":
            if results is None:
                results = []
                contents.append({"role": "user", "parts": results})
            source, text = message["tool_call_id"], message["content"]
            output = decode(text) if text[0] == "{" else {"output": text}
            results.append({"functionResponse": {"id": source, "name": names[source], "response": output}})
            continue
        results = None
        if role == "assistant":
            text = message["content"]
            parts: list[Body] = [{"text": text}] if text else []
            for call in message.get("tool_calls", ()):
                function = call["function"]
                names[call["id"]] = function["name"]
                arguments = decode(function["arguments"])
                parts.append({"functionCall": {"id": call["id"], "name": function["name"], "args": arguments}})
                if call is message["tool_calls"][0]:
                    unsigned.append(parts[-1])
            contents.append({"role": "model", "parts": parts})
        elif role == "user":
            unsigned = []
            contents.append({"role": "user", "parts": [{"text": message["content"]}]})
        else:
            system = message["content"]
    for part in unsigned:
        part["thoughtSignature"] = _NO_SIGNATURE
    declared = []
    for tool in body["tools"]:
        source = tool["function"]
        one = {"name": source["name"], "description": source["description"]}
        if source["parameters"]["properties"]:
            one["parametersJsonSchema"] = source["parameters"]
        declared.append(one)
    return encode(
        {
            "systemInstruction": {"parts": [{"text": system}]},
            "contents": contents,
            "tools": [{"functionDeclarations": declared}],
            "toolConfig": {"functionCallingConfig": {"mode": _GEMINI_MODE[body["tool_choice"]]}},
            "generationConfig": {"maxOutputTokens": body["max_completion_tokens"]},
        }
    )


def anthropic_to_chat(data: bytes) -> bytes:
    body = decode(data)
    messages: list[Body] = [{"role": "system", "content": body["system"]}]
    for message in body["messages"]:
        content = message["content"]
        if message["role"] == "assistant":
            messages.append(_chat_message(content))
        elif isinstance(content, str):
            messages.append(message)
        else:
            for block in content:
                messages.append({"role": "tool", "tool_call_id": block["tool_use_id"], "content": block["content"]})
    tools = []
    for tool in body["tools"]:
        source = {"name": tool["name"], "description": tool["description"], "parameters": tool["input_schema"]}
        tools.append({"type": "function", "function": source})
    head = {"model": body["model"], "messages": messages, "tools": tools}
    return encode({**head, "tool_choice": body["tool_choice"]["type"], "max_completion_tokens": body["max_tokens"]})


def gemini_to_chat(data: bytes, model: str) -> bytes:
    body = decode(data)
    messages: list[Body] = [{"role": "system", "content": body["systemInstruction"]["parts"][0]["text"]}]
    for content in body["contents"]:
        parts = content["parts"]
        if content["role"] == "model":
            messages.append(_chat_message_of_parts(parts))
        elif "text" in parts[0]:
            messages.append({"role": "user", "content": parts[0]["text"]})
        else:
            for part in parts:
                source = part["functionResponse"]
                response = source["response"]
                output = response["output"] if "output" in response else encode(response).decode()
                messages.append({"role": "tool", "tool_call_id": source["id"], "content": output})
    tools = []
    for tool in body["tools"][0]["functionDeclarations"]:
        source = {"name": tool["name"], "description": tool["description"]}
        if "parametersJsonSchema" in tool:
            source["parameters"] = tool["parametersJsonSchema"]
        tools.append({"type": "function", "function": source})
    mode = body["toolConfig"]["functionCallingConfig"]["mode"].lower()
    head = {"model": model, "messages": messages, "tools": tools}
    return encode({**head, "tool_choice": mode, "max_completion_tokens": body["generationConfig"]["maxOutputTokens"]})


# -- whole replies


def anthropic_reply_to_chat(data: bytes) -> bytes:
    body = decode(data)
    usage = body["usage"]
    reason = _CHAT_REASON[body["stop_reason"]]
    counted = _chat_usage(usage["input_tokens"], usage["output_tokens"])
    return encode(_chat_reply(body["id"], body["model"], _chat_message(body["content"]), reason, counted))


def gemini_reply_to_chat(data: bytes) -> bytes:
    body = decode(data)
    usage = body["usageMetadata"]
    message = _chat_message_of_parts(body["candidates"][0]["content"]["parts"])
    reason = "tool_calls" if "tool_calls" in message else "stop"
    counted = _chat_usage(usage["promptTokenCount"], usage["candidatesTokenCount"])
    return encode(_chat_reply(body["responseId"], body["modelVersion"], message, reason, counted))


def _chat_message(blocks: list[Body]) -> Body:
    text, calls = None, []
    for block in blocks:
        if block["type"] == "text":
            text = block["text"]
        else:
            function = {"name": block["name"], "arguments": encode(block["input"]).decode()}
            calls.append({"id": block["id"], "type": "function", "function": function})
    message: Body = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = calls
    return message


def _chat_message_of_parts(parts: list[Body]) -> Body:
    text, calls = None, []
    for part in parts:
        if "text" in part:
            text = part["text"]
        else:
            source = part["functionCall"]
            function = {"name": source["name"], "arguments": encode(source["args"]).decode()}
            calls.append({"id": source["id"], "type": "function", "function": function})
    message: Body = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = calls
    return message


def _chat_reply(id: str, model: str, message: Body, reason: str, usage: Body) -> Body:
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {"id": id, "object": "chat.completion", "created": 0, "model": model, "choices": [choice], "usage": usage}


def _chat_usage(entered: int, left: int) -> Body:
    return {"prompt_tokens": entered, "completion_tokens": left, "total_tokens": entered + left}


# -- streams: each piece is one frame, whole


def anthropic_stream_to_chat(pieces: Iterable[bytes]) -> Iterator[bytes]:
    head: Body = {}
    calls, entered = -1, 0
    for piece in pieces:
        event = decode(piece[piece.index(b"data: ") + 6 :])
        kind = event["type"]
        if kind == "content_block_delta":
            delta = event["delta"]
            if delta["type"] == "text_delta":
                yield _chat_frame(head, {"content": delta["text"]})
            else:
                yield _chat_frame(head, {"tool_calls": [{"index": calls, "function": {"arguments": delta["partial_json"]}}]})
        elif kind == "content_block_start" and event["content_block"]["type"] == "tool_use":
            calls += 1
            block = event["content_block"]
            opened = {
                "index": calls,
                "id": block["id"],
                "type": "function",
                "function": {"name": block["name"], "arguments": ""},
            }
            yield _chat_frame(head, {"tool_calls": [opened]})
        elif kind == "message_start":
            message = event["message"]
            entered = message["usage"]["input_tokens"]
            head = _chat_head(message["id"], message["model"])
            yield _chat_frame(head, {"role": "assistant", "content": ""})
        elif kind == "message_delta":
            yield _chat_frame(head, {}, _CHAT_REASON[event["delta"]["stop_reason"]])
            usage = _chat_usage(entered, event["usage"]["output_tokens"])
            yield b"data: " + encode({**head, "choices": [], "usage": usage}) + b"\n\n"
    yield b"data: [DONE]\n\n"


def gemini_stream_to_chat(pieces: Iterable[bytes]) -> Iterator[bytes]:
    head: Body = {}
    calls = 0
    for piece in pieces:
        chunk = decode(piece[6:])
        if not head:
            head = _chat_head(chunk["responseId"], chunk["modelVersion"])
            yield _chat_frame(head, {"role": "assistant", "content": ""})
        candidate = chunk["candidates"][0]
        for part in candidate["content"]["parts"]:
            if part.get("text"):
                yield _chat_frame(head, {"content": part["text"]})
            elif "functionCall" in part:
                source = part["functionCall"]
                function = {"name": source["name"], "arguments": encode(source["args"]).decode()}
                yield _chat_frame(
                    head, {"tool_calls": [{"index": calls, "id": source["id"], "type": "function", "function": function}]}
                )
                calls += 1
        if "finishReason" in candidate:
            yield _chat_frame(head, {}, "tool_calls" if calls else "stop")
            usage = chunk["usageMetadata"]
            counted = _chat_usage(usage["promptTokenCount"], usage["candidatesTokenCount"])
            yield b"data: " + encode({**head, "choices": [], "usage": counted}) + b"\n\n"
    yield b"data: [DONE]\n\n"


def _chat_head(id: str, model: str) -> Body:
    return {"id": id, "object": "chat.completion.chunk", "created": 0, "model": model}


def _chat_frame(head: Body, delta: Body, reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return b"data: " + encode({**head, "choices": [choice]}) + b"\n\n"


def chat_stream_to_anthropic(pieces: Iterable[bytes]) -> Iterator[bytes]:
    index, kind, reason = -1, "", ""
    started = False
    for piece in pieces:
        if piece.startswith(b"data: [DONE]"):
            break
        chunk = decode(piece[6:])
        if not started:
            started = True
            yield _event("message_start", {"message": _message_head(chunk)})
        if not chunk["choices"]:
            usage = chunk["usage"]
            counted = {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"]}
            yield _event("content_block_stop", {"index": index})
            yield _event("message_delta", {"delta": {"stop_reason": reason, "stop_sequence": None}, "usage": counted})
            continue
        choice = chunk["choices"][0]
        delta = choice["delta"]
        if delta.get("content"):
            if kind != "text":
                index, kind = index + 1, "text"
                yield _event("content_block_start", {"index": index, "content_block": {"type": "text", "text": ""}})
            yield _event("content_block_delta", {"index": index, "delta": {"type": "text_delta", "text": delta["content"]}})
        for call in delta.get("tool_calls", ()):
            function = call["function"]
            if "id" in call:
                if index >= 0:
                    yield _event("content_block_stop", {"index": index})
                index, kind = index + 1, "call"
                block = {"type": "tool_use", "id": call["id"], "name": function["name"], "input": {}}
                yield _event("content_block_start", {"index": index, "content_block": block})
            if function["arguments"]:
                inner = {"type": "input_json_delta", "partial_json": function["arguments"]}
                yield _event("content_block_delta", {"index": index, "delta": inner})
        if choice["finish_reason"]:
            reason = _STOP_REASON[choice["finish_reason"]]
    yield _event("message_stop", {})


def _message_head(chunk: Body) -> Body:
    head = {"id": chunk["id"], "type": "message", "role": "assistant", "model": chunk["model"], "content": []}
    return {**head, "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 0, "output_tokens": 0}}


def _event(kind: str, fields: Body) -> bytes:
    return b"event: " + kind.encode() + b"\ndata: " + encode({"type": kind, **fields}) + b"\n\n"
