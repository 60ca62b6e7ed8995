"""Parses JSON as models write it: strictly first, else leniently, with a list of the fixes.

Never raises and never guesses: ambiguous text gives a problem instead of a value.
The work is linear; depth and size are limited.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from toolglot.io.json_codec import JSON_ERRORS, decode, dumps
from toolglot.schema.loose_json import MAX_DEPTH, LooseReader
from toolglot.schema.loose_string import Unclear

MAX_SIZE = 4 * 1024 * 1024  # characters

_APART = re.compile(r"\s:")
_FENCE = re.compile(r"(`{3,}|~{3,})[\w+-]*\s*")
_ESCAPED = re.compile(r"[\[{]\s*\\\"")
_KINDS = ((str, "a string"), (int, "an integer"), (float, "a number"), (list, "a list"), (dict, "an object"))


class Reading(msgspec.Struct, frozen=True):
    """A value and the codes of its fixes; or, if `problem` is set, the reason why there is none."""

    value: Any = None
    fixes: tuple[str, ...] = ()
    problem: str | None = None
    limit: bool = False  # the problem is size or depth


def read_relaxed(text: str, *, cut: bool = False, last_wins: bool = False) -> Reading:
    """Any JSON value.

    `cut`: the text may be truncated, so open brackets must not be closed. `last_wins`: accept duplicate keys with different
    values, and take the last one.
    """
    if len(text) > MAX_SIZE:
        return Reading(problem=f"longer than {MAX_SIZE} characters", limit=True)
    try:
        value = decode(text)
    except JSON_ERRORS:
        return _read_loosely(text, cut=cut, last_wins=last_wins)
    if too_deep(text, value):
        return Reading(problem=f"nested more than {MAX_DEPTH} deep", limit=True)
    if repeats_key(text, value):
        return _read_loosely(text, cut=cut, last_wins=last_wins)
    return Reading(value)


def read_object(text: str, *, cut: bool = False, last_wins: bool = False) -> Reading:
    """As `read_relaxed`, but the value must be an object; JSON inside a string is unwrapped."""
    read = read_relaxed(text, cut=cut, last_wins=last_wins)
    for _ in range(3):  # models nest strings up to three deep
        if not isinstance(read.value, str):
            break
        inner = read_relaxed(read.value, cut=cut, last_wins=last_wins)
        fixes = dict.fromkeys((*read.fixes, "unwrapped_string", *inner.fixes))
        read = msgspec.structs.replace(inner, fixes=tuple(fixes))
    if read.problem or isinstance(read.value, dict):
        return read
    return Reading(problem=f"not an object but {kind_of(read.value)}")


def kind_of(value: Any) -> str:
    """A JSON value's type, with its article."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else "a boolean"
    return next((word for kind, word in _KINDS if isinstance(value, kind)), type(value).__name__)


def too_deep(text: str, value: Any) -> bool:
    """Whether a value is nested beyond the limit. Counting brackets in its text is enough in nearly all cases."""
    if text.count("{") + text.count("[") <= MAX_DEPTH:
        return False
    depth, level = 0, [value]
    while depth <= MAX_DEPTH:
        containers = [item for item in level if isinstance(item, (dict, list))]
        if not containers:
            return False
        depth += 1
        level = [inner for item in containers for inner in (item.values() if isinstance(item, dict) else item)]
    return True


def repeats_key(text: str, value: Any) -> bool:
    """Whether an object has a duplicate key, which JSON parsers treat differently.

    Text that equals our serialization has none. Otherwise counting colons is enough in most cases.
    """
    if dumps(value) == text:
        return False
    keys = _count_keys(value)
    # `":` counts only if no key has a space before its colon; strings can only increase the count
    if text.count(":") == keys or (text.count('":') == keys and _APART.search(text) is None):
        return False
    found = False

    def check(pairs: list[tuple[str, Any]]) -> None:
        nonlocal found
        found = found or len({key for key, _ in pairs}) < len(pairs)

    try:
        json.loads(text, object_pairs_hook=check)
    except (ValueError, RecursionError):  # it was decoded before, so this can only be a limit of the json module
        return False
    return found


def _count_keys(value: Any) -> int:
    """The keys of all objects in a decoded value."""
    keys = 0
    left: list[Any] = [value] if isinstance(value, (dict, list)) else []
    for container in left:  # `left` grows during the loop
        if type(container) is dict:
            keys += len(container)
            container = container.values()
        for item in container:
            kind = type(item)
            if kind is dict or kind is list:
                left.append(item)
    return keys


def _read_loosely(text: str, *, cut: bool, last_wins: bool) -> Reading:
    fixes: dict[str, None] = {}
    text = _unfenced(text.strip(), fixes)
    if _ESCAPED.match(text):
        try:
            text = decode(f'"{text}"')
            fixes["unwrapped_string"] = None
        except JSON_ERRORS:
            pass
    reader = LooseReader(text, fixes, cut=cut, last_wins=last_wins)
    try:
        value = reader.whole()
    except (Unclear, RecursionError, ValueError) as reason:  # ValueError: a number with too many digits
        return Reading(problem=str(reason), limit=reader.too_deep)
    return Reading(value, tuple(fixes))


def _unfenced(text: str, fixes: dict[str, None]) -> str:
    fence = _FENCE.match(text)
    if fence is None:
        return text
    fixes["fenced"] = None
    return text[fence.end() :].removesuffix(fence[1]).rstrip()
