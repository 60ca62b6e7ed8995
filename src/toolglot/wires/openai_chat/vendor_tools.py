"""The one server tool of this API: `web_search_options`, which is a field of the request instead of one of its tools."""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.core.fold import merge_extra
from toolglot.core.request import Request
from toolglot.core.tools import Tool, Toolset, cached_for_toolset
from toolglot.core.vendor_tools import WEB_SEARCH, VendorTools
from toolglot.io.request_validation import Body, optional, require_object
from toolglot.wires.openai_chat.shapes import WIRE

KEY = "web_search_options"


def read_web_search(value: Any) -> tuple[Tool, ...]:
    options = optional(require_object, value, KEY)
    return () if options is None else (Tool(KEY, kind="server", extra={WIRE: options}),)


def with_options(request: Request) -> Request:
    """The search as a field again, where it came on this wire."""
    options = cached_for_toolset(request.tools, (WIRE, KEY), _options) if request.tools else None
    if options is None:
        return request
    is_cached = isinstance(request.tools, Toolset)
    tools = cached_for_toolset(request.tools, KEY, _cached_others) if is_cached else _others(request.tools)
    return msgspec.structs.replace(request, tools=tools, extra=merge_extra(request.extra, {WIRE: {KEY: options}}))


def _options(tools: tuple[Tool, ...], _: tuple[str, str]) -> Body | None:
    return next((tool.extra.get(WIRE) for tool in tools if tool.name == KEY and tool.kind == "server"), None)


def _others(tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
    return tuple(tool for tool in tools if not (tool.name == KEY and tool.kind == "server"))


def _cached_others(tools: tuple[Tool, ...], _: str) -> Toolset:
    return Toolset(_others(tools))


def _kind(tool: Tool) -> str | None:
    return WEB_SEARCH if tool.name == KEY else None


VENDOR_TOOLS = VendorTools(
    _kind,
    as_function=lambda tool: None,
    write=lambda done: [],
    read=lambda block: (),
    loaded=lambda block: (),
)
