"""Anthropic Messages."""

from __future__ import annotations

from typing import Any

from conformance.facts.reading import History, arguments, events, texts_of

Body = dict[str, Any]
HISTORY = "messages"

_STOPS = {"end_turn": "stop", "stop_sequence": "stop", "tool_use": "calls", "max_tokens": "length", "refusal": "filter"}
_CHOICES = {"any": "required", "auto": "auto", "none": "none"}


def request(body: Body) -> Body:
    history, system = History(), [texts_of(body["system"])] if body.get("system") else []
    for message in body["messages"]:
        role, content = message["role"], message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if role == "system":
            system.append(texts_of(blocks))
            continue
        for block in blocks:
            if block["type"] == "text":
                history.text(role, block["text"])
            elif block["type"] == "image":
                history.images += 1
            elif block["type"] == "tool_use":
                history.call(block["id"], block["name"], block["input"])
            elif block["type"] == "tool_result":
                inner = block.get("content")
                history.result(block["tool_use_id"], texts_of(inner), is_error=bool(block.get("is_error")))
                history.images += sum(part["type"] == "image" for part in inner) if isinstance(inner, list) else 0
    form = (body.get("output_config") or {}).get("format") or {}
    options = {
        "limit": body.get("max_tokens"),
        "temperature": body.get("temperature"),
        "top_p": body.get("top_p"),
        "stop": body.get("stop_sequences"),
    }
    tools = [tool for tool in body.get("tools") or () if "input_schema" in tool]
    listed = [(tool["name"], tool.get("description") or "", tool["input_schema"]) for tool in tools]
    choice = body.get("tool_choice") or {"type": "auto"}
    chosen = ("required", [choice["name"]]) if choice["type"] == "tool" else _CHOICES[choice["type"]]
    found = {"system": "\n\n".join(system), "tools": listed, "choice": chosen}
    return found | history.facts(has_error_flag=True) | {"output": form.get("schema")} | options


def response(body: Body) -> Body:
    blocks, usage = body["content"], body.get("usage") or {}
    tokens = None
    if usage:
        cached = (usage.get("cache_read_input_tokens") or 0) + (usage.get("cache_creation_input_tokens") or 0)
        tokens = (usage["input_tokens"] + cached, usage["output_tokens"])
    return {
        "text": "".join(block["text"] for block in blocks if block["type"] == "text"),
        "calls": [(block["name"], arguments(block["input"])) for block in blocks if block["type"] == "tool_use"],
        "stop": _STOPS.get(body["stop_reason"]),
        "tokens": tokens,
    }


def fold(stream: str) -> Body:
    message: Body = {}
    blocks: dict[int, Body] = {}
    for event in events(stream):
        if event["type"] == "message_start":
            message = event["message"]
        elif event["type"] == "content_block_start":
            blocks[event["index"]] = dict(event["content_block"])
        elif event["type"] == "content_block_delta":
            _add(blocks[event["index"]], event["delta"])
        elif event["type"] == "message_delta":
            given = {key: value for key, value in event.get("usage", {}).items() if value is not None}
            message |= event["delta"] | {"usage": message.get("usage", {}) | given}
    return message | {"content": [blocks[at] for at in sorted(blocks)]}


def _add(block: Body, delta: Body) -> None:
    if delta["type"] == "text_delta":
        block["text"] += delta["text"]
    elif delta["type"] == "input_json_delta":
        before = block["input"] if isinstance(block["input"], str) else ""
        block["input"] = (before + delta["partial_json"]) or {}
