"""Which registered tool is meant by a name that a model wrote.

A name may carry a known prefix or suffix, or slip in case and separators; more than that makes it another name.
Where two tools fit, none is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from toolglot.core.tools import Tool

_PREFIX = re.compile(r"(?:functions?|tools?|default_api|api|namespace|mcp)[.:/]|functions__|mcp__.+?__", re.IGNORECASE)
_SUFFIX = re.compile(r"\s*(?:<[|｜].*|\(\s*\)|:\d+)\Z", re.DOTALL)
_MCP = re.compile(r"mcp__.+?__")
_AROUND = " \t\r\n`\"'"
_JOINTS = "._-/: "
_FOLD = re.compile(rf"[{re.escape(_JOINTS)}]+")
_LONGEST = 512  # no tool has a longer name, and a whole text may come in a name's place


class Found(msgspec.Struct, frozen=True):
    tool: Tool
    fixed: bool = False  # the name was spelled differently


class ToolNames:
    """The names of one set of tools."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._own: dict[tuple[str | None, str], Tool] = {}
        self._exact: dict[str, dict[int, Tool]] = {}
        self._folded: dict[str, dict[int, Tool]] = {}
        self._short: dict[str, dict[int, Tool]] = {}  # without its namespace, or its MCP server
        for tool in tools:
            if (tool.namespace, tool.name) in self._own:
                continue
            self._own[tool.namespace, tool.name] = tool
            for word in _spellings(tool):
                self._exact.setdefault(word, {})[id(tool)] = tool
                self._folded.setdefault(_fold(word), {})[id(tool)] = tool
            for word in _short_forms(tool):
                self._short.setdefault(_fold(word), {})[id(tool)] = tool

    def find(self, name: str, namespace: str | None = None, *, exact: bool = False) -> Found | None:
        """The tool of this name. `exact`: as it is spelled, or not at all."""
        own = self._own.get((namespace, name))
        if own is not None:
            return Found(own)
        if len(name) > _LONGEST:
            return None
        tool = _only(self._exact.get(f"{namespace}__{name}" if namespace else name))
        if tool is not None or exact:
            return Found(tool) if tool else None
        tool = self._meant(f"{namespace}.{name}" if namespace else name)
        return Found(tool, fixed=True) if tool else None

    def _meant(self, word: str) -> Tool | None:
        forms = list(dict.fromkeys(_bared(word)))
        for form in forms:
            tool = _only(self._exact.get(form))
            if tool is not None:
                return tool
        for names in (self._folded, self._short):
            for form in forms:
                held = names.get(_fold(form))
                if held:
                    return _only(held)
        return None


def _spellings(tool: Tool) -> Iterator[str]:
    yield tool.full_name
    if tool.namespace:
        yield f"{tool.namespace}.{tool.name}"
    if tool.kind == "server":
        yield from _server_names(tool)


def _server_names(tool: Tool) -> list[str]:
    """A vendor's tool is known by its type, but called by the name in its definition."""
    names = [held.get("name") for held in tool.extra.values()]
    return [name for name in names if isinstance(name, str) and name]


def called_as(tool: Tool, said: str) -> str:
    """The name under which a call of this tool leaves."""
    if tool.kind != "server":
        return tool.name
    names = _server_names(tool) or [tool.name]
    return said if said in names else names[0]


def _short_forms(tool: Tool) -> Iterator[str]:
    if tool.namespace:
        yield tool.name
    if _MCP.match(tool.full_name):
        yield tool.full_name.removeprefix("mcp__")
        yield _MCP.sub("", tool.full_name, count=1)


def _bared(word: str) -> Iterator[str]:
    """The name itself, then without what may stand around it, one layer after another."""
    word = word.strip(_AROUND)
    yield word
    while (suffix := _SUFFIX.search(word)) is not None and suffix.start():
        word = word[: suffix.start()].rstrip(_AROUND)
        yield word
    while (prefix := _PREFIX.match(word)) is not None and prefix.end() < len(word):
        word = word[prefix.end() :]
        yield word


def _fold(word: str) -> str:
    return _FOLD.sub("", word).casefold() or word


def _only(held: dict[int, Tool] | None) -> Tool | None:
    return next(iter(held.values())) if held and len(held) == 1 else None
