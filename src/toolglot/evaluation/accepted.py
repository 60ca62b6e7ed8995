"""Decides whether arguments are right. Expected answers have the format of BFCL's, and its rules:

- each argument has a list of accepted values; `""` among them means that the argument may be absent
- inside an accepted object each key has such a list again; an accepted list contains plain values
- strings are compared without case, spaces and the characters `, . / - _ * ^`; all kinds of quotes are equal

plus our rules, where BFCL's are wrong or missing:

- a decimal point and a minus stay: "1.5" is not "15", "-5" is not "5"
- a full stop, exclamation or question mark at the end of a string is ignored
- 5 is 5.0, and neither is `true`
- null means absent; an argument that is not in the expected answer may only have its schema's default
- the order of a list matters, unless its key is in `unordered`
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from math import isclose
from typing import Any, TypeVar

ABSENT = ""
Accepted = Mapping[str, Sequence[Any]]
One = TypeVar("One")
Other = TypeVar("Other")

_QUOTES = str.maketrans({"'": '"', "‘": '"', "’": '"', "“": '"', "”": '"', "`": '"', "−": "-"})
# removed: spaces and BFCL's characters, except the point in 1.5 and the minus in -5
_DROPPED = re.compile(r"[\s,/_*^]|(?<!\d)\.|\.(?!\d)|(?<=\w)-|-(?!\d)")


def normal(text: str) -> str:
    """A string normalized for comparison."""
    even = unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold()
    return _DROPPED.sub("", even.rstrip(" \t\r\n.!?"))


def arguments_match(
    arguments: Mapping[str, Any], accepted: Accepted, unordered: Collection[str] = (), defaults: Any = None
) -> bool:
    """`defaults` are the schema's default values, for arguments that are not in `accepted`."""
    for key, allowed in accepted.items():
        value = arguments.get(key)
        if value is None:
            if ABSENT not in allowed and None not in allowed:
                return False
        elif not any(value_matches(value, one, unordered, key in unordered) for one in allowed):
            return False
    beyond = (key for key in arguments if key not in accepted and arguments[key] is not None)
    return all(key in (defaults or {}) and value_matches(arguments[key], (defaults or {})[key]) for key in beyond)


def value_matches(value: Any, gold: Any, unordered: Collection[str] = (), any_order: bool = False) -> bool:
    """`any_order`: this value is a list in any order; `unordered`: the keys of such lists inside it."""
    if isinstance(gold, str):
        return isinstance(value, str) and normal(value) == normal(gold)
    if isinstance(gold, Mapping):
        return isinstance(value, Mapping) and arguments_match(value, listed(gold), unordered)
    if isinstance(gold, list):
        if not isinstance(value, list) or len(value) != len(gold):
            return False
        if any_order:
            return paired(gold, value, lambda one, other: value_matches(other, one, unordered)) == len(gold)
        return all(value_matches(other, one, unordered) for one, other in zip(gold, value, strict=True))
    if isinstance(gold, bool) or isinstance(value, bool) or gold is None:
        return value is gold
    if isinstance(gold, int) and isinstance(value, int):
        return value == gold
    return isinstance(value, (int, float)) and isclose(value, gold, rel_tol=1e-12)


def listed(gold: Mapping[str, Any]) -> dict[str, list[Any]]:
    """BFCL's inner objects sometimes have a bare value instead of a list of accepted ones."""
    return {key: inner if isinstance(inner, list) else [inner] for key, inner in gold.items()}


def first(accepted: Accepted) -> dict[str, Any]:
    """The expected arguments as plain values: the first accepted value of each, unless that is absence."""
    return {key: plain(allowed[0]) for key, allowed in accepted.items() if allowed and allowed[0] != ABSENT}


def plain(gold: Any) -> Any:
    if isinstance(gold, Mapping):
        return first(listed(gold))
    return [plain(inner) for inner in gold] if isinstance(gold, list) else gold


def paired(ones: Sequence[One], others: Sequence[Other], fit: Callable[[One, Other], bool]) -> int:
    """The size of the largest matching: each one is paired with at most one other that fits."""
    taken: dict[int, int] = {}

    def place(at: int, tried: set[int]) -> bool:
        for place_at, other in enumerate(others):
            if place_at not in tried and fit(ones[at], other):
                tried.add(place_at)
                if place_at not in taken or place(taken[place_at], tried):
                    taken[place_at] = at
                    return True
        return False

    return sum(place(at, set()) for at in range(len(ones)))
