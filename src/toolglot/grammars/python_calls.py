"""Calls written as Python: `[f(a=1), g()]`, `f(a=1)` line by line, and all that models make of it.

Between calls only brackets, commas and comments may stand, well-formed or not: a list without its end is a list of calls still.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from toolglot.core.tools import Tool
from toolglot.grammars.fixed import with_fixes
from toolglot.grammars.heard import Heard, Tools
from toolglot.grammars.known_names import find_tool, parameters
from toolglot.text.json_text import dumps
from toolglot.text.python_literals import NAME, Call, Source, plain, read_call_loosely, read_value

MAX_CALLS = 256
LABELS = ("calling tool:", "calling function:", "tool call:", "tool calls:", "function call:", "function calls:")
_NOISE = re.compile(rf"(?:[\s\[\](){{}},;]++|\#[^\n]*+(?:\n|\Z)|await\s++|(?i:{'|'.join(LABELS)}))*+")
_COMMENT = re.compile(r"\#[^\n]*+|\s++")
_WELL_FORMED = re.compile(r"\[(?:f(?:,f)*+,?+)?\]|(?:f;?)*+|f(?:,f)*+,?")
_ASSIGNED = re.compile(r"([^\W\d]\w*+)\s*+=\s*+(?=(?:await\s++)?[^\W\d][\w.]*+\()")
_PYTHON_KEY = re.compile(r"[^\W\d][\w.\-]*")


class Listing(msgspec.Struct, frozen=True):
    """The calls that stand one after another, and where what is none begins."""

    calls: tuple[Heard, ...]
    last: int  # behind the last call
    end: int  # behind the brackets and commas that follow it
    stopped: bool  # something that is no call stands there
    ended: bool  # the last bracket that was seen is a closing one
    plain: bool  # every value was given as a literal, every argument by its name


def read_listing(text: str, tools: Tools, *, start: int = 0, statements: bool = False) -> Listing:
    """`statements`: also `x = f()`, `print(f())` and, at the end, `print(x)`: code that only makes calls."""
    found: list[Heard] = []
    skeleton: list[str] = []
    variables: set[str] = set()
    at = last = start
    literal = True
    while len(found) < MAX_CALLS:
        at = _skip_noise(text, at, skeleton)
        assigned = _ASSIGNED.match(text, at) if statements else None
        if assigned is not None:
            variables.add(assigned[1])
            at = _skip_noise(text, assigned.end(), [])
        read = _one(text, at, tools)
        if read is None:
            break
        call, end = read
        if call.name == "print" and "print" not in tools:
            shown = str(call.pairs[0][1]) if len(call.pairs) == 1 else ""
            if statements and shown in variables:
                at = end
                continue
            break
        heard = as_heard(call, text[at:end], tools)
        if heard is None:
            break
        found.append(heard)
        skeleton.append("f")
        literal = literal and not call.fixes and all(key is not None for key, _ in call.pairs)
        at = last = end
        if not call.closed:
            break
    shape = "".join(skeleton)
    return Listing(_with_list_fixes(found, shape), last, at, at < len(text), shape[-1:] in {"]", ")", "}"}, literal)


def _skip_noise(text: str, at: int, skeleton: list[str]) -> int:
    noise = _NOISE.match(text, at)
    if noise is None or noise.end() == at:
        return at
    skeleton.append(_COMMENT.sub("", noise[0]))
    return noise.end()


def _one(text: str, at: int, tools: Tools) -> tuple[Call, int] | None:
    """A call, a call that is printed, or a call inside a string."""
    if text[at : at + 1] in {'"', "'", "`"}:
        return _in_string(text, at)
    call = read_call_loosely(text, at)
    if call is None:
        return None
    if call.name == "print" and "print" not in tools and len(call.pairs) == 1 and isinstance(call.pairs[0][1], Source):
        inner = read_call_loosely(str(call.pairs[0][1]))
        if inner is not None and call.closed:
            return inner, call.end
    return call, call.end


def _in_string(text: str, at: int) -> tuple[Call, int] | None:
    """`"f(a=1)"` as an item of a list of strings; its quotes may be used inside as well."""
    read = read_value(text, at) if text[at] != "`" else None
    if read is not None and isinstance(read[0], str):
        inner = read[0].strip()
        call = read_call_loosely(inner)
        if call is not None and call.closed and not inner[call.end :].strip(" ;"):
            return call._replace(fixes=(*call.fixes, "unwrapped_string")), read[1]
    call = read_call_loosely(text, at + 1)
    if call is None or not call.closed or not text.startswith(text[at], call.end):
        return None
    return call._replace(fixes=(*call.fixes, "unwrapped_string")), call.end + 1


def _with_list_fixes(calls: list[Heard], skeleton: str) -> tuple[Heard, ...]:
    if not calls or _WELL_FORMED.fullmatch(skeleton):
        return tuple(calls)
    fix = "missing_closer" if _WELL_FORMED.fullmatch(skeleton + "]") else "broken_list"
    return tuple(with_fixes(call, fix) for call in calls)


def as_heard(call: Call, raw: str, tools: Tools) -> Heard | None:
    """The call with its arguments as JSON. None where an argument has no name, and no schema gives it one."""
    arguments = named(call.pairs, find_tool(call.name, tools))
    if arguments is None:
        return None
    heard = Heard(call.name, dumps(plain(arguments)), raw, fixes=call.fixes, closed=call.closed)
    by_position = any(key is None for key, _ in call.pairs) and arguments is not call.pairs[0][1]
    return with_fixes(heard, "positional_arguments") if by_position else heard


def named(pairs: list[tuple[str | None, Any]], tool: Tool | None) -> dict[str, Any] | None:
    """Arguments by name. Those given by position take the names of the schema, in its order."""
    if len(pairs) == 1 and pairs[0][0] is None and _is_arguments(pairs[0][1], tool):
        held: dict[str, Any] = pairs[0][1]
        return held
    found: dict[str, Any] = {}
    order = list(parameters(tool)) if tool is not None else []
    for at, (key, value) in enumerate(pairs):
        if key is None:
            if tool is None:
                return None
            key = order[at] if at < len(order) else f"arg{at}"
        found[key] = value
    return found


def _is_arguments(value: Any, tool: Tool | None) -> bool:
    """Whether a call's only argument is the object of all of them: `f({"a": 1})`."""
    if not isinstance(value, dict):
        return False
    known = parameters(tool) if tool is not None else {}
    first = next(iter(known.values()), None)
    takes_object = isinstance(first, dict) and first.get("type") in {"object", "dict"}
    return not takes_object or (bool(value) and all(key in known for key in value))


def written(name: str, arguments: dict[str, Any]) -> str:
    """A call as Python."""
    parts = [f"{key}={literal(value)}" for key, value in arguments.items() if _PYTHON_KEY.fullmatch(key)]
    odd = {key: value for key, value in arguments.items() if not _PYTHON_KEY.fullmatch(key)}
    if odd:
        parts.append(f"**{literal(odd)}")
    return f"{name}({', '.join(parts)})"


def literal(value: Any) -> str:
    """A JSON value as a Python literal, with double quotes: JSON's escapes are Python's too."""
    if isinstance(value, str):
        return dumps(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{dumps(key)}: {literal(held)}" for key, held in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    return repr(value)


def only_known(calls: tuple[Heard, ...], tools: Tools) -> bool:
    """Whether every call names a registered tool; where none are registered, all do."""
    return not tools or all(find_tool(call.name, tools) is not None for call in calls)


def begins_call(text: str, at: int) -> bool | None:
    """Whether `name(` stands at `at`; None while it still may."""
    name = NAME.match(text, at)
    if name is None:
        return None if at == len(text) else False
    if name.end() == len(text):
        return None
    rest = text[name.end() :]
    return True if rest[0] == "(" else None if rest in {":", "-", ".", "/", "::"} else False
