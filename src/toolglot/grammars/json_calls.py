"""Calls as JSON without markers, in all the shapes that models write: different keys, nesting and mistakes.

Only the frame is parsed here. The arguments are returned as text; they are repaired later.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from toolglot.core.tools import Tool
from toolglot.grammars.known_names import find_tool, parameters, required, spellings
from toolglot.grammars.parsed_call import ParsedCall, Tools, with_fixes
from toolglot.grammars.python_calls import MAX_CALLS, named
from toolglot.io.json_codec import JSON_ERRORS, decode, dumps
from toolglot.io.python_literals import read_value
from toolglot.io.python_scanner import skip_value, string_end

_NAMES = (
    *("name", "tool", "tool_name", "function", "function_name", "action", "recipient_name"),
    *("toolName", "functionName"),
)
_ARGUMENTS = (
    *("arguments", "parameters", "args", "params", "tool_input", "action_input", "input", "tool_args", "kwargs"),
    *("tool_arguments", "functionArgs", "toolArgs"),
)
_WRAPPERS = ("tool_calls", "function_calls", "tool_uses", "calls")
# as in {"type": "function", "function": {...}}
_INNER = ("function", "function_call", "tool_call", "tool", "functionCall", "toolCall")
_IDS = ("id", "call_id", "tool_call_id")
_OTHER_KEYS = {*_IDS, "type", "index", "role", "content", "thought", "thoughts", "reasoning", "explanation", "rationale"}
_RPC = {"jsonrpc", "id", "method", "params"}  # a call in MCP's JSON-RPC
_TYPES = {"function", "function_call", "tool", "tool_call", "tool_use"}
_NO_ARGUMENTS = {"null", "None", '""', "''"}  # values that mean no arguments
_MAX_DEPTH = 6
# placeholders that someone else is to fill in
_PLACEHOLDER = re.compile(r"\.{3,}|\u2026|<[^<>]*>|\[[A-Za-z][\w ]*\]|\{\{?[A-Za-z][\w ]*\}?\}")
_DESCRIBED = re.compile(r"""\{\s*["'](?:type|description)["']\s*:""")
_TYPE_NAMES = frozenset(
    ["any", "array", "bool", "boolean", "dict", "float", "int", "integer", "list", "null", "number", "object", "str", "string"]
)

_SEPARATORS = re.compile(r"[\s,;\]})]*+")
_SPACE = re.compile(r"\s*+")
_COMMAS = re.compile(r"[\s,]*+")
_BARE_KEY = re.compile(r"[^\W\d][\w.\-$]*+")


class Member(NamedTuple):
    """A key of an object, and the position of its value."""

    key: str
    start: int
    end: int
    closed: bool


class Reading(NamedTuple):
    calls: list[ParsedCall]
    end: int  # where text that is not JSON begins
    paired: bool = False  # one of them was raw `["f", {"a": 1}]`


def read_json_calls(text: str, tools: Tools, *, weak: bool = True, pairs: bool = False) -> Reading | None:
    """The calls in a sequence of values; None if one of the values is not a call.

    `weak`: no marker shows that these are calls, so one of them must name a registered tool. `pairs`: accept an array of a
    name and an object as a call.
    """
    frame = _Frame(text, tools, pairs=pairs)
    reading = frame.sequence(0, len(text), 0, cut=True)
    if reading is None or not reading.calls:
        return None
    if weak and tools and not any(find_tool(call.name, tools) for call in reading.calls):
        return None
    calls = reading.calls if _is_json(text[: reading.end]) else [with_fixes(call, "broken_list") for call in reading.calls]
    return Reading(calls, reading.end, frame.paired)


def _is_json(text: str) -> bool:
    try:
        decode(text)
    except JSON_ERRORS:
        return False
    return True


class _Frame:
    def __init__(self, text: str, tools: Tools, *, pairs: bool = False) -> None:
        self.text = text
        self.tools = tools
        self.pairs = pairs  # accept pairs
        self.paired = False  # one was found

    def sequence(self, at: int, stop: int, depth: int, *, cut: bool) -> Reading | None:
        """Consecutive values. `cut`: nothing closes them, so an incomplete one was cut off."""
        calls: list[ParsedCall] = []
        while True:
            at = _match_end(_SEPARATORS, self.text, at, stop)
            if at >= stop or self.text[at] not in "{[\"'" or len(calls) > MAX_CALLS:
                return Reading(calls, at)
            end, closed = skip_value(self.text, at, stop)
            found = self._value(at, end, depth, closed=closed, cut=cut)
            if found is None:
                return None
            calls += found
            at = end

    def _value(self, at: int, end: int, depth: int, *, closed: bool, cut: bool) -> list[ParsedCall] | None:
        if depth > _MAX_DEPTH:
            return None
        inside = end - 1 if closed else end
        if self.text[at] == "{":
            first = _match_end(_SPACE, self.text, at + 1, inside)
            if not self.text.startswith("{", first):
                return self._object(at, end, depth, closed=closed, cut=cut and not closed)
        elif self.text[at] != "[":
            return self._string(at, end, depth)
        elif self.pairs and (pair := self._pair(at + 1, inside)):
            self.paired = True
            return pair
        found = self.sequence(at + 1, inside, depth + 1, cut=cut and not closed)
        return found.calls if found is not None and found.end >= inside else None

    def _pair(self, at: int, stop: int) -> list[ParsedCall] | None:
        """`["f", {"a": 1}]`: the name, then the arguments."""
        at = _match_end(_SPACE, self.text, at, stop)
        name, after = _key(self.text, at, stop) if self.text.startswith(('"', "'"), at, stop) else (None, at)
        tool = self.tools.get(name) if name else None
        start = _match_end(_COMMAS, self.text, after, stop)
        if name is None or tool is None or not self.text.startswith("{", start, stop):
            return None
        end, closed = skip_value(self.text, start, stop)
        raw = self.text[start:end]
        if not closed or self.text[end:stop].strip() or not arguments_of(raw, tool):
            return None
        return [ParsedCall(name, raw, fixes=("flat_arguments",))]

    def _string(self, at: int, end: int, depth: int) -> list[ParsedCall] | None:
        """JSON inside a string, as a list item."""
        inner = string_of(self.text[at:end])
        if inner is None or depth == 0 or not inner.lstrip().startswith(("{", "[")):
            return None
        found = _Frame(inner, self.tools).sequence(0, len(inner), depth + 1, cut=False)
        if found is None or found.end < len(inner):
            return None
        return [with_fixes(call, "unwrapped_string") for call in found.calls]

    def _object(self, at: int, end: int, depth: int, *, closed: bool, cut: bool) -> list[ParsedCall] | None:
        inside = end - 1 if closed else end
        found, after = members(self.text, at + 1, inside, closed=closed)
        if self.text.startswith("{", after, inside):  # the closing brace is missing: the next object begins
            following = self.sequence(after, inside, depth + 1, cut=cut)
            calls = self._object(at, after, depth, closed=False, cut=False)
            return None if following is None or calls is None else calls + following.calls
        fields = {member.key: member for member in found}
        wrapped = next((fields[key] for key in _WRAPPERS if key in fields and set(fields) <= {key, *_OTHER_KEYS}), None)
        if wrapped is not None:
            calls = self._value(wrapped.start, wrapped.end, depth + 1, closed=wrapped.closed, cut=cut)
        else:
            fixes = () if closed or cut else ("missing_closer",)
            raw = self.text[at:end]
            call = self._call(fields, depth, cut=cut) or self._by_key(fields)
            calls = call and [with_fixes(msgspec.structs.replace(one, raw=raw), *fixes) for one in call]
        if calls and self.text.find('"', after, inside) >= 0:  # a text seemed to end where a quote in it was not escaped
            return [msgspec.structs.replace(one, closed=False) for one in calls]
        return calls

    # -- one object

    def _call(self, fields: dict[str, Member], depth: int, *, cut: bool) -> list[ParsedCall] | None:
        """The object as one call. The id may be in the object or in the one around it."""
        if "type" in fields and self._text_of(fields["type"]) not in _TYPES:
            return None
        ids = [self._text_of(fields[key]) for key in _IDS if key in fields]
        if set(fields) <= _RPC and "method" in fields and self._text_of(fields["method"]) == "tools/call":
            params = fields.get("params")
            return params and self._object(params.start, params.end, depth + 1, closed=params.closed, cut=cut)
        for key in _INNER:
            if key in fields and self.text.startswith("{", fields[key].start) and set(fields) <= {key, *_OTHER_KEYS}:
                member = fields[key]
                inner = self._object(member.start, member.end, depth + 1, closed=member.closed, cut=cut)
                return inner and [msgspec.structs.replace(one, id=one.id or (ids and ids[0]) or None) for one in inner]
        name_key = next((key for key in _NAMES if key in fields and self._text_of(fields[key])), None)
        if name_key is None or (cut and not fields[name_key].closed):
            return None
        name = self._text_of(fields[name_key]) or ""
        others = [member for key, member in fields.items() if key != name_key]
        call = self._with_arguments(name, others, cut=cut) or self._flat(name, others)
        return None if call is None else [msgspec.structs.replace(call, id=(ids and ids[0]) or None)]

    def _with_arguments(self, name: str, others: list[Member], *, cut: bool) -> ParsedCall | None:
        keys = {member.key: member for member in others}
        key = next((key for key in _ARGUMENTS if key in keys), None)
        if set(keys) - {key} - _OTHER_KEYS:
            return None
        tool = find_tool(name, self.tools)
        if key is None:
            whole = tool is not None and not required(tool)
            return ParsedCall(name, "{}", closed=not cut) if whole or (tool is not None and cut) else None
        member = keys[key]
        raw = self.text[member.start : member.end].strip()
        if raw.startswith("{"):
            if is_schema(raw, tool):
                return None
            fixes = () if member.closed or cut else ("missing_closer",)
            return ParsedCall(name, raw, fixes=fixes, closed=member.closed or not cut)
        if not raw or (cut and not member.closed):
            return ParsedCall(name, "{}", closed=False)
        return self._other_arguments(name, raw, tool, key)

    @staticmethod
    def _other_arguments(name: str, raw: str, tool: Tool | None, key: str) -> ParsedCall | None:
        """Arguments that are not an object: none, an object inside a string, or the only argument's value."""
        if raw in _NO_ARGUMENTS:
            return ParsedCall(name, "{}")
        inner = string_of(raw)
        if inner is None:
            return None
        if inner.lstrip().startswith("{"):
            return ParsedCall(name, inner.strip(), fixes=("unwrapped_string",))
        if tool is not None and key in {"action_input", "tool_input"} and len(required(tool)) == 1:
            return ParsedCall(name, dumps({required(tool)[0]: inner}), fixes=("positional_arguments",))
        return None

    def _flat(self, name: str, others: list[Member]) -> ParsedCall | None:
        """`{"name": "f", "a": 1}`: the arguments are next to the name."""
        tool = self.tools.get(name)
        if tool is None or not others or not all(member.closed for member in others):
            return None
        if not fits([member.key for member in others], tool):
            return None
        parts = [f"{dumps(member.key)}: {self.text[member.start : member.end].strip()}" for member in others]
        return ParsedCall(name, "{" + ", ".join(parts) + "}", fixes=("flat_arguments",))

    def _by_key(self, fields: dict[str, Member]) -> list[ParsedCall] | None:
        """`{"f": {"a": 1}}`: the name is the key. The arguments may be JSON in a string."""
        found: list[ParsedCall] = []
        names = spellings(self.tools) if self.tools else {}
        for key, member in fields.items():
            name, raw = names.get(key), self.text[member.start : member.end].strip()
            inner = string_of(raw) if raw[:1] in {'"', "'"} else raw
            if name is None or not member.closed or inner is None or not (inner[:1] == "{" and inner[-1:] == "}"):
                return None
            if not fits([one.key for one in members(inner, 1, len(inner) - 1)[0]], self.tools[name]):
                return None
            fixes = ("name_as_key",) if inner is raw else ("name_as_key", "unwrapped_string")
            found.append(ParsedCall(name, inner, fixes=fixes))
        return found or None

    def _text_of(self, member: Member) -> str | None:
        return string_of(self.text[member.start : member.end].strip())


# -- the parts of an object


def members(text: str, at: int, stop: int, *, closed: bool = True) -> tuple[list[Member], int]:
    """The members between an object's braces, and where they end. `closed`: there is a brace at `stop`."""
    found: list[Member] = []
    while True:
        at = start = _match_end(_COMMAS, text, at, stop)
        key, at = _key(text, at, stop)
        at = _match_end(_SPACE, text, at, stop)
        if key is None or at >= stop or text[at] != ":":
            return found, start
        at = _match_end(_SPACE, text, at + 1, stop)
        after, whole = skip_value(text, at, stop)
        scalar = at < stop and text[at] not in "{[\"'"
        found.append(Member(key, at, after, whole or (closed and scalar)))
        at = after


def _key(text: str, at: int, stop: int) -> tuple[str | None, int]:
    if at < stop and text[at] in "\"'":
        end = string_end(text, at, stop)
        key = string_of(text[at:end]) if end >= 0 else None
        return (None if key is None else key.replace("\\_", "_")), end if end >= 0 else stop  # markdown escapes underscores
    bare = _BARE_KEY.match(text, at, stop)
    return (bare[0], bare.end()) if bare is not None else (None, at)


def string_of(raw: str) -> str | None:
    """The value of a JSON or Python string literal, or None."""
    if raw[:1] == '"':
        try:
            value = decode(raw)
        except JSON_ERRORS:
            pass
        else:
            return value if isinstance(value, str) else None
    if raw[:1] not in {'"', "'"}:
        return None
    read = read_value(raw)
    return read[0] if read is not None and read[1] == len(raw) and isinstance(read[0], str) else None


def fits(keys: list[str], tool: Tool) -> bool:
    """Whether these can be the tool's arguments: all are known, and no required one is missing."""
    known = parameters(tool)
    return all(key in known for key in keys) and all(key in keys for key in required(tool))


def arguments_of(raw: str, tool: Tool, *, closed: bool = True) -> bool:
    """Whether an object after a bare name can be arguments: all keys are known, and each has a value.

    Descriptions and placeholders are not values: `{"city": "<city>"}`, `{"city": "string"}`, `{...}`.
    """
    stop = len(raw) - 1 if closed else len(raw)
    found, after = members(raw, 1, stop, closed=closed)
    whole = after >= stop and all(member.closed for member in found)
    if closed and (not whole or (not found and required(tool))):
        return False
    known = parameters(tool)
    if is_schema(raw, tool) or not all(member.key in known for member in found):
        return False
    values = [(raw[member.start : member.end].strip(), known[member.key]) for member in found]
    if any(_left_open(value, schema, known) for value, schema in values):
        return False
    return not values or not all(_names_a_type(value, schema) for value, schema in values)


def _left_open(value: str, schema: Any, known: dict[str, Any]) -> bool:
    """Whether this is a placeholder for a value, or the name of its type."""
    text = string_of(value)
    if text is not None:
        return bool(_PLACEHOLDER.fullmatch(text.strip()))
    of_type = schema.get("type") if isinstance(schema, dict) else None
    described = isinstance(of_type, str) and of_type != "object" and _DESCRIBED.match(value) is not None
    return described or value in known or value.lower() in _TYPE_NAMES - {"null"} or bool(_PLACEHOLDER.fullmatch(value))


def _names_a_type(value: str, schema: Any) -> bool:
    """Whether this is the name of a type, as in a description. An enum may have such values, so it is excluded."""
    return (string_of(value) or "").lower() in _TYPE_NAMES and not (isinstance(schema, dict) and "enum" in schema)


def is_schema(raw: str, tool: Tool | None) -> bool:
    """Whether this is a schema of a tool's parameters, not arguments."""
    if '"properties"' not in raw or '"type"' not in raw:
        return False
    try:
        value = decode(raw)
    except JSON_ERRORS:
        return False
    known = parameters(tool) if tool is not None else {}
    return value.get("type") == "object" and isinstance(value.get("properties"), dict) and "properties" not in known


def positional(name: str, value: str, tools: Tools) -> str | None:
    """A single value as JSON arguments, under the name of the tool's first parameter."""
    tool = find_tool(name, tools)
    found = named([(None, value)], tool) if tool is not None and parameters(tool) else None
    return None if found is None else dumps(found)


def _match_end(pattern: re.Pattern[str], text: str, at: int, stop: int) -> int:
    found = pattern.match(text, at, stop)
    return found.end() if found else at
