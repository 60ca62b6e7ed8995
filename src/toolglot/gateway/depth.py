"""How deep a JSON text is nested, without reading it: what is walked later must not be bottomless."""

from __future__ import annotations

import re

_OTHERS = bytes(set(range(256)) - set(b"{}[]"))
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)


def too_deep(data: bytes, most: int) -> bool:
    """Whether it is deeper than `most`. Brackets cancel in pairs, a level a pass; strings are cut out where they confuse it."""
    if data.count(b"{") + data.count(b"[") <= most:
        return False
    return _deeper(data, most) and _deeper(_STRING.sub(b"", data), most)


def _deeper(data: bytes, most: int) -> bool:
    left = data.translate(None, _OTHERS)
    while most and len(left) > most:  # a level takes at least one
        shorter = left.replace(b"{}", b"").replace(b"[]", b"")
        if len(shorter) == len(left):
            break
        left, most = shorter, most - 1
    return len(left) > most
