"""Ollama requests, reading and writing."""

from __future__ import annotations

from typing import Any

from toolglot.core.interfaces import Quirks
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
from toolglot.wires.ollama.messages import read_messages, write_messages
from toolglot.wires.ollama.shapes import OPTION_KEYS, OPTIONS, THINK_OUT, WIRE
from toolglot.wires.ollama.tools import allowed_tools, read_tools, write_tools


def read_request(body: Body) -> Request:
    rest = dict(body)
    model = require_string(rest.pop("model", ""), "model")
    given = rest.pop("messages", None)
    messages = read_messages([] if given is None else given)
    tools = read_tools(rest.pop("tools", None))
    stream = take_options(rest, {"stream": "stream"}).get("stream", True)
    options = _take_options(rest)
    thinking = _read_thinking(rest.pop("think", None))
    output = _read_output(rest.pop("format", None))
    return Request(
        model,
        messages,
        tools,
        stream=stream,
        stream_usage=stream,
        thinking=thinking,
        output=output,
        extra={WIRE: rest} if rest else {},
        **options,
    )


def _take_options(rest: Body) -> dict[str, Any]:
    """The options that all wires have; those that only Ollama has stay in `rest`."""
    obj = rest.pop("options", None)
    if obj is None:
        return {}
    fields = dict(require_object(obj, "options"))
    endless: Body = {}
    limit = fields.get("num_predict")
    if isinstance(limit, int) and limit < 0:  # -1: no limit, -2: as much as the context allows
        endless["num_predict"] = fields.pop("num_predict")
    try:
        found = take_options(fields, OPTIONS)
    except CallerError as error:
        raise error.within("options") from None
    fields.update(endless)
    if fields:
        rest["options"] = fields
    return found


def _read_thinking(value: Any) -> Thinking | None:
    if value is None:
        return None
    if value is True:
        return Thinking(budget=-1, show=True)  # on, without a limit, and returned
    if value is False:
        return Thinking("off")
    if isinstance(value, str) and value:
        return Thinking(value)
    raise wrong_type("think", "true, false or a string", value)


def _read_output(value: Any) -> Output | None:
    if value is None or value == "":
        return None
    if value == "json":
        return Output()
    if isinstance(value, dict):
        return Output(value)
    raise wrong_type("format", '"json" or a schema', value)


def write_request(request: Request, notes: list[str], quirks: Quirks) -> Body:
    body: Body = {
        "model": request.model,
        "messages": write_messages(request.messages, notes, quirks),
        "stream": request.stream,  # always written: the server's default is to stream
    }
    tools = write_tools(allowed_tools(request.tools, request.choice, notes), notes, quirks)
    if tools:
        body["tools"] = tools
        if request.parallel is False:
            notes.append("parallel: ollama can't limit a reply to one call; left out")
    if request.thinking:
        _put_think(request.thinking, body, notes)
    if request.output:
        body["format"] = _write_output(request.output, notes)
    options: Body = {}
    put_options(request, OPTION_KEYS, options, WIRE, notes)
    fields = wire_extra(request.extra, WIRE, "request", notes)
    options = {**fields.pop("options", {}), **options}
    if options:
        body["options"] = options
    body.update(fields)
    return body


def _put_think(thinking: Thinking, body: Body, notes: list[str]) -> None:
    effort, budget = thinking.effort, thinking.budget
    if thinking.extra:
        wire_extra(thinking.extra, WIRE, "thinking", notes)
    if thinking.show is False and effort != "off":
        notes.append("thinking hidden: ollama always returns it; left out")
    if budget is not None and budget > 0:
        notes.append("thinking budget: ollama supports only efforts; left out")
    if effort is not None:
        word = THINK_OUT.get(effort, True)
        if word not in (effort, False):
            notes.append(f"thinking effort {effort}: ollama's nearest is {'true' if word is True else word}")
        body["think"] = word
    elif budget is not None or thinking.show:
        body["think"] = budget != 0


def _write_output(output: Output, notes: list[str]) -> Any:
    lost = [field for field in ("name", "description", "strict") if getattr(output, field) is not None]
    if lost:
        notes.append(f"output {', '.join(lost)}: ollama accepts only the schema; left out")
    return "json" if output.schema is None else output.schema
