"""Calls as JSON objects between markers: `{"name": ..., "arguments": ...}` and its relatives, alone or in an array, or broken.

The markers say that a call is meant, so much is understood that would be none without them. The arguments are handed on as the
model wrote them.
"""

from __future__ import annotations

import re

import msgspec

from toolglot.grammars.heard import Heard
from toolglot.grammars.loose_json import Member, members
from toolglot.text.json_text import BadJson, decode, dumps

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_KEY_FIRST = re.compile(r"""\[\s*["']?\w+["']?\s*:""")
_NAMES = ("name", "tool_name", "function_name", "tool", "function", "toolName", "functionName", "recipient_name")
_ARGUMENTS = (
    *("arguments", "parameters", "args", "params", "tool_input", "input", "kwargs"),
    *("tool_arguments", "tool_args", "functionArgs", "toolArgs"),
)
_IDS = ("id", "tool_call_id", "call_id")
_WRAPPERS = ("function", "tool_call", "function_call", "tool", "functionCall", "toolCall")
ABOUT = frozenset({*_NAMES, *_IDS, "type", "index"})  # said about a call, and no argument
_DEEPEST = 3  # wrappers in wrappers


class Keys(msgspec.Struct, frozen=True):
    """What a dialect calls the parts of a call; what others call them is understood as well."""

    name: str = "name"
    arguments: str = "arguments"
    id: str = "id"
    name_is_key: bool = False  # {"f": {...}}


USUAL = Keys()


def calls_in(text: str, keys: Keys, *, ended: bool, depth: int = 0) -> list[Heard]:
    """The calls in one JSON value. `ended`: what follows it shows that the model was done with it."""
    text = text.strip()
    if depth > _DEEPEST:
        return []
    if text.startswith("[") and not _KEY_FIRST.match(text):
        return [
            call for item in _items(text) for call in calls_in(item.value, keys, ended=ended or item.whole, depth=depth + 1)
        ]
    if text.startswith(('"', "'")) and depth:  # an object written as a string
        inner = plain_string(text).strip()
        return calls_in(inner, keys, ended=ended, depth=depth + 1) if inner.startswith("{") else []
    return _object(_fields(text), keys, ended=ended, depth=depth) if text.startswith(("{", "[")) else []


def _items(text: str) -> list[Member]:
    try:
        return [Member("", _text(raw), True) for raw in _ARRAY.decode(text)]
    except BadJson:
        return [item for item in members(text) if not item.key]


def _fields(text: str) -> dict[str, Member]:
    try:
        return {key: Member(key, _text(raw), True) for key, raw in _OBJECT.decode(text).items()}
    except BadJson:
        return {field.key: field for field in members(text) if field.key}


def _text(raw: msgspec.Raw) -> str:
    return bytes(raw).decode()


def _object(fields: dict[str, Member], keys: Keys, *, ended: bool, depth: int) -> list[Heard]:
    if keys.name_is_key and "name" not in fields:
        return [_heard(name, held, None, ended=ended) for name, held in fields.items() if held.value.startswith(("{", '"'))]
    inner = next(
        (fields[key] for key in _WRAPPERS if key in fields and fields[key].value.startswith("{")),
        fields.get("tool_calls", fields.get("tool_uses")),
    )
    if inner is not None and inner.value.startswith(("{", "[")):
        found = calls_in(inner.value, keys, ended=ended or inner.whole, depth=depth + 1)
        return [msgspec.structs.replace(call, id=call.id or _id(fields, keys)) for call in found]
    named = _first(fields, keys.name, _NAMES)
    name = plain_string(named.value).strip() if named is not None and (named.whole or ended) else ""
    if not name or name.startswith(("{", "[")):
        return []
    held = _first(fields, keys.arguments, _ARGUMENTS)
    if "description" in fields and "parameters" in fields and "arguments" not in fields:
        return []  # a tool as it is described, not called
    if held is not None:
        return [_heard(name, held, _id(fields, keys), ended=ended)]
    return [_flat(name, fields, _id(fields, keys), ended=ended)]


def _flat(name: str, fields: dict[str, Member], call_id: str | None, *, ended: bool) -> Heard:
    """No arguments under a key of their own: they stand beside the name, or there are none."""
    beside = [field for key, field in fields.items() if key not in ABOUT]
    written = "{" + ", ".join(f"{dumps(field.key)}: {field.value}" for field in beside) + "}"
    return Heard(name, written, "", call_id, ("flat_arguments",) if beside else (), ended)


def _heard(name: str, held: Member, call_id: str | None, *, ended: bool) -> Heard:
    written = "{}" if held.value in {"", "null", "None"} else held.value
    return Heard(name, written, "", call_id, (), held.whole or ended)


def _first(fields: dict[str, Member], own: str, others: tuple[str, ...]) -> Member | None:
    return next((fields[key] for key in (own, *others) if key in fields), None)


def _id(fields: dict[str, Member], keys: Keys) -> str | None:
    held = _first(fields, keys.id, _IDS)
    return (plain_string(held.value) or None) if held is not None else None


def plain_string(raw: str) -> str:
    """A string as it is meant: JSON's, Python's, or a bare word."""
    try:
        value = decode(raw)
    except BadJson:
        return raw.strip(" \t\r\n\"'")
    return value if isinstance(value, str) else raw
