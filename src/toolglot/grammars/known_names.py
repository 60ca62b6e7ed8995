"""Whether a name that a model wrote is meant to be a registered tool's. The name itself is put right elsewhere."""

from __future__ import annotations

from typing import Any

from toolglot.core.tools import Tool
from toolglot.grammars.heard import Tools
from toolglot.schema.tool_names import ToolNames

_LAST: list[tuple[Tools, ToolNames]] = []  # a text asks for one set of tools, many times


def find_tool(name: str, tools: Tools) -> Tool | None:
    """The tool by its name, or by a name that only slips."""
    found = tools.get(name)
    if found is not None or not tools:
        return found
    meant = _names(tools).find(name)
    return None if meant is None else meant.tool


def _names(tools: Tools) -> ToolNames:
    if not _LAST or _LAST[0][0] is not tools:
        _LAST[:] = [(tools, ToolNames(tools.values()))]
    return _LAST[0][1]


def parameters(tool: Tool) -> dict[str, Any]:
    """A tool's parameters, in the order of its schema."""
    held = (tool.schema or {}).get("properties")
    return held if isinstance(held, dict) else {}


def required(tool: Tool) -> list[str]:
    held = (tool.schema or {}).get("required")
    return [name for name in held if isinstance(name, str)] if isinstance(held, list) else []
