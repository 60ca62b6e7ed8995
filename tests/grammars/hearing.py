"""A plain reading of what the pipeline does with one dialect: find openers, feed regions, read them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from toolglot.core.tools import Tool
from toolglot.dialects import find_dialect
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.heard import Heard, Tools
from toolglot.grammars.known_names import find_tool

FIXTURES = Path(__file__).parents[2] / "fixtures" / "dialects"
TOOLS: Tools = {one["name"]: Tool(**one) for one in json.loads((FIXTURES / "tools.json").read_text(encoding="utf-8"))}
CUTTINGS = (1, 2, 3, 7, 0)


def cases(*names: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        (name, case)
        for name in names
        for case in tomllib.loads((FIXTURES / f"{name}.toml").read_text(encoding="utf-8"))["case"]
    ]


def dialect_of(name: str) -> Dialect:
    found = find_dialect(name)
    assert found is not None
    return found


def openings(dialect: Dialect, text: str, start: int, tools: Tools) -> list[tuple[int, str, Any]]:
    """Where a region could open from `start` on: earliest first, the longest opener first."""
    found = []
    for grammar in dialect.grammars:
        made: Any = grammar.for_tools(tools) if hasattr(grammar, "for_tools") else grammar
        for opener in made.openers:
            at = text.find(opener, start)
            while at >= 0 and not may_stand(dialect, made, text, at):
                at = text.find(opener, at + 1)
            if at >= 0:
                found.append((at, opener, made))
    return sorted(found, key=lambda one: (one[0], -len(one[1])))


def may_stand(dialect: Dialect, grammar: Any, text: str, at: int) -> bool:
    if getattr(grammar, "at_line_start", False):
        return not text[:at].rpartition("\n")[2].strip(" \t")
    word = dialect.weak and (text[at].isalnum() or text[at] == "_")
    return not (word and at and (text[at - 1].isalnum() or text[at - 1] in "_."))


def hear(name: str, text: str, size: int = 0, tools: Tools = TOOLS) -> tuple[list[Heard], str, list[str]]:
    """Calls, the text around them, and problems; `size`: how the text is cut."""
    dialect, at, said = dialect_of(name), 0, ""
    heard: list[Heard] = []
    problems: list[str] = []
    while found := openings(dialect, text, at, tools):
        start, opener, _ = found[0]
        said, at = said + text[at:start], start
        for grammar in [held for one, marker, held in found if (one, marker) == (start, opener)]:
            region = grammar.open(opener)
            end = end_of(region, text[start + len(opener) :], size)
            whole = text[start:] if end < 0 else text[start : start + len(opener) + end]
            parsed = region.parse(whole, tools, complete=end >= 0)
            if parsed.calls or parsed.problem:
                heard += parsed.calls
                problems += [parsed.problem] if parsed.problem else []
                said, at = said + (parsed.rest if parsed.calls else whole), start + len(whole)
                break
        else:
            said, at = said + text[at], at + 1
    return heard, said + text[at:], problems


def end_of(region: Any, text: str, size: int) -> int:
    for at in range(0, len(text), size or len(text) or 1):
        found: int = region.feed(text[at : at + size] if size else text)
        if found >= 0:
            return at + found
    return -1


def meant(calls: list[Heard], tools: Tools = TOOLS) -> list[tuple[str, Any]]:
    """Names as the guard will put them right, arguments decoded."""
    return [((find_tool(call.name, tools) or Tool(call.name)).full_name, json.loads(call.arguments)) for call in calls]
