"""Questions with expected answers, and their file format: one JSON object per line.

    {"tool": {"name": ..., "description": ..., "parameters": {...}}}       a tool, for use by name in later lines
    {"id": ..., "tags": [...],
     "question": "..." | "messages": [...],                                messages as in OpenAI's chat API
     "tools": ["a name", {a tool in any form}, ...],
     "expected": [call, ...] | "no_call": true,
     "loop": {"results": {"tool name": result}, "final": ["word", ["either", "or"]]}}

A call is `{"name": ..., "arguments": {key: [accepted values]}, "unordered": [keys]}`, or a list of alternatives.
Calls may come in any order. `accepted.py` defines when a value is accepted. A loop's results are sent to the model as text
or as JSON, and its final text must contain each word of `final`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import chain, zip_longest
from typing import Any

import msgspec

from toolglot.core.tools import Tool
from toolglot.errors import CallerError
from toolglot.evaluation.accepted import first
from toolglot.io.json_codec import JSON_ERRORS, decode, dumps
from toolglot.io.request_validation import (
    Body,
    read_each,
    require_boolean,
    require_list,
    require_object,
    require_string,
    require_strings,
)
from toolglot.pipeline.detect_tool_format import read_any_tools
from toolglot.pipeline.request.route import wire_format
from toolglot.schema.check import checker
from toolglot.wires import DEFAULT

_KEYS = frozenset({"id", "tags", "question", "messages", "tools", "expected", "no_call", "loop"})
_CALL_KEYS = frozenset({"name", "arguments", "unordered"})
_LOOP_KEYS = frozenset({"results", "final"})
# keywords that may allow arguments beside `properties`
_OPEN = frozenset({"additionalProperties", "patternProperties", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "$ref"})


class ExpectedCall(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str
    arguments: dict[str, list[Any]] = {}
    unordered: tuple[str, ...] = ()  # keys, at any depth, of lists in any order


class Loop(msgspec.Struct, frozen=True):
    results: dict[str, Any]
    final: tuple[tuple[str, ...], ...]  # the final text must contain one of each group


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    messages: list[Body]
    tools: tuple[Tool, ...]
    expected: tuple[tuple[ExpectedCall, ...], ...] = ()  # for each expected call its alternatives; empty: no call is expected
    loop: Loop | None = None
    tags: tuple[str, ...] = ()

    @property
    def no_call(self) -> bool:
        return not self.expected

    @property
    def gold(self) -> list[tuple[str, dict[str, Any]]]:
        """The expected calls with the first accepted values."""
        return [(slot[0].name, first(slot[0].arguments)) for slot in self.expected]

    def result_of(self, name: str) -> str:
        """A loop's tool result, as text for the model."""
        if self.loop is None or name not in self.loop.results:
            return f"Error: {name} is out of order"
        result = self.loop.results[name]
        return result if isinstance(result, str) else dumps(result)


def rows(text: str) -> Iterator[tuple[int, Body]]:
    """The non-empty lines of a JSONL file, numbered. Only \\n ends a line: JSON strings may contain other separators."""
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if line.strip():
            try:
                yield number, require_object(decode(line), "")
            except JSON_ERRORS as error:
                raise CallerError(f"not JSON: {error}", f"line {number}") from None
            except CallerError as error:
                raise at_line(number, error) from None


def at_line(number: int, error: CallerError) -> CallerError:
    return CallerError(error.problem, f"line {number}, {error.where}" if error.where else f"line {number}")


def read_questions(text: str) -> list[Question]:
    """Parses a question file. A CallerError names the line and the key of a problem."""
    known: dict[str, Tool] = {}
    found: dict[str, Question] = {}
    for number, row in rows(text):
        try:
            if "tool" in row:
                _only(row, frozenset({"tool"}))
                known |= _defined(row["tool"])
                continue
            question = _question(row, known)
            if question.id in found:
                raise CallerError(f"duplicate question id {question.id!r}", "id")
            found[question.id] = question
        except CallerError as error:
            raise at_line(number, error) from None
    return list(found.values())


def _defined(tool: Any) -> dict[str, Tool]:
    try:
        return {one.full_name: one for one in read_any_tools([tool])}
    except CallerError as error:
        raise CallerError(error.problem, error.where.replace("tools[0]", "tool", 1)) from None


