"""Limits on the structure of a JSON body, before it is parsed: its depth, and the number of its values.

Later code recurses over a body, and parsed values take many times the memory of their bytes. The work is a few passes over the
bytes, slice by slice.
"""

from __future__ import annotations

import re
from itertools import accumulate

from toolglot.errors import CallerError

MAX_VALUES = 1_000_000
_SLICE = 256 * 1024  # bytes; other threads run between two slices
_QUICK_ROUNDS = 4
_NOT_STRUCTURE = bytes(set(range(256)) - set(b'{}[],"'))
_BACKSLASHES = re.compile(rb"\\+")
_STEPS = {ord("{"): 1, ord("["): 1, ord("}"): -1, ord("]"): -1}


def check_structure(data: bytes, max_depth: int) -> None:
    """Raises if the body is nested too deeply or has too many values."""
    openings = data.count(b"{") + data.count(b"[")
    if openings <= max_depth and len(data) <= MAX_VALUES:
        return
    values = depth = start = 0
    in_string = False
    while start < len(data):
        end = _end_of_slice(data, start)
        marks, in_string = _structure(data[start:end], in_string)
        start = end
        values += marks.count(b",") + marks.count(b"{") + marks.count(b"[")
        if values > MAX_VALUES:
            raise CallerError(f"the body has more than {MAX_VALUES} values")
        depth = _depth_after(marks.replace(b",", b""), depth, max_depth)


def _end_of_slice(data: bytes, start: int) -> int:
    """Behind a character that is not a backslash, so that no escape is cut."""
    backslashes = _BACKSLASHES.match(data, start + _SLICE - 1)
    return start + _SLICE if backslashes is None else backslashes.end() + 1


def _structure(data: bytes, in_string: bool) -> tuple[bytes, bool]:
    """The brackets and commas outside of strings, and whether the slice ends in a string."""
    if b"\\" in data:  # an escaped quote does not end a string
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    marks = data.translate(None, _NOT_STRUCTURE).replace(b'""', b"")  # each removes two quotes, so the others keep their side
    parts = marks.split(b'"')
    return b"".join(parts[in_string::2]), (in_string + len(parts)) % 2 == 0


def _depth_after(brackets: bytes, depth: int, max_depth: int) -> int:
    """The depth behind the brackets."""
    left, most = brackets, depth
    for _ in range(_QUICK_ROUNDS):
        shorter = left.replace(b"{}", b"").replace(b"[]", b"")  # up to two levels
        if len(shorter) == len(left):
            break
        left = shorter
    levels = list(accumulate(map(_STEPS.__getitem__, left), initial=depth))
    most = max(levels)
    if most + 2 * _QUICK_ROUNDS > max_depth:
        most = max(accumulate(map(_STEPS.__getitem__, brackets), initial=depth))
    if most > max_depth:
        raise CallerError(f"the body is nested deeper than {max_depth} levels")
    return levels[-1]
