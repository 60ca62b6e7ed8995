"""Finds the registered tool for a name that a model wrote. The name itself is corrected elsewhere."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from toolglot.core.tools import Tool
from toolglot.grammars.parsed_call import Tools
from toolglot.schema.tool_names import ToolNames

_LAST: list[tuple[Tools, ToolNames]] = []  # one text is parsed with one set of tools, many times
_LAST_SPELLINGS: list[tuple[Tools, dict[str, str]]] = []
_FORBIDDEN = re.compile(r"[^A-Za-z0-9_-]+")  # signs in names that most APIs don't allow


def find_tool(name: str, tools: Tools) -> Tool | None:
    """The tool with this name, or with a name that is close enough."""
    found = tools.get(name)
    if found is not None or not tools:
        return found
    match = _names(tools).find(name)
    return None if match is None else match.tool


def _names(tools: Tools) -> ToolNames:
    if not _LAST or _LAST[0][0] is not tools:
        _LAST[:] = [(tools, ToolNames(tools.values()))]
    return _LAST[0][1]


def spellings(tools: Tools) -> dict[str, str]:
    """The registered names by how they are written: as they are, with markdown's escapes, with `_` for forbidden signs."""
    if not _LAST_SPELLINGS or _LAST_SPELLINGS[0][0] is not tools:
        found = {name.replace("_", "\\_"): name for name in tools if "_" in name}
        legal = [(written, name) for name in tools if (written := _FORBIDDEN.sub("_", name)) != name]
        count = Counter(written for written, _ in legal)
        found |= {written: name for written, name in legal if count[written] == 1}
        _LAST_SPELLINGS[:] = [(tools, found | {name: name for name in tools if name})]
    return _LAST_SPELLINGS[0][1]


def parameters(tool: Tool) -> dict[str, Any]:
    """A tool's parameters, in the order of its schema."""
    value = (tool.schema or {}).get("properties")
    return value if isinstance(value, dict) else {}


def required(tool: Tool) -> list[str]:
    value = (tool.schema or {}).get("required")
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
