"""Gemini Interactions requests, reading and writing."""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Message, Text
from toolglot.core.request import Output, Request, Thinking
from toolglot.errors import CallerError
from toolglot.io.request_validation import (
    Body,
    put_options,
    require_object,
    require_string,
    take_options,
    wire_extra,
    wrong_type,
)
from toolglot.wires.gemini_common import note_unnamed, with_rest
from toolglot.wires.gemini_interactions.messages import read_messages, split_system, write_messages, write_system
from toolglot.wires.gemini_interactions.shapes import LEVELS, OPTION_KEYS, OPTIONS, WIRE
from toolglot.wires.gemini_interactions.tools import read_choice, read_tools, write_choice, write_tools

_CONFIG = "generation_config"
_JSON = "application/json"
_FORMAT, _MIME = "response_format", "response_mime_type"
_FORMAT_KEYS = frozenset({"type", "mime_type", "schema"})
_FORMATS = ("text", "image", "audio", "video")
_SUMMARIES = {"auto": True, "none": False}


# -- reading


def read_request(body: Body) -> Request:
    rest = {key: value for key, value in body.items() if value is not None}
    model = require_string(rest.pop("model", ""), "model")
    if not model and "agent" in rest:
        model = require_string(rest["agent"], "agent")
    stream = take_options(rest, {"stream": "stream"}).get("stream", False)
    messages = _read_system(rest.pop("system_instruction", None)) + _read_input(rest.pop("input", None))
    tools = read_tools(rest.pop("tools", None))
    config = dict(require_object(rest.pop(_CONFIG, {}), _CONFIG))
    try:
        choice = read_choice(config.pop("tool_choice", None))
        options = take_options(config, OPTIONS)
        thinking = _read_thinking(config)
    except CallerError as error:
        raise error.within(_CONFIG) from None
    output = _read_output(rest)
    request = Request(model, messages, tools, choice, stream=stream, thinking=thinking, output=output, **options)
    return with_rest(request, WIRE, rest, _CONFIG, config)


def _read_system(value: Any) -> tuple[Message, ...]:
    if value is None or value == "":
        return ()
    return (Message("system", (Text(require_string(value, "system_instruction")),)),)


def _read_input(value: Any) -> tuple[Message, ...]:
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return (Message("user", (Text(value),)),)
    if not isinstance(value, (dict, list)):
        raise wrong_type("input", "a string, a content, or a list of steps or contents", value)
    return read_messages(value)


def _read_thinking(config: Body) -> Thinking | None:
    level, summaries = config.pop("thinking_level", None), config.pop("thinking_summaries", None)
    effort = None if level is None else require_string(level, "thinking_level")
    show = _SUMMARIES.get(summaries) if isinstance(summaries, str) else None
    extra = {WIRE: {"thinking_summaries": summaries}} if summaries is not None and show is None else {}
    return Thinking(effort, show=show, extra=extra) if effort is not None or show is not None or extra else None


def _read_output(rest: Body) -> Output | None:
    """JSON text: as a typed format, alone or in a list, or as a bare schema with the deprecated MIME type."""
    form, mime = rest.get(_FORMAT), rest.get(_MIME)
    only = form[0] if isinstance(form, list) and len(form) == 1 else form
    if form is None:
        if mime in (_JSON, "text/plain"):
            del rest[_MIME]
        return Output() if mime == _JSON else None
    if not isinstance(only, dict):
        return None  # several formats: only this API has them
    if only.get("type") not in _FORMATS or only.keys() & {"properties", "enum", "const"}:  # a bare schema
        del rest[_FORMAT]
        rest.pop(_MIME, None)
        return Output(only)
    schema = only.get("schema")
    if only["type"] != "text" or only.keys() - _FORMAT_KEYS or only.get("mime_type") not in (None, _JSON):
        return None
    if schema is None and only.get("mime_type") is None:
        del rest[_FORMAT]
        return None
    del rest[_FORMAT]
    return Output(None if schema is None else require_object(schema, f"{_FORMAT}.schema"))


# -- writing


def write_request(request: Request, notes: list[str], quirks: Quirks) -> Body:
    fields = wire_extra(request.extra, WIRE, "request", notes)
    body: Body = {"agent" if fields.pop("agent", None) else "model": request.model}
    leading, others = split_system(request.messages)
    instruction = write_system(leading, notes) if leading else ""
    if instruction:
        body["system_instruction"] = instruction
    body["input"] = write_messages(others, notes, quirks)
    config: Body = dict(fields.pop(_CONFIG, {}))
    _put_tools(request, body, config, notes, quirks)
    put_options(request, OPTION_KEYS, config, WIRE, notes)
    if request.thinking:
        _put_thinking(request.thinking, config, notes)
    if config:
        body[_CONFIG] = config
    if request.output:
        body[_FORMAT] = _write_output(request.output, notes)
    if request.stream:
        body["stream"] = True
    body.update(fields)
    return body


def _put_tools(request: Request, body: Body, config: Body, notes: list[str], quirks: Quirks) -> None:
    written = write_tools(request.tools, notes, quirks) if request.tools else []
    if not written:
        return
    body["tools"] = written
    choice = write_choice(request.choice, request.tools, notes, quirks)
    if choice is not None:
        config["tool_choice"] = choice
    if request.parallel is False:
        notes.append(f"parallel: {WIRE} does not support it; left out")


def _put_thinking(thinking: Thinking, config: Body, notes: list[str]) -> None:
    effort = thinking.effort
    if effort:
        config["thinking_level"] = level = LEVELS.get(effort, effort)
        if level != effort:
            notes.append(f"thinking effort {effort}: {WIRE} has {level} for it")
    if thinking.show is not None:
        config["thinking_summaries"] = "auto" if thinking.show else "none"
    if thinking.budget is not None:
        notes.append(f"thinking budget: {WIRE} has only levels; left out")
    config.update(wire_extra(thinking.extra, WIRE, "thinking", notes))


def _write_output(output: Output, notes: list[str]) -> Body:
    note_unnamed(output, WIRE, notes)
    form: Body = {"type": "text", "mime_type": _JSON}
    return form if output.schema is None else {**form, "schema": output.schema}


# -- a request that came on another wire


def adopt(request: Request) -> Request:
    """This API stores conversations by default. Nothing is stored unless the client asks for it."""
    fields: Body = {"store": False, **request.extra.get(WIRE, {})}
    return msgspec.structs.replace(request, extra={**request.extra, WIRE: fields})
