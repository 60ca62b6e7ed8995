"""Calls as JSON objects between markers: `{"name": ..., "arguments": ...}` and variants, alone or in an array, even if broken.

The markers show that it is a call, so more forms are accepted than without markers. The arguments are returned as text.
"""

from __future__ import annotations

import re

import msgspec

from toolglot.grammars.loose_json import Member, members
from toolglot.grammars.parsed_call import ParsedCall, with_fixes
from toolglot.io.json_codec import JSON_ERRORS, decode, dumps

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
CALL_KEYS = frozenset({*_NAMES, *_IDS, "type", "index"})  # they describe a call and are not arguments
_NO_ARGUMENTS = frozenset({"null", "None", '""', "''"})  # values that mean no arguments
_NOT_A_NAME = re.compile(r"[{\[]|-?\d++(?:\.\d++)?\Z")
_MAX_DEPTH = 3  # of nested wrappers


class Keys(msgspec.Struct, frozen=True):
    """The keys that a dialect uses for the parts of a call. The keys of other dialects are accepted too."""

    name: str = "name"
    arguments: str = "arguments"
    id: str = "id"
    name_is_key: bool = False  # {"f": {...}}


USUAL = Keys()


def calls_in(text: str, keys: Keys, *, ended: bool, depth: int = 0) -> list[ParsedCall]:
    """The calls in one JSON value. `ended`: the text after it shows that the value is complete."""
    text = text.strip()
    if depth > _MAX_DEPTH:
        return []
    if text.startswith("[") and not _KEY_FIRST.match(text):
        return [call for item in _items(text) for call in _of_item(item, keys, ended=ended, depth=depth + 1)]
    if text.startswith(('"', "'")):  # an object text as a string
        inner = plain_string(text).strip()
        found = calls_in(inner, keys, ended=ended, depth=depth + 1) if inner.startswith("{") else []
        return [with_fixes(call, "unwrapped_string") for call in found]
    return _object(*_fields(text), keys, ended=ended, depth=depth) if text.startswith(("{", "[")) else []


def _of_item(item: Member, keys: Keys, *, ended: bool, depth: int) -> list[ParsedCall]:
    found = calls_in(item.value, keys, ended=ended or item.whole, depth=depth)
    return [msgspec.structs.replace(call, closed=False) for call in found] if item.torn else found


def _items(text: str) -> list[Member]:
    try:
        return [Member("", _text(raw), True) for raw in _ARRAY.decode(text)]
    except JSON_ERRORS:
        return [item for item in members(text)[0] if not item.key]


def _fields(text: str) -> tuple[dict[str, Member], bool]:
    """The fields of an object, and whether it has its closing brace."""
    try:
        return {key: Member(key, _text(raw), True) for key, raw in _OBJECT.decode(text).items()}, True
    except JSON_ERRORS:
        found, closed = members(text)
        return {field.key: field for field in found if field.key}, closed


def _text(raw: msgspec.Raw) -> str:
    return bytes(raw).decode()


def _object(fields: dict[str, Member], closed: bool, keys: Keys, *, ended: bool, depth: int) -> list[ParsedCall]:
    """`closed`: the object has its closing brace."""
    if not fields:
        return []
    if keys.name_is_key and "name" not in fields:
        return [
            _parsed_call(name, member, None, ended=ended)
            for name, member in fields.items()
            if member.value.startswith(("{", '"'))
        ]
    inner = next(
        (fields[key] for key in _WRAPPERS if key in fields and fields[key].value.startswith("{")),
        fields.get("tool_calls", fields.get("tool_uses")),
    )
    if inner is not None and inner.value.startswith(("{", "[")):
        found = calls_in(inner.value, keys, ended=ended or inner.whole, depth=depth + 1)
        return [msgspec.structs.replace(call, id=call.id or _id(fields, keys)) for call in found]
    named = _first(fields, keys.name, _NAMES)
    name = plain_string(named.value).strip() if named is not None and (named.whole or ended) else ""
    if not name or _NOT_A_NAME.match(name):
        return []
    member = _first(fields, keys.arguments, _ARGUMENTS)
    if "description" in fields and "parameters" in fields and "arguments" not in fields:
        return []  # a tool's description, not a call
    if member is not None:
        return [_parsed_call(name, member, _id(fields, keys), ended=ended)]
    return [_flat(name, fields, _id(fields, keys), closed=closed)]


def _flat(name: str, fields: dict[str, Member], call_id: str | None, *, closed: bool) -> ParsedCall:
    """No key for the arguments: they are next to the name, or there are none. Only the closing brace shows which."""
    others = [field for key, field in fields.items() if key not in CALL_KEYS]
    text = "{" + ", ".join(f"{dumps(field.key)}: {field.value}" for field in others) + "}"
    return ParsedCall(name, text, "", call_id, ("flat_arguments",) if others else (), closed)


def _parsed_call(name: str, member: Member, call_id: str | None, *, ended: bool) -> ParsedCall:
    text = "{}" if member.value in _NO_ARGUMENTS else member.value
    return ParsedCall(name, text, "", call_id, (), bool(text) and (member.whole or ended))


def _first(fields: dict[str, Member], preferred: str, others: tuple[str, ...]) -> Member | None:
    for key in (preferred, *others):
        if key in fields:
            return fields[key]
    return None


def _id(fields: dict[str, Member], keys: Keys) -> str | None:
    member = _first(fields, keys.id, _IDS)
    return (plain_string(member.value) or None) if member is not None else None


def plain_string(raw: str) -> str:
    """The value of a JSON string, a Python string or a bare word."""
    try:
        value = decode(raw)
    except JSON_ERRORS:
        return raw.strip(" \t\r\n\"'")
    return value if isinstance(value, str) else raw
