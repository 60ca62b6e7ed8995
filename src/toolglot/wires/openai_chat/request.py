"""OpenAI Chat requests, reading and writing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolglot.core.interfaces import Quirks
from toolglot.core.request import Output, Request, Thinking
from toolglot.core.tools import Tool
from toolglot.io.cache_marks import breakpoints_for
from toolglot.io.request_validation import (
    Body,
    optional,
    put_options,
    require_boolean,
    require_integer,
    require_object,
    require_string,
    take_options,
    wire_extra,
)
from toolglot.wires.openai_chat.messages import read_messages, write_messages
from toolglot.wires.openai_chat.shapes import OPTION_KEYS, OPTIONS, WIRE
from toolglot.wires.openai_chat.tools import (
    read_choice,
    read_function_call,
    read_functions,
    read_tools,
    write_choice,
    write_tools,
)
from toolglot.wires.openai_chat.vendor_tools import read_web_search, with_options
from toolglot.wires.openai_common import EFFORT_IN, EFFORT_OUT, FAMILY, accepted_extra, put_choice, split_extra


def read_request(body: Body) -> Request:
    rest = dict(body)
    model = require_string(rest.pop("model", ""), "model")
    messages = read_messages(rest.pop("messages", []))
    tools = read_tools(rest.pop("tools", None)) + read_functions(rest.pop("functions", None))
    tools += read_web_search(rest.pop("web_search_options", None))
    choice = read_choice(rest.pop("tool_choice", None)) or read_function_call(rest.pop("function_call", None))
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


def _take_stream_usage(rest: Body) -> bool:
    options = dict(optional(require_object, rest.pop("stream_options", None), "stream_options") or {})
    asked = optional(require_boolean, options.pop("include_usage", None), "stream_options.include_usage")
    if options:
        rest["stream_options"] = options
    return bool(asked)


def _read_thinking(rest: Body) -> Thinking | None:
    """`reasoning_effort`, or OpenRouter's `reasoning: {effort, max_tokens, exclude}`."""
    effort = optional(require_string, rest.pop("reasoning_effort", None), "reasoning_effort")
    more: Body = {}
    if isinstance(rest.get("reasoning"), dict):
        more = dict(rest.pop("reasoning"))
        effort = optional(require_string, more.pop("effort", None), "reasoning.effort") or effort
    budget = optional(require_integer, more.pop("max_tokens", None), "reasoning.max_tokens")
    if not effort and budget is None and not more:
        return None
    word = EFFORT_IN.get(effort, effort) if effort else None
    return Thinking(word, budget, extra={WIRE: more} if more else {})


def _read_output(value: Any, rest: Body) -> Output | None:
    """Keys that Output lacks are left in `rest`."""
    if value is None:
        return None
    obj = require_object(value, "response_format")
    kind = obj.get("type")
    if kind not in ("json_object", "json_schema"):
        if obj != {"type": "text"}:
            rest["response_format"] = obj
        return None
    more = {key: value for key, value in obj.items() if key not in ("type", "json_schema")}
    found: Body = {}
    if kind == "json_schema":
        inner = dict(require_object(obj.get("json_schema"), _SCHEMA))
        found = {field: optional(read, inner.pop(field, None), f"{_SCHEMA}.{field}") for field, read in _OUTPUT.items()}
        if inner:
            more["json_schema"] = inner
    if more:
        rest["response_format"] = more
    return Output(**found)


_SCHEMA = "response_format.json_schema"
_OUTPUT: dict[str, Callable[[Any, str], Any]] = {
    "schema": require_object,
    "name": require_string,
    "description": require_string,
    "strict": require_boolean,
}


def write_request(request: Request, notes: list[str], quirks: Quirks) -> Body:
    quirks = breakpoints_for(request.model, quirks) if quirks.cache_breakpoints else quirks
    request = with_options(request)
    body: Body = {"model": request.model, "messages": write_messages(request.messages, notes, quirks)}
    written = write_tools(_sent_tools(request, notes, quirks), notes, quirks) if request.tools else []
    if written:
        body["tools"] = written
        chosen = write_choice(request.choice, request.tools, notes, quirks) if request.choice is not None else None
        put_choice(request, chosen, body, notes, quirks)
    elif request.parallel is not None or (request.choice and request.choice.mode == "required"):
        notes.append("tool_choice, parallel: there are no tools to choose from; left out")
    kept = wire_extra(accepted_extra(request.extra, notes, quirks), WIRE, "request", notes, FAMILY) if request.extra else {}
    _put_stream(request, kept, body, quirks)
    table = {**OPTION_KEYS, "max_tokens": quirks.max_tokens_key, "seed": quirks.seed_key}
    if quirks.top_k:
        table["top_k"] = "top_k"
    put_options(request, table, body, WIRE, notes)
    if request.thinking:
        _put_thinking(request.thinking, body, notes)
    if request.output:
        body["response_format"] = _write_output(request.output, kept.pop("response_format", {}))
    body.update(kept)
    return body


def _sent_tools(request: Request, notes: list[str], quirks: Quirks) -> tuple[Tool, ...]:
    """All tools, or fewer if the server does not support the choice."""
    choice = request.choice
    if choice is None or (quirks.tool_choice and quirks.allowed_tools):
        return request.tools
    if choice.mode == "none" and not quirks.tool_choice:
        notes.append("tools: none may be called, and the server does not support tool_choice; left out")
        return ()
    forced = choice.mode == "required" and len(choice.names) == 1
    if not choice.names or (forced and quirks.tool_choice):
        return request.tools
    return tuple(tool for tool in request.tools if tool.name in choice.names)


def _put_stream(request: Request, kept: Body, body: Body, quirks: Quirks) -> None:
    if request.stream:
        body["stream"] = True
        if quirks.stream_usage:  # always requested: every reply has its usage
            body["stream_options"] = {"include_usage": True, **kept.pop("stream_options", {})}


def _put_thinking(thinking: Thinking, body: Body, notes: list[str]) -> None:
    fields = wire_extra(thinking.extra, WIRE, "thinking", notes)
    effort = EFFORT_OUT.get(thinking.effort, thinking.effort) if thinking.effort else None
    if fields:  # it came as OpenRouter's object and is written as one
        settings = {"effort": effort, "max_tokens": thinking.budget}
        body["reasoning"] = {**{key: value for key, value in settings.items() if value is not None}, **fields}
        return
    if effort:
        body["reasoning_effort"] = effort
    if thinking.budget is not None:
        notes.append("thinking budget: openai-chat supports only efforts; left out")
    if thinking.show is not None:
        notes.append("thinking shown: openai-chat has no such option; left out")


def _write_output(output: Output, more: Body) -> Body:
    if output.schema is None:
        return {"type": "json_object", **more}
    inner: Body = {"name": output.name or "reply", "schema": output.schema}
    if output.description is not None:
        inner["description"] = output.description
    if output.strict is not None:
        inner["strict"] = output.strict
    return {"type": "json_schema", **more, "json_schema": {**inner, **more.get("json_schema", {})}}
