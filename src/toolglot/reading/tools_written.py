"""Writing a toolset once for each wire that it goes to, and the tools that its vendor runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import msgspec

from toolglot.core.interfaces import Notes, Quirks
from toolglot.core.tools import Tool, Toolset, made_once
from toolglot.text.json_text import encode

WriteTools = Callable[[tuple[Tool, ...], Notes, Quirks], list[Any]]


def written_once(write: WriteTools) -> WriteTools:
    """For a wire's `write_tools`: a Toolset comes out as JSON text that is ready to be sent, and the same each time."""

    def make(tools: tuple[Tool, ...], key: tuple[object, Quirks]) -> tuple[Any, list[str]]:
        notes: list[str] = []
        written = write(tools, notes, key[1])
        return msgspec.Raw(encode(written)) if written else written, notes

    @wraps(write)
    def write_tools(tools: tuple[Tool, ...], notes: Notes, quirks: Quirks) -> Any:
        if type(tools) is not Toolset:
            return write(tools, notes, quirks)
        written, said = made_once(tools, (write, quirks), make)
        notes.extend(said)
        return written

    return write_tools


def server_tool(tool: Tool, wire: str, notes: Notes, quirks: Quirks) -> dict[str, Any] | None:
    """As it came, if it came over this wire and the server has it."""
    own: dict[str, Any] | None = tool.extra.get(wire)
    if own is not None and (not quirks.server_tools or tool.name.startswith(quirks.server_tools)):
        return own
    notes.append(f"tool {tool.name}: a server tool of another vendor; left out")
    return None
