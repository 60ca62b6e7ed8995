"""Reads BFCL's files: the questions, and the expected answers in `possible_answer/`. Irrelevance files have no answers.

BFCL (https://gorilla.cs.berkeley.edu/leaderboard.html) is the Berkeley Function Calling Leaderboard. Single-turn
categories in Python and JSON are supported; multi-turn ones and other programming languages are not.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from toolglot.core.tools import Tool
from toolglot.errors import CallerError
from toolglot.evaluation.questions import ExpectedCall, Question, at_line, readable, rows
from toolglot.io.request_validation import Body, read_each, require_list, require_object, require_string
from toolglot.schema.schema_repair import repair_schema

_CATEGORY = re.compile(r"[a-z_]*[a-z]")
_BFCL_KEYS = frozenset({"function", "involved_classes"})
_UNSUPPORTED = re.compile("multi_turn|java|memory|web_search|relevance(?<!irrelevance)")


def read_bfcl(questions: str, answers: str | None = None) -> list[Question]:
    """Parses the text of a question file and of its answer file."""
    gold = _gold(answers or "")
    found: list[Question] = []
    for number, row in rows(questions):
        try:
            found.append(_question(row, gold))
        except CallerError as error:
            raise at_line(number, error) from None
    return found


def _gold(answers: str) -> dict[str, Any]:
    try:
        return {require_string(row.get("id"), "id"): row.get("ground_truth") for _, row in rows(answers)}
    except CallerError as error:
        raise CallerError(error.problem, f"possible_answer, {error.where}") from None


def is_bfcl(text: str) -> bool:
    """Whether a file has BFCL's format: lines with `function` (or `involved_classes`) instead of `tools`."""
    return any(_BFCL_KEYS & row.keys() for _, row in islice(rows(text), 1))


def category_of(id: str) -> str:
    """`live_simple` for `live_simple_12-7-0`."""
    found = _CATEGORY.match(id)
    return found[0] if found else ""


def _question(row: Body, gold: dict[str, Any]) -> Question:
    id = require_string(row.get("id"), "id")
    category = category_of(id)
    if _UNSUPPORTED.search(category):
        raise CallerError(f"BFCL's category {category} is not supported: only single questions with calls in JSON are", "id")
    turns = require_list(row.get("question"), "question")
    if len(turns) != 1:
        raise CallerError(f"expected one turn, got {len(turns)}", "question")
    messages = readable(read_each(turns[0], "question[0]", dict))
    tools = tuple(read_each(row.get("function"), "function", _tool))
    if id not in gold and "irrelevance" not in category:
        raise CallerError("missing answer; BFCL has them in a file of the same name in possible_answer/", id)
    expected = tuple(read_each(gold.get(id, []), f"{id}.ground_truth", _call))
    return Question(id, messages, tools, expected, tags=(_kind(expected, tools), "bfcl", category))


def _tool(row: Body) -> Tool:
    """BFCL uses Python's type names (dict, float, tuple); they become JSON Schema's."""
    schema, _ = repair_schema(require_object(row.get("parameters", {}), "parameters"))
    return Tool(require_string(row.get("name"), "name"), row.get("description"), schema)


def _call(row: Body) -> tuple[ExpectedCall, ...]:
    if len(row) != 1:
        raise CallerError(f"expected one name with its arguments, got {len(row)}", "")
    ((name, arguments),) = row.items()
    accepted = require_object(arguments, name)
    return (ExpectedCall(name, {key: require_list(allowed, f"{name}.{key}") for key, allowed in accepted.items()}),)


def _kind(expected: tuple[Any, ...], tools: tuple[Tool, ...]) -> str:
    """The kind, which is the first tag of the built-in questions too."""
    if not expected:
        return "no_call"
    return "parallel" if len(expected) > 1 else "several" if len(tools) > 1 else "one"