def _question(row: Body, known: dict[str, Tool]) -> Question:
    _only(row, _KEYS)
    if ("expected" in row) == ("no_call" in row):
        raise CallerError("set either expected or no_call", "expected")
    if "no_call" in row and not require_boolean(row["no_call"], "no_call"):
        raise CallerError("must be true or absent", "no_call")
    tools = _tools(row.get("tools"), known)
    names = {tool.full_name: tool for tool in tools}
    slots = require_list(row.get("expected", []), "expected")
    if "expected" in row and not slots:
        raise CallerError("the list is empty; if no call is expected, set no_call", "expected")
    expected = tuple(_slot(slot, f"expected[{at}]", names) for at, slot in enumerate(slots))
    loop = _loop(require_object(row["loop"], "loop"), names, expected) if "loop" in row else None
    tags = tuple(require_string(tag, f"tags[{at}]") for at, tag in enumerate(require_list(row.get("tags", []), "tags")))
    return Question(require_string(row.get("id"), "id"), _messages(row), tools, expected, loop, tags)


def _only(row: Body, keys: frozenset[str]) -> None:
    for key in row:
        if key not in keys:
            raise CallerError(f"unknown key; known: {', '.join(sorted(keys))}", key)


def _messages(row: Body) -> list[Body]:
    if ("question" in row) == ("messages" in row):
        raise CallerError("set either question or messages", "question")
    if "question" in row:
        return [{"role": "user", "content": require_string(row["question"], "question")}]
    messages = read_each(
        row["messages"], "messages", lambda message: {**message, "role": require_string(message.get("role"), "role")}
    )
    return readable(messages)


def readable(messages: list[Body]) -> list[Body]:
    """Validates the messages now rather than in the middle of an evaluation."""
    if not messages:
        raise CallerError("the list is empty", "messages")
    wire_format(DEFAULT).wire.read_request({"model": "any", "messages": messages})
    return messages


def _tools(value: Any, known: dict[str, Tool]) -> tuple[Tool, ...]:
    items = require_list(value, "tools")
    for at, tool in enumerate(items):
        if isinstance(tool, str) and tool not in known:
            raise CallerError(f"no line above defines the tool {tool!r}", f"tools[{at}]")
    if not items:
        raise CallerError("the list is empty", "tools")
    return read_any_tools([known[tool] if isinstance(tool, str) else tool for tool in items])


def _slot(value: Any, where: str, tools: dict[str, Tool]) -> tuple[ExpectedCall, ...]:
    if not isinstance(value, list):
        value, places = [value], [where]
    else:
        places = [f"{where}[{at}]" for at in range(len(value))]
    if not value:
        raise CallerError("the list is empty", where)
    return tuple(_call(require_object(call, place), place, tools) for call, place in zip(value, places, strict=True))


def _call(row: Body, where: str, tools: dict[str, Tool]) -> ExpectedCall:
    try:
        _only(row, _CALL_KEYS)
        name = require_string(row.get("name"), "name")
        if name not in tools:
            raise CallerError(f"{name!r} is not one of the question's tools ({', '.join(tools)})", "name")
        accepted = require_object(row.get("arguments", {}), "arguments")
        for key, allowed in accepted.items():
            if not require_list(allowed, f"arguments.{key}"):
                raise CallerError("the list of accepted values is empty", f"arguments.{key}")
            if not declared(tools[name], key):
                raise CallerError(f"{name} has no such parameter", f"arguments.{key}")
        for problem in checker(tools[name].schema).problems(first(accepted)):
            raise CallerError(f"the first accepted values do not satisfy the schema of {name}: {problem}", "arguments")
    except CallerError as error:
        raise error.within(where) from None
    return ExpectedCall(name, accepted, require_strings(row.get("unordered", []), f"{where}.unordered"))


def declared(tool: Tool, key: str) -> bool:
    """Whether a tool declares an argument; true if its schema is too complex to tell."""
    schema = tool.schema or {}
    return not schema.get("properties") or key in schema["properties"] or bool(_OPEN & schema.keys())


def _loop(row: Body, tools: dict[str, Tool], expected: tuple[tuple[ExpectedCall, ...], ...]) -> Loop:
    try:
        _only(row, _LOOP_KEYS)
        results = require_object(row.get("results"), "results")
        for name in results:
            if name not in tools:
                raise CallerError("not one of the question's tools", f"results.{name}")
        for call in chain.from_iterable(expected):
            if call.name not in results:
                raise CallerError(f"{call.name} is expected to be called and has no result", "results")
        groups = require_list(row.get("final", []), "final")
        return Loop(results, tuple(require_strings(group, f"final[{at}]") for at, group in enumerate(groups)))
    except CallerError as error:
        raise error.within("loop") from None


def spread(questions: Iterable[Question], count: int) -> list[Question]:
    """A fixed selection of `count` questions: one of each kind (the first tag) in turn, ordered by the hash of the id."""
    kinds: defaultdict[str, list[Question]] = defaultdict(list)
    for question in sorted(questions, key=lambda one: sha256(one.id.encode()).digest()):
        kinds[question.tags[0] if question.tags else ""].append(question)
    turns = chain.from_iterable(zip_longest(*(kinds[kind] for kind in sorted(kinds))))
    return [question for question in turns if question is not None][:count]
