"""Tools that were read before, known again by their bytes: an agent sends the same ones with every turn.

They are found where they stand in a body and cut out of it, so that neither a parser nor a hash goes through them again.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from toolglot.core.tools import Toolset
from toolglot.pipeline.route import speech
from toolglot.text.json_text import decode

_MOST = 64
_MOST_BYTES = 4 * 1024 * 1024  # of all; what is made of tools takes some times their bytes
_LARGEST = 512 * 1024  # what is larger is read anew each time

_KEY = b'"tools":'
_HEAD = 64  # bytes that tell most toolsets apart
MARK = b"0"  # what stands in a body for tools that were cut out of it


class KnownTools:
    """Those used last, by the wire that they came on."""

    def __init__(self, most: int = _MOST, most_bytes: int = _MOST_BYTES) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._kept: OrderedDict[tuple[str, bytes], Toolset] = OrderedDict()  # the last used last
        self._by_head: dict[tuple[str, bytes], list[bytes]] = {}
        self._bytes = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def cut_out(self, wire: str, body: bytes) -> tuple[bytes, Toolset] | None:
        """The body with MARK in their place, and known tools that stand in it as `"tools"`; it is not said at which depth."""
        at = body.find(_KEY) + len(_KEY)
        if at < len(_KEY):
            return None
        if body[at : at + 1] == b" ":
            at += 1
        for raw in self._by_head.get((wire, body[at : at + _HEAD]), ()):
            if body.startswith(raw, at):
                tools = self._again((wire, raw))
                return None if tools is None else (body[:at] + MARK + body[at + len(raw) :], tools)
        return None

    def read(self, wire: str, raw: bytes) -> Toolset:
        """The tools of a JSON text; the very same ones for the same text."""
        key = (wire, raw)
        tools = self._again(key)
        if tools is None:
            tools = Toolset(speech(wire).wire.read_tools(decode(raw)))
            if len(raw) <= _LARGEST:
                self._keep(key, tools)
        return tools

    def _again(self, key: tuple[str, bytes]) -> Toolset | None:
        with self._lock:
            tools = self._kept.get(key)
            if tools is not None:
                self._kept.move_to_end(key)
            return tools

    def _keep(self, key: tuple[str, bytes], tools: Toolset) -> None:
        with self._lock:
            if key in self._kept:
                return
            self._kept[key] = tools
            self._by_head[_head(key)] = [*self._by_head.get(_head(key), ()), key[1]]
            self._bytes += len(key[1])
            while len(self._kept) > self._most or self._bytes > self._most_bytes:
                self._forget(self._kept.popitem(last=False)[0])

    def _forget(self, key: tuple[str, bytes]) -> None:
        self._bytes -= len(key[1])
        left = [raw for raw in self._by_head.pop(_head(key)) if raw != key[1]]
        if left:
            self._by_head[_head(key)] = left


def _head(key: tuple[str, bytes]) -> tuple[str, bytes]:
    return key[0], key[1][:_HEAD]
