"""Asking under a schema: the server holds the answer to JSON that is a call of a registered tool, or plain words.

For servers that can constrain what a model writes, and models that can't be trusted to write a call themselves.
"""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.core.events import Event
from toolglot.core.extraction import Extraction
from toolglot.core.request import Output, Request
from toolglot.core.tools import Tool, Toolset, as_function
from toolglot.dialects import find_dialect
from toolglot.grammars.render_json import tool_object
from toolglot.pipeline.extract import StreamExtractor
from toolglot.pipeline.speak_dialect import taught
from toolglot.pipeline.turns import Spoken, merged, with_lesson, without_system
from toolglot.schema.fitting import TARGETS, fit_schema
from toolglot.text.json_text import dumps, loads_object

ANSWER = "answer"  # the key that plain words stand under
WRITTEN_AS = "bare_json"  # the dialect of the calls
_MOST_CALLS = 8  # in one answer: a small model under a grammar may find no end
_NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


def answer_schema(tools: tuple[Tool, ...], *, must: bool, several: bool) -> dict[str, Any]:
    """What the answer must be: `{"name", "arguments"}` of one of the tools; a list of them; or, if it need not call, words."""
    calls = [_call_schema(tool) for tool in tools]
    forms: list[dict[str, Any]] = [*calls]
    if several:
        one = calls[0] if len(calls) == 1 else {"anyOf": calls}
        forms.append({"type": "array", "items": one, "minItems": 1, "maxItems": _MOST_CALLS})
    if not must:
        forms.append(_closed({ANSWER: {"type": "string"}}))
    return forms[0] if len(forms) == 1 else {"anyOf": forms}


def _call_schema(tool: Tool) -> dict[str, Any]:
    """A tool's call. Its own schema is brought to what a grammar can express; calls are checked against the original."""
    given = as_function(tool).schema
    arguments = fit_schema(given, TARGETS["llamacpp"]).schema if given else _NO_ARGUMENTS
    return _closed({"name": {"type": "string", "enum": [tool.full_name]}, "arguments": arguments})


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def constrain(request: Request, *, several: bool, refuses: tuple[str, ...] = (), notes: list[str]) -> Request:
    """The request with its tools in the prompt, their calls as the schema of the answer, and its history as text."""
    tools = taught(request.tools, request.choice, [])
    dialect = find_dialect(WRITTEN_AS)
    messages = Spoken(dialect, notes).history(request.messages, "user") if dialect else list(request.messages)
    output = request.output
    if tools:
        must = request.choice is not None and request.choice.mode == "required"
        output = Output(answer_schema(tools, must=must, several=several), "answer")
        messages = with_lesson(messages, _lesson(tools, must=must, several=several))
        notes.append(f"tools: {len(tools)} as the schema of the answer")
        if request.output is not None:
            notes.append("response schema: left out, since the calls take its place")
    if "system" in refuses:
        messages = without_system(messages, notes)
    return msgspec.structs.replace(request, messages=merged(messages), output=output, tools=(), choice=None, parallel=None)


def _lesson(tools: tuple[Tool, ...], *, must: bool, several: bool) -> str:
    lines = "\n".join(tool_object(tool, wrapped=False) for tool in tools)
    rules = ['Answer in JSON. A call is {"name": "...", "arguments": {...}}.']
    if several:
        rules.append("Several calls at once are a list of calls.")
    if not must:
        rules.append(f"If no tool is needed, the answer is {dumps({ANSWER: '...'})} with your words.")
    return f"# Tools\n\n{lines}\n\n{' '.join(rules)} Take the values from the request."


class ConstrainedExtractor:
    """An answer under the schema: JSON, so that it is understood once it is whole. As StreamExtractor from outside."""

    def __init__(self, tools: Toolset) -> None:
        self._tools = tools
        self._pieces: list[str] = []
        self._inner: StreamExtractor | None = None

    def feed(self, text: str) -> list[Event]:
        if self._inner is not None:
            return self._inner.feed(text)
        self._pieces.append(text)
        return []

    def deafen(self) -> list[Event]:
        """Calls came natively after all: the text is text."""
        if self._inner is None:
            self._inner = StreamExtractor(())
            return [*self._inner.deafen(), *self._inner.feed("".join(self._pieces))]
        return self._inner.deafen()

    def close(self) -> list[Event]:
        if self._inner is not None:
            return self._inner.close()
        text = "".join(self._pieces)
        held = loads_object(text)
        if held is not None and held.keys() == {ANSWER} and isinstance(held[ANSWER], str):
            self._inner = StreamExtractor(())
            return [*self._inner.deafen(), *self._inner.feed(held[ANSWER]), *self._inner.close()]
        self._inner = StreamExtractor(self._tools, dialect=WRITTEN_AS, policy="eager")
        return [*self._inner.feed(text), *self._inner.close()]

    def result(self) -> Extraction:
        return self._inner.result() if self._inner is not None else Extraction([], "".join(self._pieces))
