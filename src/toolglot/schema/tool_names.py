"""Finds the registered tool for a name that a model wrote.

A name may have a documented prefix or suffix, or differ in case and separators; anything else is another name.
If two tools match, there is no match.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

import msgspec

from toolglot.core.tools import Tool

PREFIXES = ("functions.", "default_api.")  # that dialects document; any other prefix is another tool's namespace
_SUFFIX = re.compile(r"\s*(?:<[|｜].*|\(\s*\)|:\d+)\Z", re.DOTALL)
_MCP = re.compile(r"mcp__.+?__")
_AROUND = " \t\r\n`\"'"
_JOINTS = "._-/: "
_FOLD = re.compile(rf"[{re.escape(_JOINTS)}]+")
_LONGEST = 512  # longer text is not a tool's name; models sometimes write a whole text there


class Match(msgspec.Struct, frozen=True):
    tool: Tool
    fixed: bool = False  # the name was spelled differently


class ToolNames:
    """Looks up names in one set of tools."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._registered: dict[tuple[str | None, str], Tool] = {}
        for tool in tools:
            self._registered.setdefault((tool.namespace, tool.name), tool)

    @cached_property
    def _spelled(self) -> _Spelled:
        """Made when a name is not registered: few are not."""
        return _Spelled(self._registered.values())

    def find(self, name: str, namespace: str | None = None, *, exact: bool = False) -> Match | None:
        """The tool of this name. `exact`: only with the same spelling."""
        registered = self._registered.get((namespace, name))
        if registered is not None:
            return Match(registered)
        if len(name) > _LONGEST:
            return None
        tool = _only(self._spelled.exact.get(f"{namespace}__{name}" if namespace else name))
        if tool is not None or exact:
            return Match(tool) if tool else None
        tool = self._lenient_match(f"{namespace}.{name}" if namespace else name)
        return Match(tool, fixed=True) if tool else None

    def _lenient_match(self, word: str) -> Tool | None:
        forms = list(dict.fromkeys(_stripped_forms(word)))
        for form in forms:
            tool = _only(self._spelled.exact.get(form))
            if tool is not None:
                return tool
        for names in (self._spelled.folded, self._spelled.short):
            for form in forms:
                tools = names.get(_fold(form))
                if tools:
                    return _only(tools)
        return None


class _Spelled:
    """Tools by other spellings of their names."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self.exact: dict[str, dict[int, Tool]] = {}
        self.folded: dict[str, dict[int, Tool]] = {}
        self.short: dict[str, dict[int, Tool]] = {}  # without its namespace, or its MCP server
        for tool in tools:
            for word in _spellings(tool):
                self.exact.setdefault(word, {})[id(tool)] = tool
                self.folded.setdefault(_fold(word), {})[id(tool)] = tool
            for word in _short_forms(tool):
                self.short.setdefault(_fold(word), {})[id(tool)] = tool


def _spellings(tool: Tool) -> Iterator[str]:
    yield tool.full_name
    if tool.namespace:
        yield f"{tool.namespace}.{tool.name}"
    if tool.kind == "server":
        yield from _server_names(tool)


def _server_names(tool: Tool) -> list[str]:
    """A vendor's tool is registered by its type, but called by the name in its definition."""
    names = [definition.get("name") for definition in tool.extra.values()]
    return [*(name for name in names if isinstance(name, str) and name), *tool.members]


def called_as(tool: Tool, written: str) -> str:
    """The name that a call of this tool is emitted with."""
    if tool.kind != "server":
        return tool.name
    names = _server_names(tool) or [tool.name]
    return written if written in names else names[0]


def _short_forms(tool: Tool) -> Iterator[str]:
    if tool.namespace:
        yield tool.name
    if _MCP.match(tool.full_name):
        yield tool.full_name.removeprefix("mcp__")
        yield _MCP.sub("", tool.full_name, count=1)


def _stripped_forms(word: str) -> Iterator[str]:
    """The name, then without its suffixes and prefixes, one at a time."""
    word = word.strip(_AROUND).replace("\\_", "_")  # markdown escapes underscores
    yield word
    while (suffix := _SUFFIX.search(word)) is not None and suffix.start():
        word = word[: suffix.start()].rstrip(_AROUND)
        yield word
    while prefix := next((one for one in PREFIXES if word.startswith(one) and word != one), ""):
        word = word.removeprefix(prefix)
        yield word


def _fold(word: str) -> str:
    return _FOLD.sub("", word).casefold() or word


def _only(tools: dict[int, Tool] | None) -> Tool | None:
    return next(iter(tools.values())) if tools and len(tools) == 1 else None
