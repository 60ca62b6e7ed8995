"""Tools that a vendor's API defines by itself, and how a wire reads and writes them for models of other vendors.

Some run beside the model (tool search, web search, code execution): `ServerCall`. Others run at the client (shell, text
editor): to other vendors they are plain functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from toolglot.core.messages import ToolCall, ToolResult
from toolglot.core.tools import Tool

Body = dict[str, Any]

TOOL_SEARCH, WEB_SEARCH, WEB_FETCH, CODE_EXECUTION = "tool_search", "web_search", "web_fetch", "code_execution"
SERVER_KINDS = (TOOL_SEARCH, WEB_SEARCH, WEB_FETCH, CODE_EXECUTION)
MAX_LOADED = 16  # tools by one search


class ServerCall(msgspec.Struct, frozen=True):
    """A call of a server tool and its result. The call's name is the tool's kind."""

    call: ToolCall
    text: str = ""  # what the model reads
    failed: bool = False
    loaded: tuple[Tool, ...] = ()  # of a tool search


def _nothing(calls: tuple[ServerCall, ...]) -> Body:
    return {}


def _no_summary(block: Body) -> None:
    return None


class VendorTools(msgspec.Struct, frozen=True):
    """The functions of one wire. A block is an item or a part that only this wire has."""

    kind: Callable[[Tool], str | None]  # of a server tool: one of SERVER_KINDS
    as_function: Callable[[Tool], Tool | None]  # a tool that the client runs
    write: Callable[[ServerCall], list[Body]]  # as blocks of a reply; none, if the API shows nothing
    read: Callable[[Body], tuple[ToolCall | ToolResult, ...]]  # a block; nothing, if it is neither call nor result
    loaded: Callable[[Body], tuple[str, ...]]  # the full names of the tools that a block loads
    tool_search: Body | None = None  # the API's own tool search, as a tool
    reply_fields: Callable[[tuple[ServerCall, ...]], Body] = _nothing  # what the end of the reply reports of all calls
    usage_fields: Callable[[tuple[ServerCall, ...]], Body] = _nothing
    summary: Callable[[Body], str | None] = _no_summary  # the text of a block that stands for all messages before it


def loaded_text(names: tuple[str, ...]) -> str:
    """The result of a tool search as the model reads it: the same now and in later turns."""
    if not names:
        return "No tool matches. Search again with other words, or go on without."
    return f"Loaded: {', '.join(names)}. You can call them now."
