"""Build the HTTP request for a conversation without sending it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

import msgspec

from toolglot.catalog.providers import AUTH_HEADERS, Provider
from toolglot.core.request import Output, Request
from toolglot.io.request_validation import optional, require_object, wrong_type
from toolglot.pipeline.convert import write_request
from toolglot.pipeline.detect_tool_format import read_any_choice, read_any_tools
from toolglot.pipeline.request.fit_request import fit_request
from toolglot.pipeline.request.options import ModelOptions, ResponseSchema, ToolChoice
from toolglot.pipeline.request.plan import Plan
from toolglot.pipeline.request.route import Route, WireFormat, resolve, wire_format
from toolglot.pipeline.response.extract import toolset
from toolglot.wires import DEFAULT

Body = dict[str, Any]


class PreparedRequest(msgspec.Struct, frozen=True):
    """An HTTP request without its API key: the header has the name of the environment variable."""

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
    tool_choice: ToolChoice = "auto",
    stream: bool = False,
    response_schema: ResponseSchema = None,
    ask: str = "auto",
    nonce: str | None = None,
    larger_context: bool = False,
    wire: str | None = None,
    **options: Unpack[ModelOptions],
) -> PreparedRequest:
    """The request for `model` ("provider/model"). `messages` are OpenAI Chat's, or one question as a string.

    `options` are named as in OpenAI Chat (temperature, max_tokens, reasoning_effort, parallel_tool_calls, ...); a server's own
    fields go in `extra_body`.
    `response_schema` is a JSON Schema, or True for JSON mode without one. `ask` is the tool mode: auto chooses by the model's
    profile; else native, dialect:<name> or constrained. `nonce` marks the calls of a dialect. `larger_context` requests a
    larger window if the prompt does not fit and the API has an option for it. `wire` selects another API of the same server
    (`wire="ollama"` for Ollama's native API).

    Examples:
        >>> request = prepare("Hello", "ollama/qwen3:8b", temperature=0)
        >>> request.url, request.body["temperature"]
        ('http://127.0.0.1:11434/v1/chat/completions', 0)
    """
    route = resolve(model, wire)
    request = build_request(
        messages, route, tools, tool_choice=tool_choice, stream=stream, response_schema=response_schema, **options
    )
    return to_prepared_request(fit_request(request, route, ask=ask, nonce=nonce, larger_context=larger_context))


def build_request(
    messages: Any,
    route: Route,
    tools: Iterable[Any] = (),
    *,
    tool_choice: ToolChoice = "auto",
    stream: bool = False,
    response_schema: ResponseSchema = None,
    **options: Unpack[ModelOptions],
) -> Request:
    """Build a Request from the caller's arguments."""
    fields: Body = {**options}
    more = optional(require_object, fields.pop("extra_body", None), "extra_body") or {}
    body: Body = {"model": route.model, "messages": _message_list(messages), "stream": stream, **fields, **more}
    request = wire_format(DEFAULT).wire.read_request(body)
    all_tools = request.tools + read_any_tools(tools, route.wire.name)
    return msgspec.structs.replace(
        request,
        tools=toolset(all_tools),
        choice=request.choice or read_any_choice(tool_choice, all_tools),
        output=request.output or read_schema(response_schema),
    )


def to_prepared_request(plan: Plan) -> PreparedRequest:
    route, notes = plan.route, list(plan.notes)
    request = msgspec.structs.replace(plan.request, tools=tuple(plan.request.tools))  # no cached bytes
    body = write_request(request, WireFormat(route.wire, route.provider.quirks), notes)
    sent = {key: value for key, value in body.items() if key not in route.wire.path_keys}
    return PreparedRequest("POST", route.url(plan.request.stream), headers(route.provider), sent, tuple(notes))


def headers(row: Provider) -> dict[str, str]:
    result = {"Content-Type": "application/json", **row.headers}
    if row.key and not row.key_optional and row.auth != "none":
        header, before = AUTH_HEADERS[row.auth]
        result[header] = f"{before}${row.key}"
    return result


def read_schema(schema: Any) -> Output | None:
    """The response schema, unchanged; True is JSON mode without a schema."""
    if schema is None or schema is False:
        return None
    if schema is True:
        return Output()
    if not isinstance(schema, dict):
        raise wrong_type("response_schema", "a JSON Schema, or True for JSON mode", schema)
    title = schema.get("title")
    return Output(schema, title if isinstance(title, str) and title.isidentifier() else None)


def _message_list(messages: Any) -> list[Any]:
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    if isinstance(messages, (list, tuple)):
        return list(messages)
    raise wrong_type("messages", "a list of messages, or a question as a string", messages)
