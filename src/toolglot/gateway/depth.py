"""How deep a JSON text is nested, without reading it: what is walked later must not be bottomless."""

from __future__ import annotations

import re

_OTHERS = bytes(set(range(256)) - set(b"{}[]"))
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)


def too_deep(data: bytes, most: int) -> bool:
    """Whether it is deeper than `most`. Brackets cancel in pairs, a level a pass; strings are cut out where they confuse it."""
    if data.count(b"{") + data.count(b"[") <= most:
        return False
    return _levels(data, most) > most and _levels(_STRING.sub(b"", data), most) > most


def _levels(data: bytes, most: int) -> int:
    left = data.translate(None, _OTHERS)
    for level in range(most):
        shorter = left.replace(b"{}", b"").replace(b"[]", b"")
        if not shorter:
            return level + 1
        if len(shorter) == len(left):
            break
        left = shorter
    return most + 1
