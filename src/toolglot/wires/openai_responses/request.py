"""OpenAI Responses requests, reading and writing."""

from __future__ import annotations

from typing import Any

from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Message, Text
from toolglot.core.request import Output, Request, Thinking
from toolglot.io.cache_marks import breakpoints_for
from toolglot.io.request_validation import (
    Body,
    optional,
    put_options,
    require_boolean,
    require_object,
    require_string,
    take_options,
    wire_extra,
    wrong_type,
)
from toolglot.wires.openai_common import EFFORT_IN, EFFORT_OUT, FAMILY, put_choice, split_extra
from toolglot.wires.openai_responses.messages import read_messages, write_messages
from toolglot.wires.openai_responses.shapes import OPTION_KEYS, OPTIONS, WIRE
from toolglot.wires.openai_responses.tools import (
    callable_tools,
    read_choice,
    read_tools,
    with_full_names,
    write_choice,
    write_tools,
)

_FORMAT_KEYS = ("schema", "name", "description", "strict")


# -- reading


def read_request(body: Body) -> Request:
    rest = dict(body)
    model = require_string(rest.pop("model", None) or "", "model")
    messages = _read_instructions(rest.pop("instructions", None)) + _read_input(rest.pop("input", None))
    tools = read_tools(rest.pop("tools", None))
    choice = with_full_names(read_choice(rest.pop("tool_choice", None)), tools)
    options = take_options(rest, OPTIONS)
    thinking = _read_thinking(rest.pop("reasoning", None))
    output, verbosity = _read_text(rest)
    return Request(
        model,
        messages,
        tools,
        choice,
        stream_usage=options.get("stream", False),
        verbosity=verbosity,
        thinking=thinking,
        output=output,
        extra=split_extra(rest, WIRE),
        **options,
    )


def _read_instructions(value: Any) -> tuple[Message, ...]:
    if value is None or value == "":
        return ()
    return (Message("system", (Text(require_string(value, "instructions")),)),)


def _read_input(value: Any) -> tuple[Message, ...]:
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return (Message("user", (Text(value),)),)
    if not isinstance(value, list):
        raise wrong_type("input", "a string or a list of items", value)
    return read_messages(value)


def _read_thinking(value: Any) -> Thinking | None:
    if value is None:
        return None
    more = {key: obj for key, obj in require_object(value, "reasoning").items() if obj is not None}
    effort = more.pop("effort", None)
    if effort is not None:
        effort = EFFORT_IN.get(require_string(effort, "reasoning.effort"), effort)
    show = True if "summary" in more or "generate_summary" in more else None
    if more.get("summary") == "auto":  # how `show` is written
        del more["summary"]
    if effort is None and show is None and not more:
        return None
    return Thinking(effort, show=show, extra={WIRE: more} if more else {})


def _read_text(rest: Body) -> tuple[Output | None, str | None]:
    value = rest.pop("text", None)
    if value is None:
        return None, None
    more = dict(require_object(value, "text"))
    verbosity = more.pop("verbosity", None)
    if verbosity is not None:
        require_string(verbosity, "text.verbosity")
    output = _read_format(more)
    if more:
        rest["text"] = more
    return output, verbosity


def _read_format(more: Body) -> Output | None:
    """Removes `format` from `text`; unknown fields stay there."""
    obj = more.pop("format", None)
    if obj is None:
        return None
    kind = require_object(obj, "text.format").get("type")
    if kind not in ("json_schema", "json_object", "text"):
        more["format"] = obj
        return None
    unknown = {key: value for key, value in obj.items() if key not in (*_FORMAT_KEYS, "type")}
    if unknown:
        more["format"] = unknown
    if kind == "text":
        return None
    if kind == "json_object":
        return Output()
    inner = obj["json_schema"] if isinstance(obj.get("json_schema"), dict) else obj  # nested, as in Chat
    if inner is not obj:
        more.pop("format", None)
    schema = require_object(inner.get("schema"), "text.format.schema")
    return Output(
        schema,
        optional(require_string, inner.get("name"), "text.format.name"),
        optional(require_string, inner.get("description"), "text.format.description"),
        optional(require_boolean, inner.get("strict"), "text.format.strict"),
    )


