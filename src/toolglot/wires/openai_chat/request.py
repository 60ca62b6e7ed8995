"""A whole request, both ways, as OpenAI Chat has it."""

from __future__ import annotations

from typing import Any

from toolglot.core.interfaces import Quirks
from toolglot.core.request import Output, Request, Thinking
from toolglot.core.tools import Choice
from toolglot.reading.shape import a_string, an_object, own_extra, put_options, take_options
from toolglot.wires.openai_chat.messages import read_messages, write_messages
from toolglot.wires.openai_chat.shapes import (
    EFFORT_IN,
    EFFORT_OUT,
    FAMILY,
    FAMILY_KEYS,
    OPTION_KEYS,
    OPTIONS,
    WIRE,
)
from toolglot.wires.openai_chat.tools import read_choice, read_functions, read_tools, write_choice, write_tools

Body = dict[str, Any]


def read_request(body: Body) -> Request:
    rest = dict(body)
    model = a_string(rest.pop("model", ""), "model")
    messages = read_messages(rest.pop("messages", []))
    tools = read_tools(rest.pop("tools", None)) + read_functions(rest.pop("functions", None))
    choice = read_choice(rest.pop("tool_choice", None) or _legacy_choice(rest.pop("function_call", None)))
    options = take_options(rest, OPTIONS)
    usage = _take_stream_usage(rest)
    thinking = _read_thinking(rest)
    output = _read_output(rest.pop("response_format", None), rest)
    return Request(
        model,
        messages,
        tools,
        choice,
        stream_usage=usage,
        thinking=thinking,
        output=output,
        extra=split_extra(rest, WIRE),
        **options,
    )


def split_extra(rest: Body, wire: str) -> dict[str, Body]:
    """What is left: keys of both OpenAI wires, and keys of this one."""
    both = {key: rest.pop(key) for key in list(rest) if key in FAMILY_KEYS}
    extra = {FAMILY: both, wire: rest}
    return {name: held for name, held in extra.items() if held}


def _legacy_choice(value: Any) -> Any:
    return {"function": value} if isinstance(value, dict) else value


def _take_stream_usage(rest: Body) -> bool:
    options = rest.get("stream_options")
    if not isinstance(options, dict) or "include_usage" not in options:
        return False
    more = {key: value for key, value in options.items() if key != "include_usage"}
    del rest["stream_options"]
    if more:
        rest["stream_options"] = more
    return bool(options["include_usage"])


def _read_thinking(rest: Body) -> Thinking | None:
    """`reasoning_effort`, or OpenRouter's `reasoning: {effort, max_tokens, exclude}`."""
    effort = rest.pop("reasoning_effort", None)
    held = rest.get("reasoning")
    more: Body = {}
    if isinstance(held, dict):
        more = dict(rest.pop("reasoning"))
        effort = more.pop("effort", None) or effort
    budget = more.pop("max_tokens", None)
    if not effort and budget is None and not more:
        return None
    word = EFFORT_IN.get(effort, effort) if isinstance(effort, str) else None
    return Thinking(word, budget if isinstance(budget, int) else None, extra={WIRE: more} if more else {})


def _read_output(value: Any, rest: Body) -> Output | None:
    if value is None:
        return None
    held = an_object(value, "response_format")
    kind = held.get("type")
    if kind == "json_object":
        return Output()
    if kind == "json_schema":
        inner = an_object(held.get("json_schema"), "response_format.json_schema")
        return Output(inner.get("schema"), inner.get("name"), inner.get("description"), inner.get("strict"))
    if kind != "text":
        rest["response_format"] = held
    return None


def write_request(request: Request, notes: list[str], quirks: Quirks) -> Body:
    body: Body = {"model": request.model, "messages": write_messages(request.messages, notes, quirks)}
    if request.tools:
        tools = request.tools
        narrowed = request.choice and request.choice.names and not (quirks.tool_choice and quirks.allowed_tools)
        if narrowed and request.choice and not (quirks.tool_choice and len(request.choice.names) == 1):
            tools = tuple(tool for tool in tools if tool.name in request.choice.names)
        written = write_tools(tools, notes, quirks)
        if written:
            body["tools"] = written
            _put_choice(request, body, notes, quirks)
    _put_stream(request, body, quirks)
    table = {**OPTION_KEYS, "max_tokens": quirks.max_tokens_key, "seed": quirks.seed_key}
    if quirks.top_k:
        table["top_k"] = "top_k"
    put_options(request, table, body, WIRE, notes)
    if request.thinking:
        _put_thinking(request.thinking, body, notes)
    if request.output:
        body["response_format"] = _write_output(request.output)
    if request.extra:
        body.update(own_extra(request.extra, WIRE, "request", notes, FAMILY))
    return body


def _put_choice(request: Request, body: Body, notes: list[str], quirks: Quirks) -> None:
    choice = request.choice or Choice()
    if request.choice is not None:
        written = write_choice(choice, request.tools, notes, quirks)
        if written is not None:
            body["tool_choice"] = written
    if request.parallel is not None:
        if quirks.parallel_control:
            body["parallel_tool_calls"] = request.parallel
        else:
            notes.append("parallel: the server has no switch for it; left out")


def _put_stream(request: Request, body: Body, quirks: Quirks) -> None:
    if request.stream:
        body["stream"] = True
        if quirks.stream_usage:  # asked for always: every reply carries its usage
            body["stream_options"] = {"include_usage": True}


def _put_thinking(thinking: Thinking, body: Body, notes: list[str]) -> None:
    own = own_extra(thinking.extra, WIRE, "thinking", notes)
    effort = EFFORT_OUT.get(thinking.effort, thinking.effort) if thinking.effort else None
    if own:  # it came as OpenRouter's object and goes so again
        told = {"effort": effort, "max_tokens": thinking.budget}
        body["reasoning"] = {**{key: value for key, value in told.items() if value is not None}, **own}
        return
    if effort:
        body["reasoning_effort"] = effort
    if thinking.budget is not None:
        notes.append("thinking budget: openai-chat has efforts only; left out")
    if thinking.show is not None:
        notes.append("thinking shown: openai-chat has no such switch; left out")


def _write_output(output: Output) -> Body:
    if output.schema is None:
        return {"type": "json_object"}
    inner: Body = {"name": output.name or "reply", "schema": output.schema}
    if output.description is not None:
        inner["description"] = output.description
    if output.strict is not None:
        inner["strict"] = output.strict
    return {"type": "json_schema", "json_schema": inner}
