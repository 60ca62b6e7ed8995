"""Ollama's chat API."""

from __future__ import annotations

from typing import Any

from conformance.facts.reading import History, events

Body = dict[str, Any]
HISTORY = "messages"

_STOPS = {"stop": "stop", "length": "length"}


def request(body: Body) -> Body:
    history, system = History(), []
    for message in body["messages"]:
        role, content = message["role"], message.get("content") or ""
        if role == "system":
            system.append(content)
        elif role == "tool":
            history.result(message.get("tool_call_id"), content)
        else:
            history.text(role, content)
            for call in message.get("tool_calls") or ():
                history.call(call.get("id"), call["function"]["name"], call["function"].get("arguments") or {})
        history.images += len(message.get("images") or ())
    given = body.get("options") or {}
    options = {
        "limit": given.get("num_predict"),
        "temperature": given.get("temperature"),
        "top_p": given.get("top_p"),
        "stop": given.get("stop"),
        "seed": given.get("seed"),
    }
    tools = [tool["function"] for tool in body.get("tools") or ()]
    listed = [(tool["name"], tool.get("description") or "", tool.get("parameters")) for tool in tools]
    form = body.get("format")
    found = {"system": "\n\n".join(system), "tools": listed, "choice": None}
    return found | history.facts(has_error_flag=False) | {"output": form if isinstance(form, dict) else None} | options


def response(body: Body) -> Body:
    message = body["message"]
    calls = [(call["function"]["name"], call["function"].get("arguments") or {}) for call in message.get("tool_calls") or ()]
    stop = _STOPS.get(body.get("done_reason") or "")
    return {
        "text": message.get("content") or "",
        "calls": calls,
        "stop": "calls" if calls and stop == "stop" else stop,
        "tokens": (body["prompt_eval_count"], body["eval_count"]) if "eval_count" in body else None,
    }


def fold(stream: str) -> Body:
    text, calls, last = "", list[Body](), dict[str, Any]()
    for chunk in events(stream):
        text += chunk["message"].get("content") or ""
        calls += chunk["message"].get("tool_calls") or []
        last = chunk
    return last | {"message": {"content": text, "tool_calls": calls}}
