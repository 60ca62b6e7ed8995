"""Calls as Python: `[f(a=1), g()]`, `f(a=1)` line by line, and malformed variants.

Only brackets, commas and comments may be between calls, balanced or not: a list without its end is still a list of calls.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from toolglot.core.tools import Tool
from toolglot.grammars.known_names import find_tool, parameters
from toolglot.grammars.parsed_call import ParsedCall, Tools, with_fixes
from toolglot.io.json_codec import dumps
from toolglot.io.python_literals import NAME, PythonCall, UnparsedText, read_call_loosely, read_value, to_plain_value

MAX_CALLS = 256
LABELS = ("calling tool:", "calling function:", "tool call:", "tool calls:", "function call:", "function calls:")
_NOISE = re.compile(rf"(?:[\s\[\](){{}},;]++|\#[^\n]*+(?:\n|\Z)|await\s++|(?i:{'|'.join(LABELS)}))*")
_COMMENT = re.compile(r"\#[^\n]*+|\s++")
_WELL_FORMED = re.compile(r"\[(?:f(?:,f)*,?+)?\]|(?:f;?)*|f(?:,f)*,?")
_ASSIGNED = re.compile(r"([^\W\d]\w*+)\s*+=\s*+(?=(?:await\s++)?[^\W\d][\w.]*+\()")


class Listing(msgspec.Struct, frozen=True):
    """Consecutive calls, and where they end."""

    calls: tuple[ParsedCall, ...]
    last: int  # after the last call
    end: int  # after the brackets and commas that follow it
    stopped: bool  # other text follows
    ended: bool  # the last bracket is a closing one
    plain: bool  # every value is a literal, every argument has a name


def read_listing(text: str, tools: Tools, *, start: int = 0, statements: bool = False) -> Listing:
    """`statements`: also accept `x = f()`, `print(f())` and, at the end, `print(x)`: code that only makes calls."""
    found: list[ParsedCall] = []
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
        read = _read_one(text, at, tools)
        if read is None:
            break
        call, end = read
        if call.name == "print" and "print" not in tools:
            shown = str(call.pairs[0][1]) if len(call.pairs) == 1 else ""
            if statements and shown in variables:
                at = end
                continue
            break
        parsed = as_parsed_call(call, text[at:end], tools)
        if parsed is None:
            break
        found.append(parsed)
        skeleton.append("f")
        literal = literal and not call.fixes and all(key is not None for key, _ in call.pairs)
        at = last = end
        if not call.closed:
            break
    if at < len(text) and found and "unescaped_quote" in found[-1].fixes:  # the value may go on behind what looks like its end
        found[-1] = msgspec.structs.replace(found[-1], closed=False)
    shape = "".join(skeleton)
    return Listing(_with_list_fixes(found, shape), last, at, at < len(text), shape[-1:] in {"]", ")", "}"}, literal)


def _skip_noise(text: str, at: int, skeleton: list[str]) -> int:
    noise = _NOISE.match(text, at)
    if noise is None or noise.end() == at:
        return at
    skeleton.append(_COMMENT.sub("", noise[0]))
    return noise.end()


def _read_one(text: str, at: int, tools: Tools) -> tuple[PythonCall, int] | None:
    """A call, a call that is printed, or a call inside a string."""
    if text[at : at + 1] in {'"', "'", "`"}:
        return _in_string(text, at)
    call = read_call_loosely(text, at)
    if call is None:
        return None
    if call.name == "print" and "print" not in tools and len(call.pairs) == 1 and isinstance(call.pairs[0][1], UnparsedText):
        inside = str(call.pairs[0][1])
        inner = read_call_loosely(inside)
        if inner is not None and call.closed:
            return inner._replace(closed=inner.closed and inner.end == len(inside)), call.end
    return call, call.end


def _in_string(text: str, at: int) -> tuple[PythonCall, int] | None:
    """`"f(a=1)"` as an item of a list of strings; the same quotes may be used inside."""
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


def _with_list_fixes(calls: list[ParsedCall], skeleton: str) -> tuple[ParsedCall, ...]:
    if not calls or _WELL_FORMED.fullmatch(skeleton):
        return tuple(calls)
    fix = "missing_closer" if _WELL_FORMED.fullmatch(skeleton + "]") else "broken_list"
    return tuple(with_fixes(call, fix) for call in calls)


def as_parsed_call(call: PythonCall, raw: str, tools: Tools) -> ParsedCall | None:
    """The call with its arguments as JSON. None if an argument has no name and no schema provides one."""
    arguments = named(call.pairs, find_tool(call.name, tools))
    if arguments is None:
        return None
    parsed = ParsedCall(call.name, dumps(to_plain_value(arguments)), raw, fixes=call.fixes, closed=call.closed)
    by_position = any(key is None for key, _ in call.pairs) and arguments is not call.pairs[0][1]
    return with_fixes(parsed, "positional_arguments") if by_position else parsed


def named(pairs: list[tuple[str | None, Any]], tool: Tool | None) -> dict[str, Any] | None:
    """Arguments by name. Positional ones get the names of the schema, in its order."""
    if len(pairs) == 1 and pairs[0][0] is None and _is_arguments(pairs[0][1], tool):
        arguments: dict[str, Any] = pairs[0][1]
        return arguments
    found: dict[str, Any] = {}
    order = list(parameters(tool)) if tool is not None else []
    for at, (key, value) in enumerate(pairs):
        if key is None:
            if tool is None or any(before is not None for before, _ in pairs[:at]):
                return None  # Python has none behind a named one: the text before it only seemed to end
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


def only_known(calls: tuple[ParsedCall, ...], tools: Tools) -> bool:
    """Whether every call names a registered tool; always true if none are registered."""
    return not tools or all(find_tool(call.name, tools) is not None for call in calls)


def begins_call(text: str, at: int) -> bool | None:
    """Whether there is `name(` at `at`; None: more text is needed."""
    name = NAME.match(text, at)
    if name is None:
        return None if at == len(text) else False
    if name.end() == len(text):
        return None
    rest = text[name.end() :]
    return True if rest[0] == "(" else None if rest in {":", "-", ".", "/", "::"} else False
