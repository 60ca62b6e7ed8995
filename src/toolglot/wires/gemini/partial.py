"""Partial arguments, as Vertex streams them on request: each has a JSON path."""

from __future__ import annotations

import re
from typing import Any

from toolglot.wires.gemini.shapes import camel

_STEP = re.compile(r"""\.?([^.\[\]'"]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""")
_ESCAPED = re.compile(r"\\(.)")
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")


class PartialArguments:
    """Pieces are collected and joined once: the work is linear in the length of a string."""

    __slots__ = ("_base", "_pieces", "pending")

    def __init__(self) -> None:
        self._base: dict[str, Any] = {}
        self._pieces: dict[str, list[Any]] = {}
        self.pending = False  # the last piece was not the end of its value

    def take(self, function: dict[str, Any]) -> None:
        whole = function.get("args")
        if isinstance(whole, dict):
            self._base.update(whole)
        pieces = function.get("partialArgs")
        for piece in pieces if isinstance(pieces, list) else ():
            if isinstance(piece, dict):
                self._piece(camel(piece))

    def _piece(self, piece: dict[str, Any]) -> None:
        path = piece.get("jsonPath")
        if not isinstance(path, str):
            return
        self.pending = piece.get("willContinue") is True
        for key in _VALUES:
            if key in piece and (piece[key] is not None or key == "nullValue"):
                self._pieces.setdefault(path, []).append(None if key == "nullValue" else piece[key])
                return

    def whole(self) -> dict[str, Any]:
        found = dict(self._base)
        for path, pieces in self._pieces.items():
            value = "".join(pieces) if all(isinstance(piece, str) for piece in pieces) else pieces[-1]
            _put(found, _steps(path), value)
        return found


def _steps(path: str) -> list[str | int]:
    steps: list[str | int] = []
    for name, index, single, double in _STEP.findall(path.removeprefix("$")):
        if index:
            steps.append(int(index) if len(index) < 10 else index)
        else:
            steps.append(name or _ESCAPED.sub(r"\1", single or double))
    return steps


def _put(root: dict[str, Any], steps: list[str | int], value: Any) -> None:
    """Sets the value, making what is missing on the way. An index beyond a list's end means its end."""
    here: Any = root
    for at, step in enumerate(steps, 1):
        then = steps[at] if at < len(steps) else None
        fresh: Any = value if then is None else [] if isinstance(then, int) else {}
        if isinstance(here, list):
            here = _into_list(here, step, fresh, last=then is None)
        else:
            key = str(step)
            if then is None or not isinstance(here.get(key), type(fresh)):
                here[key] = fresh
            here = here[key]


def _into_list(here: list[Any], step: str | int, fresh: Any, *, last: bool) -> Any:
    at = step if isinstance(step, int) else len(here)
    if at >= len(here):
        here.append(fresh)
        return fresh
    if last or not isinstance(here[at], type(fresh)):
        here[at] = fresh
    return here[at]
