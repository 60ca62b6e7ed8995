"""A whole request, both ways, as OpenAI Responses has it."""

from __future__ import annotations

from typing import Any

from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Message, Text
from toolglot.core.request import Output, Request, Thinking
from toolglot.reading.shape import a_boolean, a_string, an_object, misfit, or_none, own_extra, put_options, take_options
from toolglot.wires.openai_family import EFFORT_IN, EFFORT_OUT, FAMILY, put_choice, split_extra
from toolglot.wires.openai_responses.messages import read_messages, write_messages
from toolglot.wires.openai_responses.shapes import OPTION_KEYS, OPTIONS, WIRE, Body
from toolglot.wires.openai_responses.tools import in_full, narrowed, read_choice, read_tools, write_choice, write_tools

_FORMAT_KEYS = ("schema", "name", "description", "strict")


# -- reading


def read_request(body: Body) -> Request:
    rest = dict(body)
    model = a_string(rest.pop("model", None) or "", "model")
    messages = _read_instructions(rest.pop("instructions", None)) + _read_input(rest.pop("input", None))
    tools = read_tools(rest.pop("tools", None))
    choice = in_full(read_choice(rest.pop("tool_choice", None)), tools)
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
    return (Message("system", (Text(a_string(value, "instructions")),)),)


def _read_input(value: Any) -> tuple[Message, ...]:
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return (Message("user", (Text(value),)),)
    if not isinstance(value, list):
        raise misfit("input", "a string or a list of items", value)
    return read_messages(value)


def _read_thinking(value: Any) -> Thinking | None:
    if value is None:
        return None
    more = {key: held for key, held in an_object(value, "reasoning").items() if held is not None}
    effort = more.pop("effort", None)
    if effort is not None:
        effort = EFFORT_IN.get(a_string(effort, "reasoning.effort"), effort)
    show = True if "summary" in more or "generate_summary" in more else None
    if more.get("summary") == "auto":  # what `show` is written as
        del more["summary"]
    if effort is None and show is None and not more:
        return None
    return Thinking(effort, show=show, extra={WIRE: more} if more else {})


def _read_text(rest: Body) -> tuple[Output | None, str | None]:
    value = rest.pop("text", None)
    if value is None:
        return None, None
    more = dict(an_object(value, "text"))
    verbosity = more.pop("verbosity", None)
    if verbosity is not None:
        a_string(verbosity, "text.verbosity")
    output = _read_format(more)
    if more:
        rest["text"] = more
    return output, verbosity


def _read_format(more: Body) -> Output | None:
    """Takes `format` out of what `text` holds; what is not understood stays there."""
    held = more.pop("format", None)
    if held is None:
        return None
    kind = an_object(held, "text.format").get("type")
    if kind not in ("json_schema", "json_object", "text"):
        more["format"] = held
        return None
    unknown = {key: value for key, value in held.items() if key not in (*_FORMAT_KEYS, "type")}
    if unknown:
        more["format"] = unknown
    if kind == "text":
        return None
    if kind == "json_object":
        return Output()
    inner = held["json_schema"] if isinstance(held.get("json_schema"), dict) else held  # nested, as Chat has it
    if inner is not held:
        more.pop("format", None)
    schema = an_object(inner.get("schema"), "text.format.schema")
    return Output(
        schema,
        or_none(a_string, inner.get("name"), "text.format.name"),
        or_none(a_string, inner.get("description"), "text.format.description"),
        or_none(a_boolean, inner.get("strict"), "text.format.strict"),
    )


# -- writing


def write_request(request: Request, notes: list[str], quirks: Quirks) -> Body:
    body: Body = {"model": request.model}
    messages = request.messages
    instructions = leading_instructions(messages, notes)
    if instructions:
        body["instructions"] = instructions
        messages = messages[1:]
    body["input"] = write_messages(messages, notes, quirks)
    if request.tools:
        written = write_tools(narrowed(request.tools, request.choice, quirks), notes, quirks)
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
    own = own_extra(request.extra, WIRE, "request", notes, FAMILY) if request.extra else {}
    body.pop("verbosity", None)  # it goes into `text`
    text = write_text(request, own)
    if text:
        body["text"] = text
    if request.thinking:
        reasoning = write_thinking(request.thinking, notes)
        if reasoning:
            body["reasoning"] = reasoning
    body.update(own)
    return body


def leading_instructions(messages: tuple[Message, ...], notes: list[str]) -> str:
    """The system prompt, where it leads and is nothing but text; an item otherwise."""
    if not messages or messages[0].role != "system" or messages[0].name is not None or WIRE in messages[0].extra:
        return ""
    parts = messages[0].parts
    if not parts or not all(type(part) is Text and WIRE not in part.extra for part in parts):
        return ""
    own_extra(messages[0].extra, WIRE, "system message", notes)
    texts: list[str] = []
    for part in parts:
        if isinstance(part, Text):
            own_extra(part.extra, WIRE, "text", notes)
            texts.append(part.text)
    return "\n\n".join(texts)


def write_text(request: Request, own: Body) -> Body:
    """`text`; takes what `own` holds of it."""
    text: Body = {}
    if request.verbosity is not None:
        text["verbosity"] = request.verbosity
    if request.output is not None:
        text["format"] = _write_format(request.output)
    more = own.pop("text", None)
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
    held: Body = {"type": "json_schema", "name": output.name or "reply", "schema": output.schema}
    if output.description is not None:
        held["description"] = output.description
    if output.strict is not None:
        held["strict"] = output.strict
    return held


def write_thinking(thinking: Thinking, notes: list[str]) -> Body:
    held: Body = {}
    if thinking.effort:
        held["effort"] = EFFORT_OUT.get(thinking.effort, thinking.effort)
    if thinking.show:
        held["summary"] = "auto"
    if thinking.extra:
        own = own_extra(thinking.extra, WIRE, "thinking", notes)
        if "generate_summary" in own:
            held.pop("summary", None)
        held.update(own)
    if thinking.budget is not None:
        notes.append("thinking budget: openai-responses has efforts only; left out")
    return held
