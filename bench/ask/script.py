"""The measure of every way of asking: a plain script with one schema, a list of calls or `no_tool`; and twelve lines more.

The twelve lines send a call back once if it has no value that anyone wrote. Nothing here is toolglot's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

Body = dict[str, Any]
NO_TOOL = [{"name": "no_tool"}]


def ask(messages: list[Body], tools: list[Body], post: Callable[[Body], str], *, grounded: bool) -> tuple[list[Body], str]:
    """The calls of the next turn, or the text."""
    listed = "\n".join(json.dumps(tool) for tool in tools)
    rule = (
        f"Answer with a JSON list of calls, each with name and arguments, or with {json.dumps(NO_TOOL)} if no tool is needed."
    )
    system = f"Tools:\n{listed}\n{rule}"
    calls = [_object(name={"const": tool["name"]}, arguments=tool["parameters"]) for tool in tools]
    none = {"type": "array", "items": _object(name={"const": "no_tool"}), "minItems": 1, "maxItems": 1}
    schema = {"anyOf": [{"type": "array", "items": {"anyOf": calls}, "minItems": 1, "maxItems": 8}, none]}
    form = {"type": "json_schema", "json_schema": {"name": "calls", "schema": schema}}
    asked = [{"role": "system", "content": system}, *messages]
    for attempt in range(2):
        answer = post({"messages": asked, "response_format": form})
        try:
            found = json.loads(answer)
        except ValueError:
            return [], answer
        if found == NO_TOOL:
            return [], post({"messages": messages})
        if not grounded or attempt or not (lost := [call for call in found if not _grounded(call, messages)]):
            return found, ""
        names = ", ".join(call["name"] for call in lost)
        back = f"Nobody gave the values of {names}. If no tool is needed, answer {json.dumps(NO_TOOL)}."
        asked = [*asked, {"role": "assistant", "content": answer}, {"role": "user", "content": back}]
    return [], ""


def _object(**properties: Any) -> Body:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _grounded(call: Body, messages: list[Body]) -> bool:
    given = _words(json.dumps([message["content"] for message in messages], ensure_ascii=False))
    values = _words(json.dumps(list(call.get("arguments", {}).values()), ensure_ascii=False))
    return not values or not given.isdisjoint(values)


def _words(text: str) -> set[str]:
    return {word[:4] for word in re.findall(r"\w+", text.lower())}
