"""A whole request, both ways, as Ollama has it."""

from __future__ import annotations

from typing import Any

from toolglot.core.interfaces import Quirks
from toolglot.core.request import Output, Request, Thinking
from toolglot.errors import CallerError
from toolglot.reading.shape import Body, a_string, an_object, misfit, own_extra, put_options, take_options
from toolglot.wires.ollama.messages import read_messages, write_messages
from toolglot.wires.ollama.shapes import OPTION_KEYS, OPTIONS, THINK_OUT, WIRE, count
from toolglot.wires.ollama.tools import chosen, read_tools, write_tools


def read_request(body: Body) -> Request:
    rest = dict(body)
    model = a_string(rest.pop("model", ""), "model")
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
    """The options that all wires know; those that are Ollama's own stay where they were."""
    held = rest.pop("options", None)
    if held is None:
        return {}
    own = dict(an_object(held, "options"))
    endless: Body = {}
    if (count(own.get("num_predict")) or 1) < 0:  # -1: no limit, -2: as the context holds; no number of tokens
        endless["num_predict"] = own.pop("num_predict")
    try:
        found = take_options(own, OPTIONS)
    except CallerError as error:
        raise error.within("options") from None
    own.update(endless)
    if own:
        rest["options"] = own
    return found


def _read_thinking(value: Any) -> Thinking | None:
    if value is None:
        return None
    if value is True:
        return Thinking(budget=-1, show=True)  # on, as much as the model likes, and to be seen
    if value is False:
        return Thinking("off")
    if isinstance(value, str) and value:
        return Thinking(value)
    raise misfit("think", "true, false or a word", value)


def _read_output(value: Any) -> Output | None:
    if value is None or value == "":
        return None
    if value == "json":
        return Output()
    if isinstance(value, dict):
        return Output(value)
    raise misfit("format", '"json" or a schema', value)


def write_request(request: Request, notes: list[str], quirks: Quirks) -> Body:
    body: Body = {
        "model": request.model,
        "messages": write_messages(request.messages, notes, quirks),
        "stream": request.stream,  # said always: the server's default is to stream
    }
    tools = write_tools(chosen(request.tools, request.choice, notes), notes, quirks)
    if tools:
        body["tools"] = tools
        if request.parallel is False:
            notes.append("parallel: ollama can't be held to one call at a time; left out")
    if request.thinking:
        _put_think(request.thinking, body, notes)
    if request.output:
        body["format"] = _write_output(request.output, notes)
    options: Body = {}
    put_options(request, OPTION_KEYS, options, WIRE, notes)
    own = own_extra(request.extra, WIRE, "request", notes)
    options = {**own.pop("options", {}), **options}
    if options:
        body["options"] = options
    body.update(own)
    return body


def _put_think(thinking: Thinking, body: Body, notes: list[str]) -> None:
    effort, budget = thinking.effort, thinking.budget
    if thinking.extra:
        own_extra(thinking.extra, WIRE, "thinking", notes)
    if thinking.show is False and effort != "off":
        notes.append("thinking hidden: ollama shows what it thinks; left out")
    if budget is not None and budget > 0:
        notes.append("thinking budget: ollama has efforts only; left out")
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
        notes.append(f"output {', '.join(lost)}: ollama takes the schema alone; left out")
    return "json" if output.schema is None else output.schema
