"""Items of a conversation, reading and writing: messages, calls, results, reasoning."""

from __future__ import annotations

from typing import Any

from toolglot.core.envelope import unseal
from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult, join_name
from toolglot.core.result_matching import mark_error_text
from toolglot.io.json_codec import dumps, loads_object
from toolglot.io.request_validation import Body, not_one_of, require_list, require_string, wire_block, wire_extra, wrong_type
from toolglot.wires.openai_responses.content import read_content, write_result
from toolglot.wires.openai_responses.shapes import WIRE, item_state
from toolglot.wires.openai_responses.vendor_tools import without_sealed

CALLS = {"function_call": False, "custom_tool_call": True}
_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_ROLES = ("system", "developer", "user", "assistant")
_CALL_KEYS = frozenset({"type", "call_id", "name", "namespace", "arguments", "input"})
_RESULT_KEYS = frozenset({"type", "call_id", "output"})
_MESSAGE_KEYS = frozenset({"type", "role", "content"})
_REASONING_KEYS = frozenset({"type", "summary", "content"})

Item = tuple[Role, list[Part], Extra]


# -- reading


def read_item(obj: Body) -> Item:
    kind = obj.get("type")
    if kind == "message" or (kind is None and "role" in obj):
        return _read_message(obj)
    if not isinstance(kind, str):
        raise wrong_type("type", "the item's type", kind)
    if kind in CALLS:
        return "assistant", [read_call(obj)], {}
    if kind in _OUTPUTS:
        return "tool", [_read_output(obj)], {}
    if kind == "reasoning":
        return "assistant", [_read_reasoning_item(obj)], {}
    return _role_of(kind, obj), [Opaque(WIRE, obj)], {}


def _role_of(kind: str, obj: Body) -> Role:
    """The role of an item that only this API has. What the model did or refers to is the assistant's."""
    role = obj.get("role")
    if role in _ROLES:
        return role  # type: ignore[no-any-return]
    if kind == "configuration_update":
        return "developer"
    return "user" if kind.endswith(("_output", "_response", "_trigger")) else "assistant"


def _read_message(obj: Body) -> Item:
    role = obj.get("role")
    if role not in _ROLES:
        raise not_one_of("role", "system, developer, user or assistant", role)
    parts = read_content(obj.get("content"), "content")
    state = message_state(obj)
    if role == "assistant" and state:
        return role, [_with_state(part, state) for part in parts], {}
    return role, parts, {WIRE: state} if state else {}


def message_state(obj: Body) -> Body:
    return item_state(obj, _MESSAGE_KEYS) if len(obj) > 2 else {}


def _with_state(part: Part, state: Body) -> Part:
    return Text(part.text, part.channel, {WIRE: {**state, **part.extra.get(WIRE, {})}}) if isinstance(part, Text) else part


def read_call(obj: Body) -> ToolCall:
    custom = CALLS[obj["type"]]
    if custom:
        arguments = dumps({"input": require_string(obj.get("input") or "", "input")})
    else:
        arguments = read_arguments(obj.get("arguments"))
    namespace = obj.get("namespace")
    state = call_state(obj)
    sealed = state.pop("status", None) != "incomplete"
    return ToolCall(
        require_string(obj.get("call_id") or obj.get("id") or "", "call_id"),
        require_string(obj.get("name"), "name"),
        arguments,
        require_string(namespace, "namespace") if namespace else None,
        custom,
        sealed,
        extra={WIRE: state} if state else {},
    )


def call_state(obj: Body) -> Body:
    return item_state(obj, _CALL_KEYS)


def read_arguments(value: Any) -> str:
    if value is None or value == "":
        return "{}"
    return require_string(dumps(value) if isinstance(value, dict) else value, "arguments")


def _read_output(obj: Body) -> ToolResult:
    state = item_state(obj, _RESULT_KEYS)
    name, namespace = state.get("name"), state.get("namespace")
    if isinstance(name, str):
        name = join_name(namespace if isinstance(namespace, str) else None, name)
    if obj["type"] == "custom_tool_call_output":
        state["type"] = obj["type"]
    return ToolResult(
        require_string(obj.get("call_id") or "", "call_id"),
        name if isinstance(name, str) else None,
        tuple(read_content(obj.get("output"), "output")),
        extra={WIRE: state} if state else {},
    )


def _read_reasoning_item(obj: Body) -> Reasoning:
    for key in ("summary", "content"):
        if obj.get(key) is not None:
            require_list(obj[key], key)
    text, fields = read_reasoning(obj)
    foreign = unseal(fields.get("encrypted_content"))
    if foreign is not None:  # it was only the envelope
        return Reasoning(text, foreign)
    return Reasoning(text, {WIRE: fields} if fields else {})


def read_reasoning(obj: Body, form: str | None = None) -> tuple[str, Body]:
    """The text, and the state to write the item back as it was. `form`: the key of the text, if known."""
    fields = item_state(obj, _REASONING_KEYS)
    summary, content = _texts(obj.get("summary")), _texts(obj.get("content"))
    if content:
        fields["content"] = obj["content"]
        if summary:
            fields["summary"] = obj["summary"]
    elif len(summary) > 1:
        fields["summary"] = obj["summary"]
    shown = content if (form == "content" if form else content) else summary
    return "\n\n".join(shown), fields


def _texts(parts: Any) -> list[str]:
    if not isinstance(parts, list):
        return []
    return [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]


# -- writing


def write_call(call: ToolCall, fields: Body, quirks: Quirks) -> Body:
    custom = call.custom and quirks.custom_tools
    obj: Body = {
        "type": "custom_tool_call" if custom else "function_call",
        "call_id": call.id,
        "name": call.name,
    }
    if custom:
        obj["input"] = custom_input(call)
    else:
        obj["arguments"] = call.arguments_json
    if call.namespace is not None:
        obj["namespace"] = call.namespace
    if not call.sealed:
        obj["status"] = "incomplete"
    obj.update(fields)
    return obj


def custom_input(call: ToolCall) -> str:
    """The free text of a custom call, as far as it came."""
    text = call.arguments_json
    obj = loads_object(text) or (None if call.sealed else loads_object(text + '"}')) or {}
    value = obj.get("input", text)
    return value if isinstance(value, str) else dumps(value)


def write_reasoning(text: str, fields: Body) -> Body:
    shown = [{"type": "summary_text", "text": text}] if text and "content" not in fields else []
    return {"type": "reasoning", "summary": shown, **fields}


def state_item(sealed: str) -> Body:
    """An item that has only another vendor's state (core/neighbour_state)."""
    return {"type": "reasoning", "summary": [], "encrypted_content": sealed}


def write_output(result: ToolResult, custom: bool, notes: list[str], quirks: Quirks) -> Body:
    parts: list[Part] = list(result.parts)
    if result.is_error:
        notes.append(f"result {result.call_id}: openai-responses has no error flag; marked in the text")
        parts = mark_error_text(parts)
    return {
        "type": "custom_tool_call_output" if custom and quirks.custom_tools else "function_call_output",
        "call_id": result.call_id,
        "output": write_result(parts, notes, quirks),
        **(wire_extra(result.extra, WIRE, f"result {result.call_id}", notes) if result.extra else {}),
    }


def write_opaque(part: Opaque, notes: list[str]) -> list[Body]:
    """For a request."""
    block = wire_block(part, WIRE, notes)
    return [] if block is None else [without_sealed(block)]
