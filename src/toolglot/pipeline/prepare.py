"""Exactly what would be sent, without sending it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from toolglot.catalog.providers import AUTH_HEADERS, Provider
from toolglot.core.request import Output, Request
from toolglot.pipeline.convert import write_request
from toolglot.pipeline.extract import toolset
from toolglot.pipeline.fit import fit
from toolglot.pipeline.plan import Plan
from toolglot.pipeline.route import Route, Speech, resolve, speech
from toolglot.pipeline.tool_forms import read_any_choice, read_any_tools
from toolglot.reading.shape import misfit

Body = dict[str, Any]


class Call(msgspec.Struct, frozen=True):
    """An HTTP request, ready but for the key: secrets are shown as the names of their variables."""

    method: str
    url: str
    headers: dict[str, str]
    body: Body
    notes: tuple[str, ...] = ()


def prepare(
    messages: Any,
    model: str,
    tools: Iterable[Any] = (),
    *,
    tool_choice: Any = "auto",
    stream: bool = False,
    response_schema: Any = None,
    ask: str = "auto",
    nonce: str | None = None,
    larger_context: bool = False,
    wire: str | None = None,
    **options: Any,
) -> Call:
    """The request for `model` ("provider/model"). `messages` are OpenAI Chat's, or one question as a string.

    `options` are named as in OpenAI Chat (temperature, max_tokens, reasoning_effort, parallel_tool_calls, ...).
    `response_schema` is a JSON Schema, or True for JSON mode without one. `ask`: auto chooses by what is known of the model;
    native, dialect:<name> and constrained say how. `nonce` marks the calls of a dialect. `larger_context` asks for a larger
    window where the prompt would not fit and the API has a word for it. `wire` is another API that the same server speaks
    (`wire="ollama"` for Ollama's own).
    """
    route = resolve(model, wire)
    request = read_question(
        messages, route, tools, tool_choice=tool_choice, stream=stream, response_schema=response_schema, **options
    )
    return to_call(fit(request, route, ask=ask, nonce=nonce, larger_context=larger_context))


def read_question(
    messages: Any,
    route: Route,
    tools: Iterable[Any] = (),
    *,
    tool_choice: Any = "auto",
    stream: bool = False,
    response_schema: Any = None,
    **options: Any,
) -> Request:
    """What a caller hands in, as a Request."""
    body: Body = {"model": route.model, "messages": _listed(messages), "stream": stream, **options}
    request = speech("openai-chat").wire.read_request(body)
    all_tools = request.tools + read_any_tools(tools, route.wire.name)
    return msgspec.structs.replace(
        request,
        tools=toolset(all_tools),
        choice=request.choice or read_any_choice(tool_choice, all_tools),
        output=request.output or read_schema(response_schema),
    )


def to_call(plan: Plan) -> Call:
    route, notes = plan.route, list(plan.notes)
    request = msgspec.structs.replace(plan.request, tools=tuple(plan.request.tools))  # for people to see, not bytes made once
    body = write_request(request, Speech(route.wire, route.provider.quirks), notes)
    sent = {key: value for key, value in body.items() if key not in route.wire.path_keys}
    return Call("POST", route.url(plan.request.stream), headers(route.provider), sent, tuple(notes))


def headers(row: Provider) -> dict[str, str]:
    held = {"Content-Type": "application/json", **row.headers}
    if row.key and not row.key_optional and row.auth != "none":
        header, before = AUTH_HEADERS[row.auth]
        held[header] = f"{before}${row.key}"
    return held


def read_schema(schema: Any) -> Output | None:
    """A response's schema, kept as it is; True is JSON mode without one."""
    if schema is None or schema is False:
        return None
    if schema is True:
        return Output()
    if not isinstance(schema, dict):
        raise misfit("response_schema", "a JSON Schema, or True for JSON mode", schema)
    title = schema.get("title")
    return Output(schema, title if isinstance(title, str) and title.isidentifier() else None)


def _listed(messages: Any) -> list[Any]:
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    if isinstance(messages, (list, tuple)):
        return list(messages)
    raise misfit("messages", "a list of messages, or a question as a string", messages)
