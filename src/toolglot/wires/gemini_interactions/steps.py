"""Steps, reading and writing: input of the user, output of the model, thoughts, calls and results."""

from __future__ import annotations

from typing import Any

from toolglot.core.envelope import unseal
from toolglot.core.messages import Extra, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult
from toolglot.core.neighbour_state import NEIGHBOUR_STATE
from toolglot.io.json_codec import dumps, loads_object
from toolglot.io.request_validation import Body, require_list, require_string, unknown_keys, wire_extra, wrong_type
from toolglot.wires.gemini_interactions.content import is_content, read_content, read_one, type_of, write_content
from toolglot.wires.gemini_interactions.shapes import WIRE

_CALL_KEYS = frozenset({"type", "id", "name", "arguments"})
_RESULT_KEYS = frozenset({"type", "call_id", "name", "result", "is_error"})
_THOUGHT_KEYS = frozenset({"type", "summary"})
_MESSAGE_KEYS = frozenset({"type", "role", "content"})
_ROLES: dict[str, Role] = {"user": "user", "model": "assistant", "assistant": "assistant", "system": "system"}
_TYPES_OF_MESSAGES: dict[str, Role] = {"user_input": "user", "model_output": "assistant"}

Step = tuple[Role, list[Part], Extra]


# -- reading


def read_step(obj: Body) -> Step:
    kind = type_of(obj)
    if is_content(obj):  # an input may be a list of contents
        return "user", [read_one(obj)], {}
    if kind in _TYPES_OF_MESSAGES:
        return _read_message(_TYPES_OF_MESSAGES[kind], obj)
    if not kind and "role" in obj:  # a turn, as in earlier revisions
        role = obj["role"]
        if not isinstance(role, str) or role not in _ROLES:
            raise wrong_type("role", "user or model", role)
        return _read_message(_ROLES[role], obj)
    if not kind:
        raise wrong_type("type", "the step's type", obj.get("type"))
    if kind == "function_call":
        return "assistant", [_read_call(obj)], {}
    if kind == "function_result":
        return "tool", [_read_result(obj)], {}
    if kind == "thought":
        return "assistant", [_read_thought(obj)], {}
    return "assistant", [Opaque(WIRE, obj)], {}


def _read_message(role: Role, obj: Body) -> Step:
    more = unknown_keys(obj, _MESSAGE_KEYS)
    return role, read_content(obj.get("content"), "content"), {WIRE: more} if more else {}


def _read_call(obj: Body) -> ToolCall:
    more = unknown_keys(obj, _CALL_KEYS)
    return ToolCall(
        require_string(obj.get("id") or "", "id"),
        require_string(obj.get("name"), "name"),
        _read_arguments(obj.get("arguments")),
        extra={WIRE: more} if more else {},
    )


def _read_arguments(value: Any) -> str:
    if value is None or value == "":
        return "{}"
    if isinstance(value, str) and loads_object(value) is not None:
        return value
    if not isinstance(value, dict):
        raise wrong_type("arguments", "an object", value)
    return dumps(value)


def _read_result(obj: Body) -> ToolResult:
    more = unknown_keys(obj, _RESULT_KEYS)
    name = obj.get("name")
    return ToolResult(
        require_string(obj.get("call_id") or "", "call_id"),
        require_string(name, "name") if name else None,
        tuple(_read_value(obj.get("result"))),
        obj.get("is_error") is True,
        {WIRE: more} if more else {},
    )


def _read_value(value: Any) -> list[Any]:
    """A result: text, a list of contents, or any JSON."""
    if value is None or value == "":
        return []
    if isinstance(value, str) or (isinstance(value, list) and all(map(is_content, value))):
        return read_content(value, "result")
    return [Text(dumps(value))]


def _read_thought(obj: Body) -> Reasoning:
    if obj.get("summary") is not None:
        require_list(obj["summary"], "summary")
    text, fields = read_thought(obj)
    foreign = unseal(fields.get("signature"))
    if foreign is not None:  # it was only the envelope
        return Reasoning(text, foreign)
    return Reasoning(text, {WIRE: fields} if fields else {})


def read_thought(obj: Body) -> tuple[str, Body]:
    """The text of a thought, and the state to write it back as it was."""
    summary = obj.get("summary")
    listed = summary if isinstance(summary, list) else []
    texts = [item["text"] for item in listed if isinstance(item, dict) and isinstance(item.get("text"), str)]
    fields = unknown_keys(obj, _THOUGHT_KEYS)
    if len(listed) > 1 or len(texts) < len(listed):
        fields["summary"] = summary
    return "".join(texts), fields


# -- writing


def is_step(block: Body) -> bool:
    """Whether an opaque block is a step of its own, and not the content of one."""
    return type_of(block).endswith(("_call", "_result", "_step"))


def write_call(call: ToolCall, notes: list[str]) -> Body:
    arguments = loads_object(call.arguments_json or "{}")
    if arguments is None:
        notes.append(f"call {call.id}: its arguments are not a JSON object; sent as {{}}")
        arguments = {}
    fields = wire_extra(call.extra, WIRE, f"call {call.id}", notes) if call.extra else {}
    fields.pop(NEIGHBOUR_STATE, None)
    return {"type": "function_call", "id": call.id, "name": call.full_name, "arguments": arguments, **fields}


def write_thought(text: str, fields: Body) -> Body:
    summary = {"summary": [{"type": "text", "text": text}]} if text and "summary" not in fields else {}
    return {"type": "thought", **summary, **fields}


def write_result(result: ToolResult, notes: list[str]) -> Body:
    parts = result.parts
    plain = len(parts) == 1 and type(parts[0]) is Text and not parts[0].extra
    obj: Body = {"type": "function_result", "call_id": result.call_id}
    if result.name:
        obj["name"] = result.name
    obj["result"] = result.text if plain or not parts else write_content(parts, notes)
    if result.is_error:
        obj["is_error"] = True
    if result.extra:
        obj.update(wire_extra(result.extra, WIRE, f"result {result.call_id}", notes))
    return obj
