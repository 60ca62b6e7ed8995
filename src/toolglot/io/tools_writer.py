"""Writing the tools of a request: the part that all wires share. Each wire supplies how it writes one tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from toolglot.core.interfaces import Notes, Quirks
from toolglot.core.tools import Choice, Tool, Toolset, cached_for_toolset, custom_as_function, describe_example
from toolglot.io.json_codec import encode

Body = dict[str, Any]
WriteTool = Callable[[Tool, Notes, Quirks], Body]
WriteTools = Callable[[tuple[Tool, ...], Notes, Quirks], list[Any]]


def write_each(tools: list[tuple[Tool, Body]]) -> list[Body]:
    return [body for _, body in tools]


def tools_writer(
    wire: str,
    write_tool: WriteTool,
    *,
    custom_tools: bool = False,
    deferred_tools: bool = False,
    examples: bool = False,
    arrange: Callable[[list[tuple[Tool, Body]]], list[Body]] = write_each,
) -> WriteTools:
    """A wire's `write_tools`. `custom_tools`, `deferred_tools`, `examples`: the wire has them.

    `arrange`: how the tools are grouped.

    A Toolset becomes JSON that is ready to be sent. It is encoded once, however often it is sent.
    """

    def write(tools: tuple[Tool, ...], notes: Notes, quirks: Quirks) -> list[Body]:
        written: list[tuple[Tool, Body]] = []
        for tool in tools:
            if tool.declared_in == wire:  # a block of the conversation declares it
                continue
            if tool.kind == "server":
                body = _server_tool(tool, wire, notes, quirks)
                if body is not None:
                    written.append((tool, body))
                continue
            if tool.kind == "custom" and not (custom_tools and quirks.custom_tools):
                tool = custom_as_function(tool)
                notes.append(f"tool {tool.name}: a custom tool is sent as a function with one string")
            if tool.deferred and not deferred_tools:
                notes.append(f"tool {tool.name}: {wire} has no deferred tools; sent with the others")
            written.append((tool, write_tool(tool if examples else describe_example(tool), notes, quirks)))
        return arrange(written)

    def make(tools: tuple[Tool, ...], key: tuple[object, Quirks]) -> tuple[Any, list[str]]:
        notes: list[str] = []
        written = write(tools, notes, key[1])
        return msgspec.Raw(encode(written)) if written else written, notes

    def write_tools(tools: tuple[Tool, ...], notes: Notes, quirks: Quirks) -> Any:
        if type(tools) is not Toolset:
            return write(tools, notes, quirks)
        written, noted = cached_for_toolset(tools, (write, quirks), make)
        notes.extend(noted)
        return written

    return write_tools


def _server_tool(tool: Tool, wire: str, notes: Notes, quirks: Quirks) -> Body | None:
    """The definition as it came, if it came on this wire and the server has the tool."""
    definition: Body | None = tool.extra.get(wire)
    if definition is not None and (not quirks.server_tools or tool.name.startswith(quirks.server_tools)):
        return definition
    notes.append(f"tool {tool.name}: a server tool of another vendor; left out")
    return None


def supported_strict(tool: Tool, notes: Notes, quirks: Quirks) -> bool | None:
    """The tool's `strict`; None where the server does not support it, with a note."""
    if tool.strict is None or quirks.strict:
        return tool.strict
    notes.append(f"tool {tool.name}: the server does not support strict; left out")
    return None


def choice_is_supported(choice: Choice, notes: Notes, quirks: Quirks) -> bool:
    """Whether the server has `tool_choice`; if not, a choice that differs from the default is noted."""
    if not quirks.tool_choice and choice != Choice():
        notes.append(f"tool_choice {choice.mode}: the server does not support it; left out")
    return quirks.tool_choice
