"""Questions with gold answers, and the file they stand in: one JSON object a line.

    {"tool": {"name": ..., "description": ..., "parameters": {...}}}       a tool, for the lines below to name
    {"id": ..., "tags": [...],
     "question": "..." | "messages": [...],                                messages as in OpenAI's chat API
     "tools": ["a name", {a tool in any form}, ...],
     "expected": [call, ...] | "no_call": true,
     "loop": {"results": {"tool name": result}, "final": ["word", ["either", "or"]]}}

A call is `{"name": ..., "arguments": {key: [accepted values]}, "unordered": [keys]}`, or a list of such: any of them will do.
Calls may come in any order. `accepted.py` says what counts as an accepted value. A loop's results are given to the model
as they are (text) or as JSON, and its last text must have each word of `final`.
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
from toolglot.pipeline.route import speech
from toolglot.pipeline.tool_forms import read_any_tools
from toolglot.reading.shape import Body, a_boolean, a_list, a_string, an_object, each_object, strings
from toolglot.schema.check import checker
from toolglot.text.json_text import BadJson, decode, dumps

_KEYS = frozenset({"id", "tags", "question", "messages", "tools", "expected", "no_call", "loop"})
_CALL_KEYS = frozenset({"name", "arguments", "unordered"})
_LOOP_KEYS = frozenset({"results", "final"})
# keywords that may let in arguments beside `properties`
_OPEN = frozenset({"additionalProperties", "patternProperties", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "$ref"})


class ExpectedCall(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str
    arguments: dict[str, list[Any]] = {}
    unordered: tuple[str, ...] = ()  # keys, at any depth, of lists whose order is nothing


class Loop(msgspec.Struct, frozen=True):
    results: dict[str, Any]
    final: tuple[tuple[str, ...], ...]  # of each group one must be said


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    messages: list[Body]
    tools: tuple[Tool, ...]
    expected: tuple[tuple[ExpectedCall, ...], ...] = ()  # for each call that is due, what will do; empty: none is due
    loop: Loop | None = None
    tags: tuple[str, ...] = ()

    @property
    def no_call(self) -> bool:
        return not self.expected

    @property
    def gold(self) -> list[tuple[str, dict[str, Any]]]:
        """The calls that are right beyond doubt: the first of all that is accepted."""
        return [(slot[0].name, first(slot[0].arguments)) for slot in self.expected]

    def result_of(self, name: str) -> str:
        """What a tool of a loop gives back, as text for the model."""
        if self.loop is None or name not in self.loop.results:
            return f"Error: {name} is out of order"
        result = self.loop.results[name]
        return result if isinstance(result, str) else dumps(result)


def rows(text: str) -> Iterator[tuple[int, Body]]:
    """The lines of a JSONL file that hold something, with their numbers. Only \\n ends a line: JSON may hold the rest."""
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if line.strip():
            try:
                yield number, an_object(decode(line), "")
            except BadJson as error:
                raise CallerError(f"this is no JSON: {error}", f"line {number}") from None
            except CallerError as error:
                raise at_line(number, error) from None


def at_line(number: int, error: CallerError) -> CallerError:
    return CallerError(error.problem, f"line {number}, {error.where}" if error.where else f"line {number}")


def read_questions(text: str) -> list[Question]:
    """A file of ours, or a user's of the same form. What is wrong in it is a CallerError with its line and key."""
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
                raise CallerError(f"there is a question {question.id!r} before", "id")
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
        raise CallerError("a question has either expected or no_call", "expected")
    if "no_call" in row and not a_boolean(row["no_call"], "no_call"):
        raise CallerError("it is true, or left out", "no_call")
    tools = _tools(row.get("tools"), known)
    names = {tool.full_name: tool for tool in tools}
    slots = a_list(row.get("expected", []), "expected")
    if "expected" in row and not slots:
        raise CallerError("no call is given; where none is due, say no_call", "expected")
    expected = tuple(_slot(slot, f"expected[{at}]", names) for at, slot in enumerate(slots))
    loop = _loop(an_object(row["loop"], "loop"), names, expected) if "loop" in row else None
    tags = tuple(a_string(tag, f"tags[{at}]") for at, tag in enumerate(a_list(row.get("tags", []), "tags")))
    return Question(a_string(row.get("id"), "id"), _messages(row), tools, expected, loop, tags)


