"""Asking under a schema: the server holds the answer to JSON that is a call of a registered tool, or plain words.

For servers that can constrain what a model writes, and models that can't be trusted to write a call themselves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from toolglot.core.events import Event
from toolglot.core.extraction import Extraction
from toolglot.core.fold import fold
from toolglot.core.request import Output, Request
from toolglot.core.tools import Choice, Tool, Toolset, as_function, made_once
from toolglot.dialects import find_dialect
from toolglot.grammars.render_json import tool_object
from toolglot.pipeline.extract import StreamExtractor
from toolglot.pipeline.guard_calls import Policy
from toolglot.pipeline.turns import Spoken, in_words, merged, with_lesson, without_system
from toolglot.reading.blocks import Blocks
from toolglot.schema.fitting import TARGETS, Target, fit_schema
from toolglot.text.json_text import BadJson, decode, dumps, loads_object

ANSWER = "answer"  # the key that plain words stand under
WRAPPED = "reply"  # the key that all stands under, where a schema may not begin with a choice
WRITTEN_AS = "bare_json"  # the dialect of the calls
_BEGUN = re.compile(rf'\s*(?:\{{\s*"{WRAPPED}"\s*:\s*)?\{{\s*"{ANSWER}"\s*:\s*"')
_ESCAPE = 13  # the longest is a pair of surrogates
_MOST_CALLS = 8  # in one answer: a small model under a grammar may find no end
_NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}

# what a provider's row says of tools' schemas -> what holds an answer there; all others make a grammar as llama.cpp does
_HOLDS = {"openai": "openai_strict", "gemini": "gemini"}


Due = Sequence[Sequence[tuple[Tool, dict[str, Any]]]]  # for each call that is due: tools, each with its arguments' schema


class Answering(msgspec.Struct, frozen=True):
    """What an answer may be. `names` narrows the tools; `words` is the JSON text of the schema of an answer without a call."""

    must: bool
    several: bool
    names: tuple[str, ...] = ()
    words: str | None = None
    target: str = "llamacpp"


def answer_schema(tools: tuple[Tool, ...], how: Answering) -> dict[str, Any]:
    """What the answer must be: `{"name", "arguments"}` of one of the tools; a list of them; or, if it need not call, words."""
    target = TARGETS[how.target]
    calls = [_call_schema(tool, target) for tool in tools]
    forms: list[dict[str, Any]] = [*calls]
    if how.several:
        one = calls[0] if len(calls) == 1 else {"anyOf": calls}
        forms.append({"type": "array", "items": one, "minItems": 1, "maxItems": _MOST_CALLS})
    if not how.must:
        own = loads_object(how.words) if how.words is not None else None
        forms.append(_closed({ANSWER: {"type": "string"} if own is None else fit_schema(own, target).schema}))
    schema = forms[0] if len(forms) == 1 else {"anyOf": forms}
    return schema if target.root_union or len(forms) == 1 else _closed({WRAPPED: schema})


def calls_schema(calls: Due, target: str = "llamacpp") -> dict[str, Any]:
    """The calls that are due, no more and no less: for each the tools that it may be of, with what their arguments may be."""
    held = TARGETS[target]
    forms = [[_call_schema(tool, held, arguments) for tool, arguments in options] for options in calls]
    each = [one[0] if len(one) == 1 else {"anyOf": one} for one in forms]
    if len(each) == 1:
        return each[0] if held.root_union or len(forms[0]) == 1 else _closed({WRAPPED: each[0]})
    listed = {"type": "array", "prefixItems": each, "minItems": len(each), "maxItems": len(each)}
    return listed if held.root_union else _closed({WRAPPED: listed})


def _call_schema(tool: Tool, target: Target, held: dict[str, Any] | None = None) -> dict[str, Any]:
    """A tool's call. Its own schema is brought to what can be held to; calls are checked against the original."""
    given = as_function(tool).schema
    arguments = held if held is not None else fit_schema(given, target).schema if given else _NO_ARGUMENTS
    return _closed({"name": {"type": "string", "enum": [tool.full_name]}, "arguments": arguments})


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


class _Asked(msgspec.Struct, frozen=True):
    """What the model is shown, made once for the same tools."""

    tools: tuple[Tool, ...]
    schema: dict[str, Any]
    lesson: str


def _asked(tools: tuple[Tool, ...], how: Answering) -> _Asked:
    shown = tuple(tool for tool in tools if tool.kind != "server")
    named = tuple(tool for tool in shown if {tool.name, tool.full_name} & set(how.names))
    shown = named or shown
    return _Asked(shown, answer_schema(shown, how), _lesson(shown, how)) if shown else _Asked((), {}, "")


def constrain(
    request: Request, *, several: bool, refuses: tuple[str, ...] = (), schemas: str | None = None, notes: list[str]
) -> Request:
    """The request with its tools in the prompt, their calls as the schema of the answer, and its history as text.

    `schemas` is what the provider's row says of schemas.
    """
    choice = request.choice or Choice()
    dialect = find_dialect(WRITTEN_AS)
    messages = Spoken(dialect, notes).history(request.messages, "user") if dialect else list(request.messages)
    output = request.output
    target = _HOLDS.get(schemas or "", "llamacpp")
    if request.tools and choice.mode == "none":
        notes.append("tool choice: none; no tool is shown")
    elif request.tools:
        words = dumps(output.schema or {"type": "object"}) if output is not None else None
        how = Answering(choice.mode == "required", several, choice.names, words, target)
        asked = made_once(request.tools, how, _asked)
        notes += [
            f"tool {tool.name}: a server's own can't be held to; left out" for tool in request.tools if tool.kind == "server"
        ]
        if asked.tools:
            strict = True if target.endswith("_strict") else None
            output = Output(asked.schema, "answer", strict=strict)
            messages = with_lesson(messages, asked.lesson)
            notes.append(f"tools: {len(asked.tools)} as the schema of the answer")
            if words is not None and how.must:
                notes.append("response schema: left out, since a call is required")
    if "system" in refuses:
        messages = without_system(messages, notes)
    return msgspec.structs.replace(request, messages=merged(messages), output=output, tools=(), choice=None, parallel=None)


