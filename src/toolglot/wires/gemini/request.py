"""Gemini requests, reading and writing. `model` and `stream`, which the API has in its path, are keys here."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from toolglot.core.interfaces import Quirks
from toolglot.core.request import Output, Request, Thinking
from toolglot.errors import CallerError
from toolglot.io.reply_values import token_count
from toolglot.io.request_validation import (
    Body,
    put_options,
    require_object,
    require_string,
    take_options,
    unknown_keys,
    wire_extra,
)
from toolglot.wires.gemini.messages import read_messages, read_system, split_system, write_messages, write_system
from toolglot.wires.gemini.schemas import read_schema
from toolglot.wires.gemini.shapes import LEVEL_IN, LEVEL_OUT, OPTION_KEYS, OPTIONS, WIRE, camel
from toolglot.wires.gemini.tools import read_choice, read_tools, write_choice, write_tools
from toolglot.wires.gemini_common import note_unnamed, with_rest

_CONFIG = "generationConfig"
_JSON = "application/json"
_CHOICE_KEYS = frozenset({"mode", "allowedFunctionNames"})
_JSON_WORDS = frozenset({_JSON, "application_json"})


def path(model: str, stream: bool) -> str:
    name = model if model.startswith(("models/", "tunedModels/")) else f"models/{model}"
    return f"/v1beta/{quote(name, safe='/:@')}:" + ("streamGenerateContent?alt=sse" if stream else "generateContent")


# -- reading


def read_request(body: Body) -> Request:
    rest = dict(camel(body))
    model = require_string(rest.pop("model", None) or "", "model").removeprefix("models/")
    stream = take_options(rest, {"stream": "stream"}).get("stream", False)
    messages = read_messages(rest.pop("contents", None) or [])
    instruction = rest.pop("systemInstruction", None)
    if instruction:
        messages = (_system(instruction), *messages)
    tools = read_tools(rest.pop("tools", None))
    choice = read_choice(_take_tool_config(rest))
    config = dict(camel(require_object(rest.pop(_CONFIG, None) or {}, _CONFIG)))
    try:
        options = take_options(config, OPTIONS)
        thinking = _read_thinking(config)
        output = _read_output(config)
    except CallerError as error:
        raise error.within(_CONFIG) from None
    request = Request(model, messages, tools, choice, stream=stream, thinking=thinking, output=output, **options)
    return with_rest(request, WIRE, rest, _CONFIG, config)


def _system(value: Any) -> Any:
    try:
        return read_system(value)
    except CallerError as error:
        raise error if error.where == "systemInstruction" else error.within("systemInstruction") from None


def _take_tool_config(rest: Body) -> Any:
    """The tool choice in toolConfig; its other keys stay in `rest`."""
    value = rest.pop("toolConfig", None)
    if value is None:
        return None
    obj = dict(camel(require_object(value, "toolConfig")))
    calling = obj.pop("functionCallingConfig", None)
    if isinstance(calling, dict):
        more = unknown_keys(camel(calling), _CHOICE_KEYS)
        if more:
            obj["functionCallingConfig"] = more
    if obj:
        rest["toolConfig"] = obj
    return None if calling is None else {"functionCallingConfig": calling}


def _read_thinking(config: Body) -> Thinking | None:
    obj = config.pop("thinkingConfig", None)
    if obj is None:
        return None
    more = dict(camel(require_object(obj, "thinkingConfig")))
    level, budget, show = more.pop("thinkingLevel", None), more.pop("thinkingBudget", None), more.pop("includeThoughts", None)
    effort = LEVEL_IN.get(level.upper(), level.lower()) if isinstance(level, str) else None
    effort = None if effort == "thinking_level_unspecified" else effort
    tokens = -1 if budget == -1 else token_count(budget)  # -1: the model chooses
    if tokens == 0 and effort is None:
        effort, tokens = "off", None
    shown = show if isinstance(show, bool) else None
    thinking = Thinking(effort, tokens, shown, {WIRE: more} if more else {})
    return None if thinking == Thinking() else thinking


def _read_output(config: Body) -> Output | None:
    """JSON mode, with a schema of either kind, in the old keys or in `responseFormat`."""
    form = config.get("responseFormat")
    text = _text_format(form)
    if text is not None:
        del config["responseFormat"]
        return Output(text)
    mime = config.get("responseMimeType")
    plain, openapi = config.get("responseJsonSchema"), config.get("responseSchema")
    if mime == "text/plain":
        del config["responseMimeType"]
    elif mime in (None, _JSON):
        for key in ("responseMimeType", "responseJsonSchema", "responseSchema"):
            config.pop(key, None)
        if plain is not None:
            return Output(require_object(plain, "responseJsonSchema"))
        if openapi is not None:
            return Output(read_schema(require_object(openapi, "responseSchema"), "responseSchema"))
        return Output() if mime else None
    return None


def _text_format(form: Any) -> Body | None:
    """The schema in `responseFormat` where that asks for JSON text and nothing else."""
    only = form[0] if isinstance(form, list) and len(form) == 1 else form
    text = only.get("text") if isinstance(only, dict) and len(only) == 1 else None
    if not isinstance(text, dict):
        return None
    text = camel(text)
    mime, schema = text.get("mimeType", _JSON), text.get("jsonSchema") or text.get("schema")
    return schema if isinstance(schema, dict) and isinstance(mime, str) and mime.lower() in _JSON_WORDS else None


# -- writing


def write_request(request: Request, notes: list[str], quirks: Quirks) -> Body:
    body: Body = {"model": request.model}
    if request.stream:
        body["stream"] = True
    leading, others = split_system(request.messages)
    instruction = write_system(leading, notes) if leading else None
    if instruction:
        body["systemInstruction"] = instruction
    body["contents"] = write_messages(others, notes, quirks)
    fields = wire_extra(request.extra, WIRE, "request", notes)
    _put_tools(request, body, fields.pop("toolConfig", None), notes, quirks)
    config: Body = dict(fields.pop(_CONFIG, {}))
    put_options(request, OPTION_KEYS, config, WIRE, notes)
    if request.thinking:
        _put_thinking(request.thinking, config, notes)
    if request.output:
        _put_output(request.output, config, notes)
    if config:
        body[_CONFIG] = config
    body.update(fields)
    return body


def _put_tools(request: Request, body: Body, fields: Body | None, notes: list[str], quirks: Quirks) -> None:
    written = write_tools(request.tools, notes, quirks) if request.tools else []
    if not written:
        if fields:
            body["toolConfig"] = fields
        return
    body["tools"] = written
    config = dict(fields or {})
    choice = write_choice(request.choice, request.tools, notes, quirks)
    if choice:
        config["functionCallingConfig"] = {**choice, **config.get("functionCallingConfig", {})}
    if config:
        body["toolConfig"] = config
    if request.parallel is False:
        notes.append("parallel: gemini does not support it; left out")


def _put_thinking(thinking: Thinking, config: Body, notes: list[str]) -> None:
    """A budget or a level: Gemini rejects both together."""
    obj: Body = {}
    if thinking.show is not None:
        obj["includeThoughts"] = thinking.show
    effort = thinking.effort
    if thinking.budget is not None:
        obj["thinkingBudget"] = thinking.budget
        if effort:
            notes.append(f"thinking effort {effort}: gemini accepts a budget or a level; the budget is sent")
    elif effort == "off":
        obj["thinkingBudget"] = 0
    elif effort:
        level = LEVEL_OUT.get(effort)
        if level is None:
            notes.append(f"thinking effort {effort}: gemini has no such level; left out")
        else:
            obj["thinkingLevel"] = level
            if LEVEL_IN[level] != effort:
                notes.append(f"thinking effort {effort}: gemini's highest is {level}")
    obj.update(wire_extra(thinking.extra, WIRE, "thinking", notes))
    if obj:
        config["thinkingConfig"] = obj


def _put_output(output: Output, config: Body, notes: list[str]) -> None:
    config["responseMimeType"] = _JSON
    if output.schema is not None:
        config["responseJsonSchema"] = output.schema
    note_unnamed(output, WIRE, notes)


def count_request(model: str, url: str, body: Body) -> tuple[str, Body]:
    """countTokens needs the model inside the request too."""
    inner = {"model": f"models/{model.removeprefix('models/')}", **body}
    return f"{url.partition('?')[0].rpartition(':')[0]}:countTokens", {"generateContentRequest": inner}
