"""OpenAI Responses."""

from __future__ import annotations

from typing import Any

from conformance.facts.reading import History, arguments, events, texts_of

Body = dict[str, Any]
HISTORY = "input"


def request(body: Body) -> Body:
    history, system = History(), [body["instructions"]] if body.get("instructions") else []
    items = body["input"] if isinstance(body["input"], list) else [{"role": "user", "content": body["input"]}]
    for item in items:
        kind, content = item.get("type", "message"), item.get("content")
        if kind == "message" and item["role"] in ("system", "developer"):
            system.append(texts_of(content))
        elif kind == "message":
            history.text(item["role"], texts_of(content, "text", "refusal"))
            history.images += _images(content)
        elif kind in ("function_call", "custom_tool_call"):
            history.call(item["call_id"], *_call(item))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            history.result(item["call_id"], texts_of(item["output"]))
            history.images += _images(item["output"])
    form = (body.get("text") or {}).get("format") or {}
    options = {"limit": body.get("max_output_tokens"), "temperature": body.get("temperature"), "top_p": body.get("top_p")}
    tools = [tool for tool in body.get("tools") or () if tool["type"] == "function"]
    tools += [
        inner | {"name": f"{tool['name']}__{inner['name']}"}
        for tool in body.get("tools") or ()
        if tool["type"] == "namespace"
        for inner in tool["tools"]
    ]
    listed = [(tool["name"], tool.get("description") or "", tool.get("parameters")) for tool in tools]
    found = {"system": "\n\n".join(system), "tools": listed, "choice": _choice(body.get("tool_choice"))}
    return found | history.facts(has_error_flag=False) | {"output": form.get("schema")} | options


def _images(content: Any) -> int:
    return sum(part["type"] == "input_image" for part in content) if isinstance(content, list) else 0


def _choice(choice: Any) -> Any:
    if isinstance(choice, dict):
        if "tools" in choice:
            return choice["mode"], [tool["name"] for tool in choice["tools"]]
        return "required", [choice["name"]]
    return choice or "auto"


def _call(item: Body) -> tuple[str, Any]:
    name = "__".join(filter(None, (item.get("namespace"), item["name"])))
    return name, {"input": item["input"]} if "input" in item else arguments(item["arguments"])


def response(body: Body) -> Body:
    texts, calls = [], []
    for item in body["output"]:
        if item["type"] == "message":
            texts.append(texts_of(item["content"], "text", "refusal"))
        elif item["type"] in ("function_call", "custom_tool_call"):
            calls.append(_call(item))
    cut = (body.get("incomplete_details") or {}).get("reason") or ""
    stop = {"max_output_tokens": "length", "content_filter": "filter"}.get(cut, "calls" if calls else "stop")
    usage = body.get("usage") or {}
    tokens = (usage["input_tokens"], usage["output_tokens"]) if usage else None
    return {"text": "".join(texts), "calls": calls, "stop": stop, "tokens": tokens}


def fold(stream: str) -> Body:
    """The deltas must agree with the response that the last event contains."""
    last: Body = {}
    deltas = ""
    for event in events(stream):
        if event["type"] in ("response.completed", "response.incomplete", "response.failed"):
            last = event["response"]
        elif event["type"] in ("response.output_text.delta", "response.refusal.delta"):
            deltas += event["delta"]
    if response(last)["text"] != deltas:
        raise ValueError("the deltas of the text are not the text of the response")
    return last
