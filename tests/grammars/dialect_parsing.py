"""A simple reference for what the pipeline does with one dialect: find openers, feed regions, parse them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from tests.grammars.tool_openers import bound, openers_of
from toolglot.core.tools import Tool
from toolglot.dialects import find_dialect
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.known_names import find_tool
from toolglot.grammars.parsed_call import ParsedCall, Tools

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
    """Where a region may open at or after `start`: earliest first, the longest opener first."""
    found = []
    for grammar in dialect.grammars:
        known = bound(grammar, tools)
        for opener in openers_of(known, tools):
            at = text.find(opener, start)
            while at >= 0 and not is_allowed(dialect, known, opener, text, at):
                at = text.find(opener, at + 1)
            if at >= 0:
                found.append((at, opener, known))
    return sorted(found, key=lambda one: (one[0], -len(one[1])))


def is_allowed(dialect: Dialect, grammar: Any, opener: str, text: str, at: int) -> bool:
    named = opener not in grammar.openers
    if any(form.at_line_start for form in grammar.named_forms) if named else getattr(grammar, "at_line_start", False):
        return not text[:at].rpartition("\n")[2].strip(" \t")
    word = dialect.weak and (text[at].isalnum() or text[at] == "_")
    return not (word and at and (text[at - 1].isalnum() or text[at - 1] in "_."))


def parse_text(name: str, text: str, size: int = 0, tools: Tools = TOOLS) -> tuple[list[ParsedCall], str, list[str]]:
    """Calls, the text around them, and problems. `size`: of the pieces; 0: one piece."""
    dialect, at, content = dialect_of(name), 0, ""
    found_calls: list[ParsedCall] = []
    problems: list[str] = []
    while found := openings(dialect, text, at, tools):
        start, opener, _ = found[0]
        content, at = content + text[at:start], start
        for grammar in [candidate for one, marker, candidate in found if (one, marker) == (start, opener)]:
            region = grammar.open(opener)
            end = end_of(region, text[start + len(opener) :], size)
            whole = text[start:] if end < 0 else text[start : start + len(opener) + end]
            parsed = region.parse(whole, tools, complete=end >= 0)
            if parsed.calls or parsed.problem:
                found_calls += parsed.calls
                problems += [parsed.problem] if parsed.problem else []
                content, at = content + (parsed.rest if parsed.calls else whole), start + len(whole)
                break
        else:
            content, at = content + text[at], at + 1
    return found_calls, content + text[at:], problems


def end_of(region: Any, text: str, size: int) -> int:
    for at in range(0, len(text), size or len(text) or 1):
        found: int = region.feed(text[at : at + size] if size else text)
        if found >= 0:
            return at + found
    return -1


def decoded(calls: list[ParsedCall], tools: Tools = TOOLS) -> list[tuple[str, Any]]:
    """Names as the call validator corrects them, arguments decoded."""
    return [((find_tool(call.name, tools) or Tool(call.name)).full_name, json.loads(call.arguments)) for call in calls]
