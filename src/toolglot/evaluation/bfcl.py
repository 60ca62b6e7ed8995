"""BFCL's own files: the questions, and beside them in `possible_answer/` the gold. A file of irrelevance has no gold.

BFCL (https://gorilla.cs.berkeley.edu/leaderboard.html) is the Berkeley Function Calling Leaderboard. Its single-turn
categories in Python and JSON are read; those of several turns and of other programming languages are not.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from toolglot.core.tools import Tool
from toolglot.errors import CallerError
from toolglot.evaluation.questions import ExpectedCall, Question, at_line, readable, rows
from toolglot.reading.shape import Body, a_list, a_string, an_object, each_object
from toolglot.schema.evident import evident

_CATEGORY = re.compile(r"[a-z_]*[a-z]")
_TELLING = frozenset({"function", "involved_classes"})
_NOT_READ = re.compile("multi_turn|java|memory|web_search|relevance(?<!irrelevance)")


def read_bfcl(questions: str, answers: str | None = None) -> list[Question]:
    """The text of a file of questions, and that of its answers."""
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
        return {a_string(row.get("id"), "id"): row.get("ground_truth") for _, row in rows(answers)}
    except CallerError as error:
        raise CallerError(error.problem, f"possible_answer, {error.where}") from None


def is_bfcl(text: str) -> bool:
    """Whether a file is one of BFCL's: its lines have `function` (or `involved_classes`), where ours have `tools`."""
    return any(_TELLING & row.keys() for _, row in islice(rows(text), 1))


def category_of(id: str) -> str:
    """`live_simple` of `live_simple_12-7-0`."""
    found = _CATEGORY.match(id)
    return found[0] if found else ""


def _question(row: Body, gold: dict[str, Any]) -> Question:
    id = a_string(row.get("id"), "id")
    category = category_of(id)
    if _NOT_READ.search(category):
        raise CallerError(f"BFCL's category {category} is not one of single questions with calls in JSON", "id")
    turns = a_list(row.get("question"), "question")
    if len(turns) != 1:
        raise CallerError(f"one turn can be read, not {len(turns)}", "question")
    messages = readable(each_object(turns[0], "question[0]", dict))
    tools = tuple(each_object(row.get("function"), "function", _tool))
    if id not in gold and "irrelevance" not in category:
        raise CallerError("there is no answer to it; BFCL has them in a file of the same name in possible_answer/", id)
    expected = tuple(each_object(gold.get(id, []), f"{id}.ground_truth", _call))
    return Question(id, messages, tools, expected, tags=(_kind(expected, tools), "bfcl", category))


def _tool(held: Body) -> Tool:
    """BFCL writes Python's types (dict, float, tuple); models are shown those of JSON Schema."""
    schema, _ = evident(an_object(held.get("parameters", {}), "parameters"))
    return Tool(a_string(held.get("name"), "name"), held.get("description"), schema)


def _call(held: Body) -> tuple[ExpectedCall, ...]:
    if len(held) != 1:
        raise CallerError(f"one name with its arguments was expected, got {len(held)}", "")
    ((name, arguments),) = held.items()
    accepted = an_object(arguments, name)
    return (ExpectedCall(name, {key: a_list(allowed, f"{name}.{key}") for key, allowed in accepted.items()}),)


def _kind(expected: tuple[Any, ...], tools: tuple[Tool, ...]) -> str:
    """The tag that our own questions have first."""
    if not expected:
        return "no_call"
    return "parallel" if len(expected) > 1 else "several" if len(tools) > 1 else "one"
