"""`*` in routes: what it matched in `model` takes its place in `to`, and back.

`model` may also contain `?` and `[...]`; only a `*` is carried over. If `model` has none, `*` in `to` is the whole name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_SIGNS = re.compile(r"(\*)|(\?)|(\[[^\]]+\])")
_GLOB = frozenset("*?[")


def has_glob(pattern: str) -> bool:
    return not _GLOB.isdisjoint(pattern)


@lru_cache(512)
def _expression(pattern: str) -> re.Pattern[str]:
    parts, end = [], 0
    for sign in _SIGNS.finditer(pattern):
        parts.append(re.escape(pattern[end : sign.start()]))
        parts.append("(.*)" if sign[1] else "." if sign[2] else _characters(sign[3]))
        end = sign.end()
    return re.compile("".join(parts) + re.escape(pattern[end:]), re.DOTALL)


def _characters(sign: str) -> str:
    """A set like [a-c] or [!x]."""
    inner = sign[1:-1].replace("\\", r"\\")
    return f"[^{inner[1:]}]" if inner.startswith("!") and len(inner) > 1 else f"[{inner.replace('^', chr(92) + '^')}]"


def captures(pattern: str, name: str) -> tuple[str, ...] | None:
    """What each `*` of the pattern matched, or the whole name if there is no `*`; None: the name does not match."""
    found = _expression(pattern).fullmatch(name)
    return None if found is None else found.groups() or (name,)


def fill(pattern: str, matched: Iterable[str]) -> str:
    """The pattern with each `*` replaced."""
    parts = iter(matched)
    return re.sub(r"\*", lambda _: next(parts), pattern)


def problem(model: str, to: str) -> str:
    """Why `to` can't be filled; empty if it can."""
    has, needs = max(1, model.count("*")), to.count("*")
    return f"has {needs} *, but model has {model.count('*')}" if needs > has else ""


def client_names(model: str, to: str, names: Iterable[str]) -> Iterable[str]:
    """The names under which clients reach these models of the upstream. Empty where the way back is not certain."""
    if model.count("*") != to.count("*") or "?" in model or "[" in model:
        return
    for name in names:
        matched = captures(to, name)
        if matched is not None:
            yield fill(model, matched)
