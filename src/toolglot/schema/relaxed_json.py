"""JSON as models write it: read strictly first, else leniently, with a list of what had to be put right.

Never raises, and never guesses: where no reading is plainly right there is none, but a reason.
The work is linear, and depth and size are limited.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from toolglot.schema.loose_json import MAX_DEPTH, LooseReader
from toolglot.schema.loose_string import Unclear
from toolglot.text.json_text import BadJson, decode, dumps

MAX_SIZE = 4 * 1024 * 1024  # characters

_APART = re.compile(r"\s:")
_FENCE = re.compile(r"(`{3,}|~{3,})[\w+-]*\s*")
_ESCAPED = re.compile(r"[\[{]\s*\\\"")
_KINDS = ((str, "a string"), (int, "an integer"), (float, "a number"), (list, "a list"), (dict, "an object"))


class Reading(msgspec.Struct, frozen=True):
    """A value and the codes of its fixes; or, where `problem` is set, the reason why there is none."""

    value: Any = None
    fixes: tuple[str, ...] = ()
    problem: str | None = None
    limit: bool = False  # the problem is one of size or depth


def read_relaxed(text: str, *, cut: bool = False, last_wins: bool = False) -> Reading:
    """Any JSON value.

    `cut`: the text may have broken off, so nothing that is open may be closed. `last_wins`: of a key that is given
    twice, else refused, the last value is taken.
    """
    if len(text) > MAX_SIZE:
        return Reading(problem=f"longer than {MAX_SIZE} characters", limit=True)
    try:
        value = decode(text)
    except BadJson:
        return _read_loosely(text, cut=cut, last_wins=last_wins)
    if too_deep(text, value):
        return Reading(problem=f"nested more than {MAX_DEPTH} deep", limit=True)
    if repeats_key(text, value):
        return _read_loosely(text, cut=cut, last_wins=last_wins)
    return Reading(value)


def read_object(text: str, *, cut: bool = False, last_wins: bool = False) -> Reading:
    """As `read_relaxed`, but the value must be an object; one inside a string is taken out."""
    read = read_relaxed(text, cut=cut, last_wins=last_wins)
    for _ in range(3):  # strings in strings in strings have been seen
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
    """Whether a value is nested beyond the limit. Counting brackets in its text settles nearly all cases."""
    if text.count("{") + text.count("[") <= MAX_DEPTH:
        return False
    depth, level = 0, [value]
    while depth <= MAX_DEPTH:
        held = [item for item in level if isinstance(item, (dict, list))]
        if not held:
            return False
        depth += 1
        level = [inner for item in held for inner in (item.values() if isinstance(item, dict) else item)]
    return True


def repeats_key(text: str, value: Any) -> bool:
    """Whether an object has a key twice, on which readers of JSON disagree.

    Text that is as we write the value ourselves has none. Else counting colons settles most cases.
    """
    if dumps(value) == text:
        return False
    keys = _count_keys(value)
    # behind a quote, where no key stands apart from its colon: then strings can only add to the count
    if text.count(":") == keys or (text.count('":') == keys and _APART.search(text) is None):
        return False
    found = False

    def see(pairs: list[tuple[str, Any]]) -> None:
        nonlocal found
        found = found or len({key for key, _ in pairs}) < len(pairs)

    try:
        json.loads(text, object_pairs_hook=see)
    except (ValueError, RecursionError):  # it was decoded before: only a limit of json's own can be the reason
        return False
    return found


def _count_keys(value: Any) -> int:
    """Of all objects in a value that was decoded."""
    keys = 0
    left: list[Any] = [value] if isinstance(value, (dict, list)) else []
    for held in left:  # which grows meanwhile
        if type(held) is dict:
            keys += len(held)
            held = held.values()
        for item in held:
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
        except BadJson:
            pass
    reader = LooseReader(text, fixes, cut=cut, last_wins=last_wins)
    try:
        value = reader.whole()
    except (Unclear, RecursionError, ValueError) as reason:  # ValueError: a number of too many digits
        return Reading(problem=str(reason), limit=reader.too_deep)
    return Reading(value, tuple(fixes))


def _unfenced(text: str, fixes: dict[str, None]) -> str:
    fence = _FENCE.match(text)
    if fence is None:
        return text
    fixes["fenced"] = None
    return text[fence.end() :].removesuffix(fence[1]).rstrip()
