"""Anthropic requests, reading and writing."""

from __future__ import annotations

from typing import Any

from toolglot.core.interfaces import Quirks
from toolglot.core.request import Output, Request, Thinking
from toolglot.io.request_validation import Body, optional, put_options, require_object, require_string, take_options, wire_extra
from toolglot.wires.anthropic.messages import read_messages, read_system, write_messages, write_system
from toolglot.wires.anthropic.shapes import DEFAULT_MAX_TOKENS, OPTION_KEYS, OPTIONS, WIRE
from toolglot.wires.anthropic.thinking import put_thinking, read_thinking
from toolglot.wires.anthropic.tools import put_tools, read_choice, read_parallel, read_tools


def read_request(body: Body) -> Request:
    rest = dict(body)
    model = require_string(rest.pop("model", ""), "model")
    system, given = rest.pop("system", None), rest.pop("messages", [])
    messages = read_system(system) if system is not None else ()
    if given != []:  # else they were read from their bytes
        messages += read_messages(given)
    tools = read_tools(rest.pop("tools", None))
    choice = rest.pop("tool_choice", None)
    options = take_options(rest, OPTIONS)
    user, output, thinking = _take_objects(rest) if rest else (None, None, None)
    return Request(
        model,
        messages,
        tools,
        read_choice(choice) if choice is not None else None,
        read_parallel(choice) if choice is not None else None,
        stream_usage=options.get("stream", False),
        user=user,
        thinking=thinking,
        output=output,
        extra={WIRE: rest} if rest else {},
        **options,
    )


def _take_objects(rest: Body) -> tuple[str | None, Output | None, Thinking | None]:
    """`metadata`, `output_config` and `thinking`. What Request lacks stays in `rest`."""
    user = _take_user(rest)
    config = _take_object(rest, "output_config")
    output = _take_output(rest, config)
    thinking = read_thinking(rest.pop("thinking", None), config)
    if config:
        rest["output_config"] = config
    return user, output, thinking


def _take_object(rest: Body, key: str) -> Body:
    return dict(optional(require_object, rest.pop(key, None), key) or {})


def _take_user(rest: Body) -> str | None:
    metadata = _take_object(rest, "metadata")
    user: str | None = optional(require_string, metadata.pop("user_id", None), "metadata.user_id")
    if metadata:
        rest["metadata"] = metadata
    return user


def _take_output(rest: Body, config: Body) -> Output | None:
    """`output_config.format`, or `output_format` as it was before; a format of another kind stays where it is."""
    for holder, key, where in ((config, "format", "output_config.format"), (rest, "output_format", "output_format")):
        value = holder.get(key)
        if value is not None and require_object(value, where).get("type") == "json_schema":
            del holder[key]
            return Output(require_object(value.get("schema"), f"{where}.schema"))
    return None


def write_request(request: Request, notes: list[str], quirks: Quirks) -> Body:
    system, messages = write_system(request.messages, notes, quirks)
    body: Body = {"model": request.model, "messages": write_messages(messages, notes, quirks)}
    if system is not None:
        body["system"] = system
    if request.tools:
        put_tools(request, body, notes, quirks)
    if request.stream:
        body["stream"] = True
    put_options(request, OPTION_KEYS, body, WIRE, notes)
    _fit_options(body, notes)
    config: Body = {}
    if request.thinking:
        put_thinking(request.thinking, body, config, notes)
    if request.output:
        _put_output(request.output, config, notes)
    if config:
        body["output_config"] = config
    if request.extra:
        _put_extra(wire_extra(request.extra, WIRE, "request", notes), body)
    return body


def _fit_options(body: Body, notes: list[str]) -> None:
    """Limits that other wires don't have."""
    if "metadata" in body:
        body["metadata"] = {"user_id": body["metadata"]}
    if "max_tokens" not in body:
        body["max_tokens"] = DEFAULT_MAX_TOKENS
        notes.append(f"max_tokens: anthropic requires a number; {DEFAULT_MAX_TOKENS} was written")
    if body.get("temperature", 0) > 1:
        notes.append(f"temperature {body['temperature']}: anthropic's maximum is 1; 1 was written")
        body["temperature"] = 1.0
    if "stop_sequences" in body:
        kept = [text for text in body["stop_sequences"] if text.strip()]
        if len(kept) < len(body["stop_sequences"]):
            notes.append("stop: anthropic rejects text that is only white space; left out")
            body["stop_sequences"] = kept


def _put_output(output: Output, config: Body, notes: list[str]) -> None:
    if output.schema is None:
        notes.append("output: anthropic has no JSON mode without a schema; left out")
        return
    config["format"] = {"type": "json_schema", "schema": output.schema}
    lost = [key for key in ("name", "description", "strict") if getattr(output, key) is not None]
    if lost:
        notes.append(f"output {', '.join(lost)}: anthropic has no such option; left out")


def _put_extra(fields: Body, body: Body) -> None:
    for key, value in fields.items():
        written: Any = body.get(key)
        both = isinstance(value, dict) and isinstance(written, dict)
        body[key] = {**value, **written} if both else value


_COUNTED = frozenset({"model", "messages", "system", "tools", "tool_choice", "thinking"})  # the keys that count_tokens accepts


def count_request(_: str, url: str, body: Body) -> tuple[str, Body]:
    return f"{url}/count_tokens", {key: value for key, value in body.items() if key in _COUNTED}
