"""What a translation means, whatever its spelling: the floor and toolglot must agree in it, or the race is not fair."""

from __future__ import annotations

import json
from typing import Any

Body = dict[str, Any]


def of_request(wire: str, data: bytes) -> Body:
    """Keys that both sides write, with the free choices between spellings taken away."""
    return _REQUESTS[wire](json.loads(data))


def of_chat_reply(data: bytes) -> Body:
    body = json.loads(data)
    choice = body["choices"][0]
    return {"message": _chat_message(choice["message"]), "reason": choice["finish_reason"], "usage": body["usage"]}


def of_stream(wire: str, data: bytes) -> Body:
    """What a client would have at the end: the text, the calls, the reason and the count."""
    found: Body = {"text": "", "calls": {}, "reason": None, "usage": {}}
    for line in data.splitlines():
        if line.startswith(b"data: {"):
            _STREAMS[wire](json.loads(line[6:]), found)
    found["calls"] = [(name, json.loads(text)) for name, text in found["calls"].values()]
    return found


# -- requests


def _anthropic(body: Body) -> Body:
    messages = [(message["role"], [_block(block) for block in _blocks(message["content"])]) for message in body["messages"]]
    tools = [(tool["name"], tool["description"], tool["input_schema"]) for tool in body["tools"]]
    system = "".join(block["text"] for block in _blocks(body["system"]))
    return {
        "system": system,
        "messages": messages,
        "tools": tools,
        "limit": body["max_tokens"],
        "choice": body["tool_choice"]["type"],
    }


def _block(block: Body) -> Body:
    return {**block, "content": _blocks(block["content"])} if block["type"] == "tool_result" else block


def _blocks(content: Any) -> list[Body]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _gemini(body: Body) -> Body:
    tools = {
        tool["name"]: (tool["description"], tool.get("parametersJsonSchema"))
        for tool in body["tools"][0]["functionDeclarations"]
    }
    system = "".join(part["text"] for part in body["systemInstruction"]["parts"])
    mode = body["toolConfig"]["functionCallingConfig"]["mode"]
    limit = body["generationConfig"]["maxOutputTokens"]
    return {"system": system, "contents": body["contents"], "tools": tools, "limit": limit, "choice": mode}


def _chat(body: Body) -> Body:
    tools = [(tool["function"]["name"], tool["function"]["description"], _schema(tool)) for tool in body["tools"]]
    messages = [_chat_message(message) for message in body["messages"]]
    return {"messages": messages, "tools": tools, "limit": body["max_completion_tokens"], "choice": body["tool_choice"]}


def _schema(tool: Body) -> Body | None:
    schema = tool["function"].get("parameters")
    return schema if schema and schema.get("properties") else None


def _chat_message(message: Body) -> Body:
    calls = [
        (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in message.get("tool_calls", ())
    ]
    return {"role": message["role"], "text": message["content"] or "", "calls": calls, "answers": message.get("tool_call_id")}


_REQUESTS = {"anthropic": _anthropic, "gemini": _gemini, "openai-chat": _chat}


# -- streams


def _chat_chunk(chunk: Body, found: Body) -> None:
    usage = chunk.get("usage")
    if usage:
        found["usage"] = (usage["prompt_tokens"], usage["completion_tokens"])
    for choice in chunk["choices"]:
        delta = choice["delta"]
        found["text"] += delta.get("content") or ""
        found["reason"] = choice.get("finish_reason") or found["reason"]
        for call in delta.get("tool_calls", ()):
            entry = found["calls"].setdefault(call["index"], ["", ""])
            entry[0] += call["function"].get("name") or ""
            entry[1] += call["function"].get("arguments") or ""


def _anthropic_event(event: Body, found: Body) -> None:
    if event["type"] == "content_block_start" and event["content_block"]["type"] == "tool_use":
        found["calls"][event["index"]] = [event["content_block"]["name"], ""]
    elif event["type"] == "content_block_delta":
        delta = event["delta"]
        found["text"] += delta.get("text", "")
        if "partial_json" in delta:
            found["calls"][event["index"]][1] += delta["partial_json"]
    elif event["type"] == "message_delta":
        found["reason"] = event["delta"]["stop_reason"]
        found["usage"] = (event["usage"]["input_tokens"], event["usage"]["output_tokens"])


_STREAMS = {"openai-chat": _chat_chunk, "anthropic": _anthropic_event}
