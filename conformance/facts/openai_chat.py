"""OpenAI Chat Completions."""

from __future__ import annotations

from typing import Any

from conformance.facts.reading import History, arguments, events, texts_of

Body = dict[str, Any]
HISTORY = "messages"

_STOPS = {"stop": "stop", "tool_calls": "calls", "function_call": "calls", "length": "length", "content_filter": "filter"}


def request(body: Body) -> Body:
    history, system = History(), []
    for message in body["messages"]:
        role, content = message["role"], message.get("content")
        if role in ("system", "developer"):
            system.append(texts_of(content))
        elif role == "tool":
            history.result(message.get("tool_call_id"), texts_of(content))
        else:
            history.text(role, texts_of(content, "text", "refusal"))
            for call in message.get("tool_calls") or ():
                history.call(call.get("id"), *_call(call))
        history.images += sum(part["type"] == "image_url" for part in content if isinstance(part, dict)) if content else 0
    form = (body.get("response_format") or {}).get("json_schema")
    options = {
        "limit": body.get("max_completion_tokens", body.get("max_tokens")),
        "temperature": body.get("temperature"),
        "top_p": body.get("top_p"),
        "stop": body.get("stop"),
        "seed": body.get("seed"),
    }
    tools = [tool["function"] for tool in body.get("tools") or () if tool["type"] == "function"]
    found = {
        "system": "\n\n".join(system),
        "tools": [_tool(tool) for tool in tools],
        "choice": _choice(body.get("tool_choice")),
    }
    return found | history.facts(has_error_flag=False) | {"output": form and form["schema"]} | options


def _tool(tool: Body) -> tuple[str, str, Any]:
    return tool["name"], tool.get("description") or "", tool.get("parameters")


def _choice(choice: Any) -> Any:
    if isinstance(choice, dict):
        if "allowed_tools" in choice:
            allowed = choice["allowed_tools"]
            return allowed["mode"], [tool["function"]["name"] for tool in allowed["tools"]]
        return "required", [choice["function"]["name"]]
    return choice or "auto"


def _call(call: Body) -> tuple[str, Any]:
    inner = call.get("function") or call["custom"]
    return inner["name"], arguments(inner["arguments"]) if "arguments" in inner else {"input": inner["input"]}


def response(body: Body) -> Body:
    [choice] = body["choices"]
    message, usage = choice["message"], body.get("usage") or {}
    calls = [_call(call) for call in message.get("tool_calls") or ()]
    return {
        "text": texts_of(message.get("content")) + (message.get("refusal") or ""),
        "calls": calls,
        "stop": _STOPS.get(choice["finish_reason"]),
        "tokens": (usage.get("prompt_tokens"), usage.get("completion_tokens")) if usage else None,
    }


def fold(stream: str) -> Body:
    text, refusal, calls, reason, usage = "", "", dict[int, Body](), None, None
    for chunk in events(stream):
        usage = chunk.get("usage") or usage
        for choice in chunk["choices"]:
            delta, reason = choice["delta"], choice.get("finish_reason") or reason
            text += delta.get("content") or ""
            refusal += delta.get("refusal") or ""
            for part in delta.get("tool_calls") or ():
                _add(calls.setdefault(part["index"], {"id": part.get("id")}), part)
    message = {"content": text, "refusal": refusal, "tool_calls": [calls[at] for at in sorted(calls)]}
    return {"choices": [{"message": message, "finish_reason": reason}], "usage": usage}


def _add(call: Body, part: Body) -> None:
    for kind, text in (("function", "arguments"), ("custom", "input")):
        if kind in part:
            inner = call.setdefault(kind, {"name": "", text: ""})
            inner["name"] += part[kind].get("name") or ""
            inner[text] += part[kind].get(text) or ""
