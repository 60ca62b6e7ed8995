"""Limits on the structure of a JSON body, before it is parsed: its depth, and the number of its values.

Later code recurses over a body, and parsed values take many times the memory of their bytes. The work is a few passes over the
bytes, whatever they are.
"""

from __future__ import annotations

from itertools import accumulate

from toolglot.errors import CallerError

MAX_VALUES = 1_000_000
_QUICK_LEVELS = 16  # most bodies have fewer
_NOT_STRUCTURE = bytes(set(range(256)) - set(b'{}[],"'))
_STEPS = {ord("{"): 1, ord("["): 1, ord("}"): -1, ord("]"): -1}


def check_structure(data: bytes, max_depth: int) -> None:
    """Raises if the body is nested too deeply or has too many values."""
    openings = data.count(b"{") + data.count(b"[")
    if openings <= max_depth and len(data) <= MAX_VALUES:
        return
    marks = _structure(data)
    if marks.count(b",") + openings > MAX_VALUES and marks.count(b",") + marks.count(b"{") + marks.count(b"[") > MAX_VALUES:
        raise _too_many()
    if _depth_exceeds(marks.replace(b",", b""), max_depth):
        raise CallerError(f"the body is nested deeper than {max_depth} levels")


def _structure(data: bytes) -> bytes:
    """The brackets and commas outside of strings."""
    if b"\\" in data:  # an escaped quote does not end a string
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    if data.count(b'"') > 2 * MAX_VALUES:
        raise _too_many()
    marks = data.translate(None, _NOT_STRUCTURE).replace(b'""', b"")  # each removes two quotes, so the others keep their side
    return b"".join(marks.split(b'"')[::2]) if b'"' in marks else marks


def _depth_exceeds(brackets: bytes, max_depth: int) -> bool:
    left = brackets
    for _ in range(min(_QUICK_LEVELS, max_depth) // 2):
        if not left:
            return False
        left = left.replace(b"{}", b"").replace(b"[]", b"")  # up to two levels
    return bool(left) and max(accumulate(map(_STEPS.__getitem__, brackets))) > max_depth


def _too_many() -> CallerError:
    return CallerError(f"the body has more than {MAX_VALUES} values")
