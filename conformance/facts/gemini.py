"""Gemini generateContent. The API takes its keys in camel case and in snake case, and a schema in two forms."""

from __future__ import annotations

import json
import re
from typing import Any

from conformance.facts.reading import History, events, texts_of

Body = dict[str, Any]
HISTORY = "contents"

_MODES = {"AUTO": "auto", "ANY": "required", "NONE": "none"}


def _camel(body: Any) -> Body:
    """The object with the names of its own keys in camel case."""
    return {re.sub("_([a-z])", lambda found: found[1].upper(), key): value for key, value in (body or {}).items()}


def request(body: Body) -> Body:
    body = _camel(body)
    history = History()
    for content in body["contents"]:
        role = {"model": "assistant"}.get(content.get("role"), "user")
        for part in map(_camel, content["parts"]):
            if "text" in part and not part.get("thought"):
                history.text(role, part["text"])
            elif "functionCall" in part:
                call = part["functionCall"]
                history.call(call.get("id"), call["name"], call.get("args") or {})
            elif "functionResponse" in part:
                _result(history, part["functionResponse"])
            history.images += "inlineData" in part
    settings = _camel(body.get("generationConfig"))
    options = {
        "limit": settings.get("maxOutputTokens"),
        "temperature": settings.get("temperature"),
        "top_p": settings.get("topP"),
        "stop": settings.get("stopSequences"),
        "seed": settings.get("seed"),
    }
    tools = body.get("tools") or []
    declared = [
        _camel(one)
        for tool in ([tools] if isinstance(tools, dict) else tools)
        for one in _camel(tool).get("functionDeclarations") or ()
    ]
    listed = [(one["name"], one.get("description") or "", _schema(one)) for one in declared]
    system = texts_of((body.get("systemInstruction") or {}).get("parts"))
    found = {"system": system, "tools": listed, "choice": _choice(body)}
    return (
        found
        | history.facts(has_error_flag=True)
        | {"output": settings.get("responseJsonSchema", _lower(settings.get("responseSchema")))}
        | options
    )


def _schema(declared: Body) -> Any:
    """`parameters` has the types in capitals, as in Google's own Schema."""
    return declared.get("parametersJsonSchema", _lower(declared.get("parameters")))


def _lower(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_lower(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: value.lower() if key == "type" and isinstance(value, str) else _lower(value) for key, value in schema.items()}


def _choice(body: Body) -> Any:
    config = _camel(_camel(body.get("toolConfig")).get("functionCallingConfig") or {"mode": "AUTO"})
    mode, names = _MODES[config["mode"]], config.get("allowedFunctionNames")
    return (mode, names) if names else mode


def _result(history: History, given: Body) -> None:
    given = _camel(given)
    response = given["response"]
    is_error = set(response) == {"error"}
    only = response["error"] if is_error else response.get("output", response.get("result", response))
    text = only if isinstance(only, str) else json.dumps(only)
    history.result(given.get("id"), text, is_error=is_error)
    history.images += len(given.get("parts") or ())


def response(body: Body) -> Body:
    [candidate] = body["candidates"]
    parts = (candidate.get("content") or {}).get("parts") or []
    calls = [(call["name"], call.get("args") or {}) for part in parts if (call := part.get("functionCall"))]
    reason = candidate.get("finishReason")
    stop = {"STOP": "calls" if calls else "stop", "MAX_TOKENS": "length"}.get(reason or "", "filter" if reason else None)
    usage = body.get("usageMetadata") or {}
    written = (usage.get("candidatesTokenCount") or 0) + (usage.get("thoughtsTokenCount") or 0)
    return {
        "text": "".join(part.get("text") or "" for part in parts if not part.get("thought")),
        "calls": calls,
        "stop": stop,
        "tokens": (usage.get("promptTokenCount"), written) if usage else None,
    }


def fold(stream: str) -> Body:
    parts: list[Body] = []
    reason, usage = None, None
    for chunk in events(stream):
        usage = chunk.get("usageMetadata") or usage
        for candidate in chunk.get("candidates") or ():
            parts += (candidate.get("content") or {}).get("parts") or []
            reason = candidate.get("finishReason") or reason
    return {"candidates": [{"content": {"parts": parts}, "finishReason": reason}], "usageMetadata": usage}
