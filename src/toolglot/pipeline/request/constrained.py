"""Constrained mode: the server constrains the answer to a JSON list of tool calls, or to `[{"name": "no_tool"}]`.

For servers with constrained decoding and models that don't write calls reliably. After `no_tool` the session sends the same
conversation once more without the schema (`Constrained.plain`), for the text answer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from toolglot.core.budget import Budget
from toolglot.core.events import Event
from toolglot.core.extraction import Extraction
from toolglot.core.fold import fold
from toolglot.core.messages import Message, Text, ToolCall
from toolglot.core.request import Output, Request
from toolglot.core.tools import Choice, Tool, Toolset, cached_for_toolset, custom_as_function
from toolglot.dialects.bare_json import DIALECT
from toolglot.grammars.render_json import one_array, result_text, tool_object
from toolglot.io.block_builder import BlockBuilder
from toolglot.io.json_codec import JSON_ERRORS, decode, dumps
from toolglot.pipeline.request.history_as_text import (
    HistoryAsText,
    add_instructions,
    fit_system,
    merge_same_role,
    results_as_text,
)
from toolglot.pipeline.response.call_validator import Policy, UnsupportedSchemas
from toolglot.pipeline.response.extract import StreamExtractor
from toolglot.schema.fitting import TARGETS, Target, fit_schema

CALL_DIALECT = DIALECT.name
WRAPPER = "calls"  # the key of the list, for servers that need an object at the root of a schema
_AFTER_RESULTS = "If this answers the user, answer {no_tool}."
_WHEN_NONE = "If none of these tools does what the user asks for, or a value that it needs is missing, answer {none}."
_WITHOUT_CALL = ("Hello!", "What are tools good for?")  # examples
_MAX_CALLS = 8  # per answer: a small model under a grammar may not stop
# the history: calls in the format of the answer, results as text
_DIALECT = msgspec.structs.replace(
    DIALECT, render_calls=one_array("[", "]"), render_result=result_text("Result of {name}: ", "")
)
_NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}

# a provider's schema dialect -> the target for the answer's schema; the default is llama.cpp's
_ANSWER_TARGETS = {"openai": "openai_strict", "gemini": "gemini"}


class AnswerForm(msgspec.Struct, frozen=True):
    """The allowed answers: `names` restricts the tools, `required` excludes `no_tool`."""

    required: bool
    several: bool
    names: tuple[str, ...] = ()
    target: str = "llamacpp"
    example: bool = True  # of an answer without a call


class Constrained(msgspec.Struct, frozen=True):
    request: Request
    plain: Callable[[], Request] | None = None  # makes what is sent after `no_tool`; None: a call is required


class _ToolPrompt(msgspec.Struct, frozen=True):
    """What the model gets, cached per toolset."""

    tools: tuple[Tool, ...]
    schema: dict[str, Any]
    prompt: str


def constrain(
    request: Request,
    *,
    several: bool,
    example: bool = True,
    refuses: tuple[str, ...] = (),
    schemas: str | None = None,
    notes: list[str],
) -> Constrained:
    """The request with the tools in the prompt, a schema of the calls for the answer, and the history as text.

    `schemas` is the provider's schema dialect.
    """
    choice = request.choice or Choice()
    base = msgspec.structs.replace(request, tools=(), choice=None, parallel=None)
    left_out = [f"tool {tool.name}: left out, because its server runs it" for tool in request.tools if tool.kind == "server"]
    if choice.mode == "none" or len(left_out) == len(request.tools):
        if request.tools:
            notes.append("tools: left out, because calls are not allowed")
        return Constrained(_plain(base, refuses, notes))
    target = _ANSWER_TARGETS.get(schemas or "", "llamacpp")
    form = AnswerForm(choice.mode == "required", several, choice.names, target, example)
    tool_prompt = cached_for_toolset(request.tools, form, _tool_prompt)
    notes += left_out
    notes.append(f"tools: {len(tool_prompt.tools)} as the schema of the answer")
    messages = HistoryAsText(_DIALECT, notes).history(request.messages, "user")
    if not form.required and request.messages and request.messages[-1].role == "tool":
        messages[-1] = _with_text(messages[-1], _AFTER_RESULTS.format(no_tool=dumps([{"name": no_tool(tool_prompt.tools)}])))
    messages = add_instructions(messages, tool_prompt.prompt)
    messages = fit_system(messages, refuses, notes)
    output = Output(tool_prompt.schema, "answer", strict=True if target.endswith("_strict") else None)
    constrained = msgspec.structs.replace(base, messages=tuple(merge_same_role(messages)), output=output)
    if form.required and request.output is not None:
        notes.append("response schema: left out, because a call is required")
    return Constrained(constrained, None if form.required else partial(_plain, base, refuses, []))


def _with_text(message: Message, text: str) -> Message:
    return msgspec.structs.replace(message, parts=(*message.parts, Text(f"\n\n{text}")))


def _plain(request: Request, refuses: tuple[str, ...], notes: list[str]) -> Request:
    messages = fit_system(results_as_text(request.messages), refuses, notes)
    return msgspec.structs.replace(request, messages=tuple(merge_same_role(messages)))


def _tool_prompt(tools: tuple[Tool, ...], form: AnswerForm) -> _ToolPrompt:
    callable_tools = tuple(tool for tool in tools if tool.kind != "server")
    callable_tools = tuple(tool for tool in callable_tools if {tool.name, tool.full_name} & set(form.names)) or callable_tools
    return _ToolPrompt(callable_tools, answer_schema(callable_tools, form), _prompt(callable_tools, form))


def answer_schema(tools: tuple[Tool, ...], form: AnswerForm) -> dict[str, Any]:
    """A list of calls, each with its tool's schema; or, if no call is required, a list of `no_tool` alone."""
    target = TARGETS[form.target]
    calls = [_call_schema(tool, target) for tool in tools]
    schema = _list_of(calls[0] if len(calls) == 1 else {"anyOf": calls}, _MAX_CALLS if form.several else 1)
    if not form.required:
        schema = {"anyOf": [schema, _list_of(_object(name=_constant(no_tool(tools))), 1)]}
    return schema if target.root_union else _object(**{WRAPPER: schema})


