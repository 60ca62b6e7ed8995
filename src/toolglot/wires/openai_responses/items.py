"""Items other than plain messages: calls, their results, reasoning. All that a conversation is made of, both ways."""

from __future__ import annotations

from typing import Any

from toolglot.core.envelope import unseal
from toolglot.core.history import said_as_error
from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult, join_name
from toolglot.reading.shape import a_list, a_string, misfit, no_such_word, own_extra
from toolglot.text.json_text import dumps, loads_object
from toolglot.wires.openai_responses.content import own_block, read_content, write_result
from toolglot.wires.openai_responses.shapes import WIRE, Body, item_state

CALLS = {"function_call": False, "custom_tool_call": True}
_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_ROLES = ("system", "developer", "user", "assistant")
_CALL_KEYS = frozenset({"type", "call_id", "name", "namespace", "arguments", "input"})
_RESULT_KEYS = frozenset({"type", "call_id", "output"})
_MESSAGE_KEYS = frozenset({"type", "role", "content"})
_REASONING_KEYS = frozenset({"type", "summary", "content"})

Item = tuple[Role, list[Part], Extra]


# -- reading


def read_item(held: Body) -> Item:
    kind = held.get("type")
    if kind == "message" or (kind is None and "role" in held):
        return _read_message(held)
    if not isinstance(kind, str):
        raise misfit("type", "the item's type", kind)
    if kind in CALLS:
        return "assistant", [read_call(held)], {}
    if kind in _OUTPUTS:
        return "tool", [_read_output(held)], {}
    if kind == "reasoning":
        return "assistant", [_read_reasoning_item(held)], {}
    return _role_of(kind, held), [Opaque(WIRE, held)], {}


def _role_of(kind: str, held: Body) -> Role:
    """Whose an item is that nobody else knows. What the model refers to or did is the assistant's."""
    role = held.get("role")
    if role in _ROLES:
        return role  # type: ignore[no-any-return]
    if kind == "configuration_update":
        return "developer"
    return "user" if kind.endswith(("_output", "_response", "_trigger")) else "assistant"


def _read_message(held: Body) -> Item:
    role = held.get("role")
    if role not in _ROLES:
        raise no_such_word("role", "system, developer, user or assistant", role)
    parts = read_content(held.get("content"), "content")
    state = message_state(held)
    if role == "assistant" and state:
        return role, [_with_state(part, state) for part in parts], {}
    return role, parts, {WIRE: state} if state else {}


def message_state(held: Body) -> Body:
    return item_state(held, _MESSAGE_KEYS) if len(held) > 2 else {}


def _with_state(part: Part, state: Body) -> Part:
    return Text(part.text, part.channel, {WIRE: {**state, **part.extra.get(WIRE, {})}}) if isinstance(part, Text) else part


def read_call(held: Body) -> ToolCall:
    custom = CALLS[held["type"]]
    if custom:
        arguments = dumps({"input": a_string(held.get("input") or "", "input")})
    else:
        arguments = read_arguments(held.get("arguments"))
    namespace = held.get("namespace")
    state = call_state(held)
    sealed = state.pop("status", None) != "incomplete"
    return ToolCall(
        a_string(held.get("call_id") or held.get("id") or "", "call_id"),
        a_string(held.get("name"), "name"),
        arguments,
        a_string(namespace, "namespace") if namespace else None,
        custom,
        sealed,
        extra={WIRE: state} if state else {},
    )


def call_state(held: Body) -> Body:
    return item_state(held, _CALL_KEYS)


def read_arguments(value: Any) -> str:
    if value is None or value == "":
        return "{}"
    return a_string(dumps(value) if isinstance(value, dict) else value, "arguments")


def _read_output(held: Body) -> ToolResult:
    state = item_state(held, _RESULT_KEYS)
    name, namespace = state.get("name"), state.get("namespace")
    if isinstance(name, str):
        name = join_name(namespace if isinstance(namespace, str) else None, name)
    if held["type"] == "custom_tool_call_output":
        state["type"] = held["type"]
    return ToolResult(
        a_string(held.get("call_id") or "", "call_id"),
        name if isinstance(name, str) else None,
        tuple(read_content(held.get("output"), "output")),
        extra={WIRE: state} if state else {},
    )


def _read_reasoning_item(held: Body) -> Reasoning:
    for key in ("summary", "content"):
        if held.get(key) is not None:
            a_list(held[key], key)
    text, own = read_reasoning(held)
    foreign = unseal(own.get("encrypted_content"))
    if foreign is not None:  # ours was only the envelope
        return Reasoning(text, foreign)
    return Reasoning(text, {WIRE: own} if own else {})


def read_reasoning(held: Body, form: str | None = None) -> tuple[str, Body]:
    """The text, and what is needed to give the item back as it was. `form`: where the text is, if that is known."""
    own = item_state(held, _REASONING_KEYS)
    summary, content = _texts(held.get("summary")), _texts(held.get("content"))
    if content:
        own["content"] = held["content"]
        if summary:
            own["summary"] = held["summary"]
    elif len(summary) > 1:
        own["summary"] = held["summary"]
    shown = content if (form == "content" if form else content) else summary
    return "\n\n".join(shown), own


def _texts(parts: Any) -> list[str]:
    if not isinstance(parts, list):
        return []
    return [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]


# -- writing


def write_call(call: ToolCall, own: Body, quirks: Quirks) -> Body:
    custom = call.custom and quirks.custom_tools
    held: Body = {
        "type": "custom_tool_call" if custom else "function_call",
        "call_id": call.id,
        "name": call.name,
    }
    if custom:
        held["input"] = custom_input(call)
    else:
        held["arguments"] = call.arguments_json
    if call.namespace is not None:
        held["namespace"] = call.namespace
    if not call.sealed:
        held["status"] = "incomplete"
    held.update(own)
    return held


def custom_input(call: ToolCall) -> str:
    """The free text of a custom call, as much of it as there is."""
    text = call.arguments_json
    held = loads_object(text) or (None if call.sealed else loads_object(text + '"}')) or {}
    value = held.get("input", text)
    return value if isinstance(value, str) else dumps(value)


def write_reasoning(text: str, own: Body) -> Body:
    shown = [{"type": "summary_text", "text": text}] if text and "content" not in own else []
    return {"type": "reasoning", "summary": shown, **own}


def write_output(result: ToolResult, custom: bool, notes: list[str], quirks: Quirks) -> Body:
    parts: list[Part] = list(result.parts)
    if result.is_error:
        notes.append(f"result {result.call_id}: openai-responses has no error flag; the text says so")
        parts = said_as_error(parts)
    return {
        "type": "custom_tool_call_output" if custom and quirks.custom_tools else "function_call_output",
        "call_id": result.call_id,
        "output": write_result(parts, notes, quirks),
        **(own_extra(result.extra, WIRE, f"result {result.call_id}", notes) if result.extra else {}),
    }


def write_opaque(part: Opaque, notes: list[str]) -> list[Body]:
    block = own_block(part, notes)
    return [] if block is None else [block]
