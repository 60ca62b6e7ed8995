"""Calls written as JSON without markers, in all the shapes that models know: by which keys, how nested, and how broken.

Only the frame is read here. The arguments are handed on as the text that stands there, for others to mend.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from toolglot.core.tools import Tool
from toolglot.grammars.fixed import with_fixes
from toolglot.grammars.heard import Heard, Tools
from toolglot.grammars.known_names import find_tool, parameters, required
from toolglot.grammars.python_calls import MAX_CALLS, named
from toolglot.text.json_text import BadJson, decode, dumps
from toolglot.text.python_end import skip_value, string_end
from toolglot.text.python_literals import read_value

_NAMES = (
    *("name", "tool", "tool_name", "function", "function_name", "action", "recipient_name"),
    *("toolName", "functionName"),
)
_ARGUMENTS = (
    *("arguments", "parameters", "args", "params", "tool_input", "action_input", "input", "tool_args", "kwargs"),
    *("tool_arguments", "functionArgs", "toolArgs"),
)
_WRAPPERS = ("tool_calls", "function_calls", "tool_uses", "calls")
# As in {"type": "function", "function": {...}}.
_INNER = ("function", "function_call", "tool_call", "tool", "functionCall", "toolCall")
_IDS = ("id", "call_id", "tool_call_id")
_BESIDE = {*_IDS, "type", "index", "role", "content", "thought", "thoughts", "reasoning", "explanation", "rationale"}
_RPC = {"jsonrpc", "id", "method", "params"}  # as MCP asks for a call
_TYPES = {"function", "function_call", "tool", "tool_call", "tool_use"}
_UNTOLD = {"", "null", "None", '""', "''"}  # arguments that are none
_MAX_DEPTH = 6
# What others are to put a value in place of.
_STAND_IN = re.compile(r"\.{3,}|\u2026|<[^<>]*>|\[[A-Za-z][\w ]*\]|\{\{?[A-Za-z][\w ]*\}?\}")
_DESCRIBED = re.compile(r"""\{\s*["'](?:type|description)["']\s*:""")
_TYPE_NAMES = frozenset(
    ["any", "array", "bool", "boolean", "dict", "float", "int", "integer", "list", "null", "number", "object", "str", "string"]
)

_SEPARATORS = re.compile(r"[\s,;\]})]*+")
_SPACE = re.compile(r"\s*+")
_COMMAS = re.compile(r"[\s,]*+")
_BARE_KEY = re.compile(r"[^\W\d][\w.\-$]*+")


class Member(NamedTuple):
    """A key of an object, and where its value stands."""

    key: str
    start: int
    end: int
    closed: bool


class Reading(NamedTuple):
    calls: list[Heard]
    end: int  # where something that is no JSON begins
    paired: bool = False  # `["f", {"a": 1}]` was among them


def read_json_calls(text: str, tools: Tools, *, weak: bool = True, pairs: bool = False) -> Reading | None:
    """The values that stand there, if every one of them is a call; None where one is something else.

    `weak`: no marker says that these are calls, so one of them must name a registered tool. `pairs`: a name and an object
    in an array may be one.
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
    except BadJson:
        return False
    return True


class _Frame:
    def __init__(self, text: str, tools: Tools, *, pairs: bool = False) -> None:
        self.text = text
        self.tools = tools
        self.pairs = pairs  # whether they count
        self.paired = False  # whether there was one

    def sequence(self, at: int, stop: int, depth: int, *, cut: bool) -> Reading | None:
        """Values one behind another. `cut`: nothing closes them, so an unfinished one was cut short."""
        calls: list[Heard] = []
        while True:
            at = _behind(_SEPARATORS, self.text, at, stop)
            if at >= stop or self.text[at] not in "{[\"'" or len(calls) > MAX_CALLS:
                return Reading(calls, at)
            end, closed = skip_value(self.text, at, stop)
            found = self._value(at, end, depth, closed=closed, cut=cut)
            if found is None:
                return None
            calls += found
            at = end

    def _value(self, at: int, end: int, depth: int, *, closed: bool, cut: bool) -> list[Heard] | None:
        if depth > _MAX_DEPTH:
            return None
        inside = end - 1 if closed else end
        if self.text[at] == "{":
            first = _behind(_SPACE, self.text, at + 1, inside)
            if not self.text.startswith("{", first):
                return self._object(at, end, depth, closed=closed, cut=cut and not closed)
        elif self.text[at] != "[":
            return self._string(at, end, depth)
        elif self.pairs and (pair := self._pair(at + 1, inside)):
            self.paired = True
            return pair
        found = self.sequence(at + 1, inside, depth + 1, cut=cut and not closed)
        return found.calls if found is not None and found.end >= inside else None

    def _pair(self, at: int, stop: int) -> list[Heard] | None:
        """`["f", {"a": 1}]`: the name, and its arguments behind it."""
        at = _behind(_SPACE, self.text, at, stop)
        name, behind = _key(self.text, at, stop) if self.text.startswith(('"', "'"), at, stop) else (None, at)
        tool = self.tools.get(name) if name else None
        start = _behind(_COMMAS, self.text, behind, stop)
        if name is None or tool is None or not self.text.startswith("{", start, stop):
            return None
        end, closed = skip_value(self.text, start, stop)
        written = self.text[start:end]
        if not closed or self.text[end:stop].strip() or not arguments_of(written, tool):
            return None
        return [Heard(name, written, fixes=("flat_arguments",))]

    def _string(self, at: int, end: int, depth: int) -> list[Heard] | None:
        """JSON inside a string, as an item of a list."""
        inner = string_of(self.text[at:end])
        if inner is None or depth == 0 or not inner.lstrip().startswith(("{", "[")):
            return None
        found = _Frame(inner, self.tools).sequence(0, len(inner), depth + 1, cut=False)
        if found is None or found.end < len(inner):
            return None
        return [with_fixes(call, "unwrapped_string") for call in found.calls]

    def _object(self, at: int, end: int, depth: int, *, closed: bool, cut: bool) -> list[Heard] | None:
        inside = end - 1 if closed else end
        found, behind = members(self.text, at + 1, inside, closed=closed)
        if self.text.startswith("{", behind, inside):  # its own closing brace is missing: the next object has begun
            following = self.sequence(behind, inside, depth + 1, cut=cut)
            calls = self._object(at, behind, depth, closed=False, cut=False)
            return None if following is None or calls is None else calls + following.calls
        held = {member.key: member for member in found}
        for key in _WRAPPERS:
            if key in held and set(held) <= {key, *_BESIDE}:
                member = held[key]
                return self._value(member.start, member.end, depth + 1, closed=member.closed, cut=cut)
        call = self._call(held, depth, cut=cut) or self._by_key(held)
        if call is None:
            return None
        fixes = () if closed or cut else ("missing_closer",)
        return [with_fixes(msgspec.structs.replace(one, raw=self.text[at:end]), *fixes) for one in call]

    # -- one object

    def _call(self, held: dict[str, Member], depth: int, *, cut: bool) -> list[Heard] | None:
        """The object as one call; the id may stand beside it or around it."""
        if "type" in held and self._text_of(held["type"]) not in _TYPES:
            return None
        ids = [self._text_of(held[key]) for key in _IDS if key in held]
        if set(held) <= _RPC and "method" in held and self._text_of(held["method"]) == "tools/call":
            params = held.get("params")
            return params and self._object(params.start, params.end, depth + 1, closed=params.closed, cut=cut)
        for key in _INNER:
            if key in held and self.text.startswith("{", held[key].start) and set(held) <= {key, *_BESIDE}:
                member = held[key]
                inner = self._object(member.start, member.end, depth + 1, closed=member.closed, cut=cut)
                return inner and [msgspec.structs.replace(one, id=one.id or (ids and ids[0]) or None) for one in inner]
        name_key = next((key for key in _NAMES if key in held and self._text_of(held[key])), None)
        if name_key is None or (cut and not held[name_key].closed):
            return None
        name = self._text_of(held[name_key]) or ""
        others = [member for key, member in held.items() if key != name_key]
        call = self._with_arguments(name, others, cut=cut) or self._flat(name, others)
        return None if call is None else [msgspec.structs.replace(call, id=(ids and ids[0]) or None)]

    def _with_arguments(self, name: str, others: list[Member], *, cut: bool) -> Heard | None:
        keys = {member.key: member for member in others}
        key = next((key for key in _ARGUMENTS if key in keys), None)
        if set(keys) - {key} - _BESIDE:
            return None
        tool = find_tool(name, self.tools)
        if key is None:
            whole = tool is not None and not required(tool)
            return Heard(name, "{}", closed=not cut) if whole or (tool is not None and cut) else None
        member = keys[key]
        written = self.text[member.start : member.end].strip()
        if written.startswith("{"):
            if is_schema(written, tool):
                return None
            fixes = () if member.closed or cut else ("missing_closer",)
            return Heard(name, written, fixes=fixes, closed=member.closed or not cut)
        return self._odd_arguments(name, written, tool, key) if member.closed or not cut else Heard(name, "{}", closed=False)

    @staticmethod
    def _odd_arguments(name: str, written: str, tool: Tool | None, key: str) -> Heard | None:
        """Arguments that are no object: none at all, an object inside a string, or the only argument itself."""
        if written in _UNTOLD:
            return Heard(name, "{}")
        inner = string_of(written)
        if inner is None:
            return None
        if inner.lstrip().startswith("{"):
            return Heard(name, inner.strip(), fixes=("unwrapped_string",))
        if tool is not None and key in {"action_input", "tool_input"} and len(required(tool)) == 1:
            return Heard(name, dumps({required(tool)[0]: inner}), fixes=("positional_arguments",))
        return None

    def _flat(self, name: str, others: list[Member]) -> Heard | None:
        """`{"name": "f", "a": 1}`: the arguments beside the name."""
        tool = self.tools.get(name)
        if tool is None or not others or not all(member.closed for member in others):
            return None
        if not fits([member.key for member in others], tool):
            return None
        parts = [f"{dumps(member.key)}: {self.text[member.start : member.end].strip()}" for member in others]
        return Heard(name, "{" + ", ".join(parts) + "}", fixes=("flat_arguments",))

    def _by_key(self, held: dict[str, Member]) -> list[Heard] | None:
        """`{"f": {"a": 1}}`: the name is the key."""
        found: list[Heard] = []
        for key, member in held.items():
            tool = self.tools.get(key)
            if tool is None or not self.text.startswith("{", member.start) or not member.closed:
                return None
            if not fits([inner.key for inner in members(self.text, member.start + 1, member.end - 1)[0]], tool):
                return None
            found.append(Heard(key, self.text[member.start : member.end], fixes=("name_as_key",)))
        return found or None

    def _text_of(self, member: Member) -> str | None:
        return string_of(self.text[member.start : member.end].strip())


# -- the parts of an object


def members(text: str, at: int, stop: int, *, closed: bool = True) -> tuple[list[Member], int]:
    """The members of an object between its braces, and where they end. `closed`: a brace stands at `stop`."""
    found: list[Member] = []
    while True:
        at = start = _behind(_COMMAS, text, at, stop)
        key, at = _key(text, at, stop)
        at = _behind(_SPACE, text, at, stop)
        if key is None or at >= stop or text[at] != ":":
            return found, start
        at = _behind(_SPACE, text, at + 1, stop)
        behind, whole = skip_value(text, at, stop)
        scalar = at < stop and text[at] not in "{[\"'"
        found.append(Member(key, at, behind, whole or (closed and scalar)))
        at = behind


def _key(text: str, at: int, stop: int) -> tuple[str | None, int]:
    if at < stop and text[at] in "\"'":
        end = string_end(text, at, stop)
        return (string_of(text[at:end]), end) if end >= 0 else (None, stop)
    bare = _BARE_KEY.match(text, at, stop)
    return (bare[0], bare.end()) if bare is not None else (None, at)


def string_of(written: str) -> str | None:
    """The string that a JSON or Python string literal is, or None."""
    if written[:1] == '"':
        try:
            value = decode(written)
        except BadJson:
            pass
        else:
            return value if isinstance(value, str) else None
    if written[:1] not in {'"', "'"}:
        return None
    read = read_value(written)
    return read[0] if read is not None and read[1] == len(written) and isinstance(read[0], str) else None


def fits(keys: list[str], tool: Tool) -> bool:
    """Whether these can be the tool's arguments: all known, and none missing that must be there."""
    known = parameters(tool)
    return all(key in known for key in keys) and all(key in keys for key in required(tool))


def arguments_of(written: str, tool: Tool, *, closed: bool = True) -> bool:
    """Whether an object with nothing but a name before it can be meant as arguments: all known, and each with a value.

    What describes them is none, nor what leaves them open: `{"city": "<city>"}`, `{"city": "string"}`, `{...}`.
    """
    stop = len(written) - 1 if closed else len(written)
    found, behind = members(written, 1, stop, closed=closed)
    whole = behind >= stop and all(member.closed for member in found)
    if closed and (not whole or (not found and required(tool))):
        return False
    known = parameters(tool)
    if is_schema(written, tool) or not all(member.key in known for member in found):
        return False
    values = [(written[member.start : member.end].strip(), known[member.key]) for member in found]
    if any(_left_open(value, schema, known) for value, schema in values):
        return False
    return not values or not all(_names_a_type(value, schema) for value, schema in values)


def _left_open(value: str, schema: Any, known: dict[str, Any]) -> bool:
    """Whether this stands for a value, or says of what type it is."""
    text = string_of(value)
    if text is not None:
        return bool(_STAND_IN.fullmatch(text.strip()))
    of_type = schema.get("type") if isinstance(schema, dict) else None
    described = isinstance(of_type, str) and of_type != "object" and _DESCRIBED.match(value) is not None
    return described or value in known or value.lower() in _TYPE_NAMES - {"null"} or bool(_STAND_IN.fullmatch(value))


def _names_a_type(value: str, schema: Any) -> bool:
    """Choices may be called so; else it is what a description of the parameters says."""
    return (string_of(value) or "").lower() in _TYPE_NAMES and not (isinstance(schema, dict) and "enum" in schema)


def is_schema(written: str, tool: Tool | None) -> bool:
    """Whether this is the description of a tool's parameters, and no arguments."""
    if '"properties"' not in written or '"type"' not in written:
        return False
    try:
        value = decode(written)
    except BadJson:
        return False
    known = parameters(tool) if tool is not None else {}
    return value.get("type") == "object" and isinstance(value.get("properties"), dict) and "properties" not in known


def positional(name: str, value: str, tools: Tools) -> str | None:
    """One value given alone, as the JSON of the arguments, by the name of the tool's first parameter."""
    tool = find_tool(name, tools)
    found = named([(None, value)], tool) if tool is not None and parameters(tool) else None
    return None if found is None else dumps(found)


def _behind(pattern: re.Pattern[str], text: str, at: int, stop: int) -> int:
    found = pattern.match(text, at, stop)
    return found.end() if found else at
