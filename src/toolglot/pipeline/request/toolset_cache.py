"""Cache of parsed tools by their JSON bytes: an agent sends the same tools with every turn.

Known tools are cut out of the body before it is parsed, so that they are neither parsed nor hashed again.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any

from toolglot.core.tools import Tool, Toolset, cached_for_toolset
from toolglot.io.json_codec import decode_in_parts
from toolglot.pipeline.request.route import wire_format

_MAX_TOOLSETS = 64
_MAX_BYTES = 128 * 1024 * 1024  # of memory in total
_HELD_PER_BYTE = 64  # bytes of memory per byte of JSON, with all that is derived and compiled: measured 40 to 85
_MAX_ENTRY = 512 * 1024  # bytes of JSON; larger toolsets are not cached

_MANY = 3000  # objects and lists
_LONG = 256 * 1024  # characters
_ARE_LARGE = "are large"

_KEY = b'"tools":'
_HEAD = 64  # bytes that distinguish most toolsets
MARK = b"0"  # replaces the tools that are cut out of a body


class ToolsetCache:
    """An LRU cache by wire and bytes."""

    def __init__(self, most: int = _MAX_TOOLSETS, most_bytes: int = _MAX_BYTES) -> None:
        self._max_toolsets, self._max_bytes = most, most_bytes
        self._entries: OrderedDict[tuple[str, bytes], Toolset] = OrderedDict()  # least recently used first
        self._by_head: dict[tuple[str, bytes], list[bytes]] = {}
        self._bytes = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def cut_out(self, wire: str, body: bytes) -> tuple[bytes, Toolset] | None:
        """The body with MARK in place of known tools, and the tools. The `"tools"` key may be nested."""
        at = body.find(_KEY) + len(_KEY)
        if at < len(_KEY):
            return None
        if body[at : at + 1] == b" ":
            at += 1
        for raw in self._by_head.get((wire, body[at : at + _HEAD]), ()):
            if body.startswith(raw, at):
                tools = self._get((wire, raw))
                return None if tools is None else (body[:at] + MARK + body[at + len(raw) :], tools)
        return None

    def read(self, wire: str, raw: bytes) -> Toolset:
        """The tools of a JSON text; the same object for the same text."""
        key = (wire, raw)
        tools = self._get(key)
        if tools is None:
            tools = Toolset(wire_format(wire).wire.read_tools(decode_in_parts(raw)))
            tools.cache[_ARE_LARGE] = raw.count(b"{") + raw.count(b"[") > _MANY or len(raw) > _LONG
            if len(raw) <= _MAX_ENTRY:
                self._put(key, tools)
        return tools

    def _get(self, key: tuple[str, bytes]) -> Toolset | None:
        with self._lock:
            tools = self._entries.get(key)
            if tools is not None:
                self._entries.move_to_end(key)
            return tools

    def _put(self, key: tuple[str, bytes], tools: Toolset) -> None:
        with self._lock:
            if key in self._entries:
                return
            self._entries[key] = tools
            self._by_head[_head(key)] = [*self._by_head.get(_head(key), ()), key[1]]
            self._bytes += _HELD_PER_BYTE * len(key[1])
            while len(self._entries) > self._max_toolsets or self._bytes > self._max_bytes:
                self._evict(self._entries.popitem(last=False)[0])

    def _evict(self, key: tuple[str, bytes]) -> None:
        self._bytes -= _HELD_PER_BYTE * len(key[1])
        left = [raw for raw in self._by_head.pop(_head(key)) if raw != key[1]]
        if left:
            self._by_head[_head(key)] = left


def are_large(tools: tuple[Tool, ...]) -> bool:
    """Whether fitting or compiling their schemas, or searching them, takes long, if it was not done before."""
    return bool(tools) and cached_for_toolset(tools, _ARE_LARGE, _count)


def _count(tools: tuple[Tool, ...], _: str) -> bool:
    """Of tools that were not read from JSON: what is shared in them is no reason to go on without end."""
    left: list[Any] = [tool.schema for tool in tools]
    count, length = 0, sum(len(tool.description or "") for tool in tools)
    while left and count <= _MANY and length <= _LONG:
        node = left.pop()
        if isinstance(node, str):
            length += len(node)
        elif isinstance(node, (dict, list)):
            count += 1
            left.extend(node.values() if isinstance(node, dict) else node)
    return count > _MANY or length > _LONG


def _head(key: tuple[str, bytes]) -> tuple[str, bytes]:
    return key[0], key[1][:_HEAD]
