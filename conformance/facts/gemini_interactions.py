"""Gemini Interactions."""

from __future__ import annotations

from typing import Any

from conformance.facts.reading import History, arguments, events, texts_of

Body = dict[str, Any]
HISTORY = "input"

_STOPS = {"requires_action": "calls", "completed": "stop"}
_MODES = {"auto": "auto", "any": "required", "none": "none"}


def request(body: Body) -> Body:
    history = History()
    given = body["input"]
    steps = [{"type": "user_input", "content": given}] if isinstance(given, str) else given
    for step in steps:
        content = step.get("content")
        if step["type"] in ("user_input", "model_output"):
            history.text("user" if step["type"] == "user_input" else "assistant", texts_of(content))
            history.images += _images(content)
        elif step["type"] == "function_call":
            history.call(step.get("id"), step["name"], step.get("arguments") or {})
        elif step["type"] == "function_result":
            history.result(step.get("call_id"), texts_of(step["result"]), is_error=bool(step.get("is_error")))
            history.images += _images(step["result"])
    settings, form = body.get("generation_config") or {}, body.get("response_format") or {}
    options = {
        "limit": settings.get("max_output_tokens"),
        "temperature": settings.get("temperature"),
        "top_p": settings.get("top_p"),
        "stop": settings.get("stop_sequences"),
        "seed": settings.get("seed"),
    }
    tools = [tool for tool in body.get("tools") or () if tool["type"] == "function"]
    listed = [(tool["name"], tool.get("description") or "", tool.get("parameters")) for tool in tools]
    system = texts_of(body.get("system_instruction"))
    found = {"system": system, "tools": listed, "choice": _choice(settings.get("tool_choice"))}
    return found | history.facts(has_error_flag=True) | {"output": form.get("schema")} | options


def _images(content: Any) -> int:
    return sum(part["type"] == "image" for part in content) if isinstance(content, list) else 0


def _choice(choice: Any) -> Any:
    if isinstance(choice, dict):
        allowed = choice["allowed_tools"]
        return _MODES[allowed["mode"]], allowed["tools"]
    return _MODES[choice or "auto"]


def response(body: Body) -> Body:
    steps, usage = body.get("steps") or [], body.get("usage") or {}
    calls = [(step["name"], arguments(step.get("arguments") or {})) for step in steps if step["type"] == "function_call"]
    written = (usage.get("total_output_tokens") or 0) + (usage.get("total_thought_tokens") or 0)
    return {
        "text": "".join(texts_of(step["content"]) for step in steps if step["type"] == "model_output"),
        "calls": calls,
        "stop": _STOPS.get(body["status"]),
        "tokens": (usage.get("total_input_tokens"), written) if usage else None,
    }


def fold(stream: str) -> Body:
    steps: dict[int, Body] = {}
    end: Body = {}
    for event in events(stream):
        kind = event.get("event_type")
        if kind == "step.start":
            steps[event["index"]] = {"content": [], **event["step"]}
        elif kind == "step.delta":
            _add(steps[event["index"]], event["delta"])
        elif kind == "interaction.completed":
            end = event["interaction"]
    return {**end, "steps": [steps[at] for at in sorted(steps)]}


def _add(step: Body, delta: Body) -> None:
    if delta["type"] == "text":
        step["content"] = [*step["content"], {"type": "text", "text": delta["text"]}]
    elif delta["type"] == "arguments_delta":
        before = step["arguments"] if isinstance(step.get("arguments"), str) else ""
        step["arguments"] = before + delta["arguments"]
