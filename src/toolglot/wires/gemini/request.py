"""A whole request, both ways, as Gemini has it. `model` and `stream`, which the API has in its path, are keys here."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from toolglot.core.interfaces import Quirks
from toolglot.core.request import Output, Request, Thinking
from toolglot.errors import CallerError
from toolglot.reading.shape import a_string, an_object, own_extra, put_options, take_options
from toolglot.wires.gemini.messages import read_messages, read_system, split_system, write_messages, write_system
from toolglot.wires.gemini.schemas import read_schema
from toolglot.wires.gemini.shapes import LEVEL_IN, LEVEL_OUT, OPTION_KEYS, OPTIONS, WIRE, camel, count, rest_of
from toolglot.wires.gemini.tools import read_choice, read_tools, write_choice, write_tools

Body = dict[str, Any]

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
    model = a_string(rest.pop("model", None) or "", "model").removeprefix("models/")
    stream = take_options(rest, {"stream": "stream"}).get("stream", False)
    messages = read_messages(rest.pop("contents", None) or [])
    instruction = rest.pop("systemInstruction", None)
    if instruction:
        messages = (_system(instruction), *messages)
    tools = read_tools(rest.pop("tools", None))
    choice = read_choice(_take_tool_config(rest))
    config = dict(camel(an_object(rest.pop(_CONFIG, None) or {}, _CONFIG)))
    try:
        options = take_options(config, OPTIONS)
        thinking = _read_thinking(config)
        output = _read_output(config)
    except CallerError as error:
        raise error.within(_CONFIG) from None
    if config:
        rest[_CONFIG] = config
    return Request(
        model,
        messages,
        tools,
        choice,
        stream=stream,
        stream_usage=stream,
        thinking=thinking,
        output=output,
        extra={WIRE: rest} if rest else {},
        **options,
    )


def _system(value: Any) -> Any:
    try:
        return read_system(value)
    except CallerError as error:
        raise error if error.where == "systemInstruction" else error.within("systemInstruction") from None


def _take_tool_config(rest: Body) -> Any:
    """The choice's part of toolConfig; what else it holds stays in `rest`."""
    value = rest.pop("toolConfig", None)
    if value is None:
        return None
    held = dict(camel(an_object(value, "toolConfig")))
    calling = held.pop("functionCallingConfig", None)
    if isinstance(calling, dict):
        more = rest_of(camel(calling), _CHOICE_KEYS)
        if more:
            held["functionCallingConfig"] = more
    if held:
        rest["toolConfig"] = held
    return None if calling is None else {"functionCallingConfig": calling}


def _read_thinking(config: Body) -> Thinking | None:
    held = config.pop("thinkingConfig", None)
    if held is None:
        return None
    more = dict(camel(an_object(held, "thinkingConfig")))
    level, budget, show = more.pop("thinkingLevel", None), more.pop("thinkingBudget", None), more.pop("includeThoughts", None)
    effort = LEVEL_IN.get(level.upper()) if isinstance(level, str) else None
    tokens = count(int(budget) if isinstance(budget, float) and budget.is_integer() else budget)
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
            return Output(an_object(plain, "responseJsonSchema"))
        if openapi is not None:
            return Output(read_schema(an_object(openapi, "responseSchema"), "responseSchema"))
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
    own = own_extra(request.extra, WIRE, "request", notes)
    _put_tools(request, body, own.pop("toolConfig", None), notes, quirks)
    config: Body = dict(own.pop(_CONFIG, {}))
    put_options(request, OPTION_KEYS, config, WIRE, notes)
    if request.thinking:
        _put_thinking(request.thinking, config, notes)
    if request.output:
        _put_output(request.output, config, notes)
    if config:
        body[_CONFIG] = config
    body.update(own)
    return body


def _put_tools(request: Request, body: Body, own: Body | None, notes: list[str], quirks: Quirks) -> None:
    written = write_tools(request.tools, notes, quirks) if request.tools else []
    if not written:
        if own:
            body["toolConfig"] = own
        return
    body["tools"] = written
    config = dict(own or {})
    choice = write_choice(request.choice, request.tools, notes, quirks)
    if choice:
        config["functionCallingConfig"] = {**choice, **config.get("functionCallingConfig", {})}
    if config:
        body["toolConfig"] = config
    if request.parallel is False:
        notes.append("parallel: gemini has no switch for it; left out")


def _put_thinking(thinking: Thinking, config: Body, notes: list[str]) -> None:
    """A budget or a level: Gemini refuses both together."""
    held: Body = {}
    if thinking.show is not None:
        held["includeThoughts"] = thinking.show
    effort = thinking.effort
    if thinking.budget is not None:
        held["thinkingBudget"] = thinking.budget
        if effort:
            notes.append(f"thinking effort {effort}: gemini takes a budget or a level; the budget is sent")
    elif effort == "off":
        held["thinkingBudget"] = 0
    elif effort:
        level = LEVEL_OUT.get(effort)
        if level is None:
            notes.append(f"thinking effort {effort}: gemini has no such level; left out")
        else:
            held["thinkingLevel"] = level
            if LEVEL_IN[level] != effort:
                notes.append(f"thinking effort {effort}: gemini's highest is {level}")
    held.update(own_extra(thinking.extra, WIRE, "thinking", notes))
    if held:
        config["thinkingConfig"] = held


def _put_output(output: Output, config: Body, notes: list[str]) -> None:
    config["responseMimeType"] = _JSON
    if output.schema is not None:
        config["responseJsonSchema"] = output.schema
    for field in ("name", "description"):
        if getattr(output, field) is not None:
            notes.append(f"output {field}: gemini has no place for it; left out")