def brought_to(tool: Tool, schemas: str | None) -> Tool:
    """The tool with its schema as it can be held to."""
    given = as_function(tool)
    held = fit_schema(given.schema, TARGETS[_HOLDS.get(schemas or "", "llamacpp")]).schema if given.schema else _NO_ARGUMENTS
    return msgspec.structs.replace(given, schema=held)


def constrain_to(
    request: Request, calls: Due, *, refuses: tuple[str, ...] = (), schemas: str | None = None, notes: list[str]
) -> Request:
    """As `constrain`, where it is known which calls are due; none: the model is asked in plain words."""
    target = _HOLDS.get(schemas or "", "llamacpp")
    shown = tuple({tool.full_name: tool for options in calls for tool, _ in options}.values())
    bare = msgspec.structs.replace(request, tools=(), choice=None)
    if not shown:
        bare = msgspec.structs.replace(bare, messages=tuple(in_words(request.messages)))
    asked = constrain(bare, several=False, refuses=refuses, schemas=schemas, notes=notes)
    if not shown:
        return asked
    strict = True if target.endswith("_strict") else None
    output = Output(calls_schema(calls, target), "answer", strict=strict)
    messages = with_lesson(list(asked.messages), _lesson(shown, Answering(True, len(calls) > 1)))
    if request.output is not None:
        notes.append("response schema: left out, since a call is due")
    if "system" in refuses:
        messages = without_system(messages, notes)
    return msgspec.structs.replace(asked, messages=merged(messages), output=output)


def _lesson(tools: tuple[Tool, ...], how: Answering) -> str:
    lines = "\n".join(tool_object(tool, wrapped=False) for tool in tools)
    rules = ['Answer in JSON. A call is {"name": "...", "arguments": {...}}.']
    if how.several:
        rules.append("Several calls at once are a list of calls.")
    if not how.must:
        told = "your words" if how.words is None else f"what fits this schema: {how.words}"
        rules.append(f"If no tool is needed, the answer is {dumps({ANSWER: '...'})} with {told}.")
    return f"# Tools\n\n{lines}\n\n{' '.join(rules)} Take the values from the request."


class ConstrainedExtractor:
    """An answer under the schema: JSON, so that it is understood once it is whole. As StreamExtractor from outside."""

    def __init__(self, tools: Toolset, policy: Policy = "balanced") -> None:
        self._tools = tools
        self._policy: Policy = policy
        self._pieces: list[str] = []
        self._blocks = Blocks()
        self._blocks.started = True  # this is a part of a stream: it has no Start
        self._deaf = self._ended = False
        self._given: list[Event] = []

    def feed(self, text: str) -> list[Event]:
        if not self._deaf:
            self._pieces.append(text)
            return []
        self._blocks.text(text)
        return self._drain()

    def deafen(self) -> list[Event]:
        """Calls came natively after all, or the line broke: the text is text."""
        if not self._deaf:
            self._deaf = True
            text = "".join(self._pieces)
            self._blocks.text(*(_words(text) or (text, None)))
        return self._drain()

    def close(self) -> list[Event]:
        if self._ended:
            return []
        self._ended = True
        text = "".join(self._pieces)
        if not self._deaf and _words(text) is None:
            heard = StreamExtractor(self._tools, dialect=WRITTEN_AS, policy=self._policy)
            self._given = [*heard.feed(_unwrapped(text)), *heard.close()]
            return list(self._given)
        said = self.deafen()
        self._blocks.finish("stop")
        return [*said, *self._drain()]

    def _drain(self) -> list[Event]:
        events = self._blocks.drain()
        self._given += events
        return events

    def result(self) -> Extraction:
        reply = fold(self._given)
        dialect = WRITTEN_AS if reply.calls else None
        return Extraction(reply.calls, reply.text, reply.reasoning, list(reply.decisions), dialect)


def _words(text: str) -> tuple[str, str | None] | None:
    """The answer that is no call, and its channel; None: there is none. Words that were cut short count as far as they go."""
    held: Any = loads_object(text)
    if held is None:
        cut = _cut_words(text)
        return None if cut is None else (cut, None)
    if held.keys() == {WRAPPED}:
        held = held[WRAPPED]
    if not isinstance(held, dict) or held.keys() != {ANSWER}:
        return None
    said = held[ANSWER]
    return (said, None) if isinstance(said, str) else (dumps(said), "json")


def _cut_words(text: str) -> str | None:
    begun = _BEGUN.match(text)
    if begun is None:
        return None
    rest = text[begun.end() :]
    for less in range(_ESCAPE):  # the end may stand in the middle of an escape, or behind the words
        try:
            said: str = decode(f'"{rest[: len(rest) - less]}"')
        except BadJson:
            continue
        return said
    return None


def _unwrapped(text: str) -> str:
    """The calls alone; what is no JSON stays as it is."""
    try:
        held = decode(text)
    except BadJson:
        return text
    return dumps(held[WRAPPED]) if isinstance(held, dict) and held.keys() == {WRAPPED} else text.strip()