# -- writing


def write_request(request: Request, notes: list[str], quirks: Quirks) -> Body:
    quirks = breakpoints_for(request.model, quirks) if quirks.cache_breakpoints else quirks
    body: Body = {"model": request.model}
    messages = request.messages
    instructions = leading_instructions(messages, notes)
    if instructions:
        body["instructions"] = instructions
        messages = messages[1:]
    body["input"] = write_messages(messages, notes, quirks)
    if request.tools:
        written = write_tools(callable_tools(request.tools, request.choice, quirks), notes, quirks)
        if written:
            body["tools"] = written
            chosen = write_choice(request.choice, request.tools, notes, quirks) if request.choice is not None else None
            put_choice(request, chosen, body, notes, quirks)
    if request.stream:
        body["stream"] = True
    table = {**OPTION_KEYS, "verbosity": "verbosity"}
    if quirks.top_k:
        table["top_k"] = "top_k"
    put_options(request, table, body, WIRE, notes)
    fields = wire_extra(request.extra, WIRE, "request", notes, FAMILY) if request.extra else {}
    body.pop("verbosity", None)  # it goes into `text`
    text = write_text(request, fields)
    if text:
        body["text"] = text
    if request.thinking:
        reasoning = write_thinking(request.thinking, notes)
        if reasoning:
            body["reasoning"] = reasoning
    body.update(fields)
    return body


def leading_instructions(messages: tuple[Message, ...], notes: list[str]) -> str:
    """The leading system prompt, if it is only text; otherwise it is an item."""
    if not messages or messages[0].role != "system" or messages[0].name is not None or WIRE in messages[0].extra:
        return ""
    parts = messages[0].parts
    if not parts or not all(type(part) is Text and WIRE not in part.extra for part in parts):
        return ""
    wire_extra(messages[0].extra, WIRE, "system message", notes)
    texts: list[str] = []
    for part in parts:
        if isinstance(part, Text):
            wire_extra(part.extra, WIRE, "text", notes)
            texts.append(part.text)
    return "\n\n".join(texts)


def write_text(request: Request, fields: Body) -> Body:
    """`text`; its extra fields are removed from `fields`."""
    text: Body = {}
    if request.verbosity is not None:
        text["verbosity"] = request.verbosity
    if request.output is not None:
        text["format"] = _write_format(request.output)
    more = fields.pop("text", None)
    if isinstance(more, dict):
        form = more.get("format")
        if isinstance(form, dict):
            form = {**text.get("format", {} if "type" in form else {"type": "text"}), **form}
            more = {**more, "format": form}
        text.update(more)
    return text


def _write_format(output: Output) -> Body:
    if output.schema is None:
        return {"type": "json_object"}
    obj: Body = {"type": "json_schema", "name": output.name or "reply", "schema": output.schema}
    if output.description is not None:
        obj["description"] = output.description
    if output.strict is not None:
        obj["strict"] = output.strict
    return obj


def write_thinking(thinking: Thinking, notes: list[str]) -> Body:
    obj: Body = {}
    if thinking.effort:
        obj["effort"] = EFFORT_OUT.get(thinking.effort, thinking.effort)
    if thinking.show:
        obj["summary"] = "auto"
    if thinking.extra:
        fields = wire_extra(thinking.extra, WIRE, "thinking", notes)
        if "generate_summary" in fields:
            obj.pop("summary", None)
        obj.update(fields)
    if thinking.budget is not None:
        notes.append("thinking budget: openai-responses supports only efforts; left out")
    return obj


# the keys that input_tokens accepts
_COUNTED = frozenset(
    {"model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "text", "truncation"}
)


def count_request(_: str, url: str, body: Body) -> tuple[str, Body]:
    return f"{url}/input_tokens", {key: value for key, value in body.items() if key in _COUNTED}