def _call_schema(tool: Tool, target: Target) -> dict[str, Any]:
    """A tool's schema as far as the server supports it. The call is validated against the original."""
    schema = custom_as_function(tool).schema
    arguments = fit_schema(schema, target).schema if schema else _NO_ARGUMENTS
    return _object(name=_constant(tool.full_name), arguments=arguments)


def _constant(name: str) -> dict[str, Any]:
    return {"type": "string", "enum": [name]}


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _list_of(items: dict[str, Any], most: int) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": 1, "maxItems": most}


def no_tool(tools: tuple[Tool, ...]) -> str:
    """The name that means no call. It is never the name of a tool."""
    name, names = "no_tool", {tool.full_name for tool in tools}
    while name in names:
        name += "_"
    return name


def _prompt(tools: tuple[Tool, ...], form: AnswerForm) -> str:
    """Whether to call comes first: a small model that reads the form of a call first makes one."""
    lines = "\n".join(tool_object(tool, wrapped=False) for tool in tools)
    none, rules, examples = dumps([{"name": no_tool(tools)}]), [], ""
    if not form.required:
        rules.append(_WHEN_NONE.format(none=none))
        if form.example:
            examples = "".join(f"\nuser: {text}\nassistant: {none}" for text in _WITHOUT_CALL)
    rules.append('Answer with a JSON list of the tool calls that are needed now: [{"name": "...", "arguments": {...}}]')
    if form.several:
        rules.append("If the user asks for several things, the list has a call for each.")
    rules.append("Take every value from the conversation.")
    return f"# Tools\n\n{lines}\n\n" + "\n".join(rules) + (f"\n\nExamples:{examples}" if examples else "")


class ConstrainedExtractor:
    """Parses a constrained answer when it is complete. Same interface as StreamExtractor."""

    def __init__(self, tools: Toolset, policy: Policy = "balanced") -> None:
        self._tools = tools
        self._policy: Policy = policy
        self._pieces: list[str] = []
        self._blocks = BlockBuilder()
        self._blocks.started = True  # this is a part of a stream: it has no Start
        self._text_only = self._closed = False
        self._events: list[Event] = []
        self.no_tool = False  # the model answered that no call is needed
        self.whole_calls: dict[int, ToolCall] = {}
        self.budget = Budget()
        self.schemas: UnsupportedSchemas = "reject"
        self.reasoning: tuple[str, str] | None = None  # its markers, where the server lets the model think before the schema

    def feed(self, text: str) -> list[Event]:
        if not self._text_only:
            self._pieces.append(text)
            return []
        self._blocks.text(text)
        return self._drain()

    def plain(self, text: str) -> str | None:
        """None: there is no fast path. The answer is parsed at its end."""
        return None

    def stop_parsing(self, *, broken: bool = False) -> list[Event]:
        """Treat all text as plain text: native calls arrived.

        `broken`: the connection broke. Half of a list of calls is nothing to show, and without it clients can retry.
        """
        if not self._text_only:
            self._text_only = True
            if not broken:
                self._blocks.text("".join(self._pieces))
        return self._drain()

    def close(self) -> list[Event]:
        if self._closed:
            return []
        self._closed = True
        if not self._text_only:
            return self._parse("".join(self._pieces))
        self._blocks.finish("stop")
        return self._drain()

    def _parse(self, text: str) -> list[Event]:
        opener, closer = self.reasoning if self.reasoning and not text.lstrip().startswith(("[", "{")) else ("", "")
        thoughts, found, rest = text.rpartition(closer) if closer else ("", "", text)
        text = rest if found else text
        try:
            answer = decode(text)
        except JSON_ERRORS:  # truncated, or the server ignores the schema
            pass
        else:
            wrapped = isinstance(answer, dict) and answer.keys() == {WRAPPER}
            self.no_tool = (answer[WRAPPER] if wrapped else answer) == [{"name": no_tool(self._tools)}]
            text = "" if self.no_tool else dumps(answer[WRAPPER]) if wrapped else text.strip()
        parser = StreamExtractor(self._tools, dialect=CALL_DIALECT, policy=self._policy)
        parser.budget, parser.schemas = self.budget, self.schemas
        reasoning = parser.add_reasoning(thoughts.strip().removeprefix(opener).strip()) if found else []
        self._events = [*reasoning, *parser.feed(text), *parser.close()]
        self.whole_calls = parser.whole_calls
        return list(self._events)

    def _drain(self) -> list[Event]:
        events = self._blocks.take_events()
        self._events += events
        return events

    def result(self) -> Extraction:
        reply = fold(self._events)
        dialect = CALL_DIALECT if reply.calls else None
        return Extraction(reply.calls, reply.text, reply.reasoning, list(reply.decisions), dialect)