def _only(held: Body, keys: frozenset[str]) -> None:
    for key in held:
        if key not in keys:
            raise CallerError(f"no such key; there are {', '.join(sorted(keys))}", key)


def _messages(row: Body) -> list[Body]:
    if ("question" in row) == ("messages" in row):
        raise CallerError("a question has either question or messages", "question")
    if "question" in row:
        return [{"role": "user", "content": a_string(row["question"], "question")}]
    messages = each_object(
        row["messages"], "messages", lambda message: {**message, "role": a_string(message.get("role"), "role")}
    )
    return readable(messages)


def readable(messages: list[Body]) -> list[Body]:
    """As a request can have them: what is wrong is told now, not in the middle of an evaluation."""
    if not messages:
        raise CallerError("there is none", "messages")
    speech("openai-chat").wire.read_request({"model": "any", "messages": messages})
    return messages


def _tools(value: Any, known: dict[str, Tool]) -> tuple[Tool, ...]:
    held = a_list(value, "tools")
    for at, tool in enumerate(held):
        if isinstance(tool, str) and tool not in known:
            raise CallerError(f"no line above defines the tool {tool!r}", f"tools[{at}]")
    if not held:
        raise CallerError("there is none", "tools")
    return read_any_tools([known[tool] if isinstance(tool, str) else tool for tool in held])


def _slot(value: Any, where: str, tools: dict[str, Tool]) -> tuple[ExpectedCall, ...]:
    if not isinstance(value, list):
        value, places = [value], [where]
    else:
        places = [f"{where}[{at}]" for at in range(len(value))]
    if not value:
        raise CallerError("no call is given", where)
    return tuple(_call(an_object(call, place), place, tools) for call, place in zip(value, places, strict=True))


def _call(held: Body, where: str, tools: dict[str, Tool]) -> ExpectedCall:
    try:
        _only(held, _CALL_KEYS)
        name = a_string(held.get("name"), "name")
        if name not in tools:
            raise CallerError(f"{name!r} is none of the question's tools ({', '.join(tools)})", "name")
        accepted = an_object(held.get("arguments", {}), "arguments")
        for key, allowed in accepted.items():
            if not a_list(allowed, f"arguments.{key}"):
                raise CallerError("no value is accepted", f"arguments.{key}")
            if not declared(tools[name], key):
                raise CallerError(f"{name} has no such parameter", f"arguments.{key}")
        for problem in checker(tools[name].schema).problems(first(accepted)):
            raise CallerError(f"the first accepted values do not fit the schema of {name}: {problem}", "arguments")
    except CallerError as error:
        raise error.within(where) from None
    return ExpectedCall(name, accepted, strings(held.get("unordered", []), f"{where}.unordered"))


def declared(tool: Tool, key: str) -> bool:
    """Whether a tool knows an argument, as far as its schema is plain enough to tell."""
    schema = tool.schema or {}
    return not schema.get("properties") or key in schema["properties"] or bool(_OPEN & schema.keys())


def _loop(held: Body, tools: dict[str, Tool], expected: tuple[tuple[ExpectedCall, ...], ...]) -> Loop:
    try:
        _only(held, _LOOP_KEYS)
        results = an_object(held.get("results"), "results")
        for name in results:
            if name not in tools:
                raise CallerError("this is none of the question's tools", f"results.{name}")
        for call in chain.from_iterable(expected):
            if call.name not in results:
                raise CallerError(f"{call.name} is expected to be called and has no result", "results")
        groups = a_list(held.get("final", []), "final")
        return Loop(results, tuple(strings(group, f"final[{at}]") for at, group in enumerate(groups)))
    except CallerError as error:
        raise error.within("loop") from None


def spread(questions: Iterable[Question], count: int) -> list[Question]:
    """So many of the questions, always the same: in turn one of each kind (its first tag), drawn by the hash of its id."""
    kinds: defaultdict[str, list[Question]] = defaultdict(list)
    for question in sorted(questions, key=lambda one: sha256(one.id.encode()).digest()):
        kinds[question.tags[0] if question.tags else ""].append(question)
    turns = chain.from_iterable(zip_longest(*(kinds[kind] for kind in sorted(kinds))))
    return [question for question in turns if question is not None][:count]
