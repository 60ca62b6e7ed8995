"""Token counts of requests: from the upstream if it can count, else an estimate on the high side (context_budget)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import msgspec

from toolglot.catalog.profiles import server_kind
from toolglot.client.cloud_credentials import send
from toolglot.client.exchange import HttpRequest
from toolglot.client.transport import Limits
from toolglot.client.worker import in_worker
from toolglot.core.interfaces import TokenCount
from toolglot.core.request import Request
from toolglot.errors import CallerError, ToolglotError
from toolglot.gateway.endpoint_call import EndpointCall, read_body, read_request
from toolglot.gateway.routing import MAX_NAME, Candidate
from toolglot.gateway.stored_thread import stored_thread
from toolglot.gateway.upstream_request import Client, for_target
from toolglot.io.json_codec import JSON_ERRORS, decode, decode_in_parts, encode, encode_in_parts
from toolglot.pipeline.request.context_budget import request_tokens

_MANY = 200  # messages
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LIMITS = Limits(connect=2.0, first_byte=20.0, idle=10.0)
_COUNTED = (b"x-toolglot-tokens", b"counted")
_ESTIMATED = (b"x-toolglot-tokens", b"estimated")


async def count_anthropic(call: EndpointCall) -> None:
    request, _ = await read_request(call, await read_body(call))
    tokens, source = await _count(call, request)
    await call.exchange.json({"input_tokens": tokens}, more=[source])


async def count_responses(call: EndpointCall) -> None:
    """With the history, if the request continues a stored response."""
    request, body = await read_request(call, await read_body(call))
    thread = await stored_thread(call, body)
    tokens, source = await _count(call, await thread.with_history(request) if thread is not None else request)
    await call.exchange.json({"object": "response.input_tokens", "input_tokens": tokens}, more=[source])


async def count_gemini(call: EndpointCall) -> None:
    """`contents` alone, or a whole request as `generateContentRequest`."""
    body = await read_body(call)
    request, _ = await read_request(call, _inner_request(body) or body, model=call.path_params["model"], stream=False)
    tokens, source = await _count(call, request)
    await call.exchange.json({"totalTokens": tokens}, more=[source])


def _inner_request(body: bytes) -> bytes | None:
    """An object in `generateContentRequest`; its text, because a large one is parsed in a worker thread."""
    try:
        fields = _FIELDS.decode(body)
    except msgspec.ValidationError:  # no object
        return None
    except JSON_ERRORS as error:
        raise CallerError(f"the body is not JSON: {error}") from None
    inner = bytes(fields.get("generateContentRequest") or fields.get("generate_content_request") or b"")
    return inner if inner.startswith(b"{") else None


async def _count(call: EndpointCall, request: Request) -> tuple[int, tuple[bytes, bytes]]:
    call.record.model = request.model[:MAX_NAME]
    candidate = call.live.routing.candidates(request.model)[0]
    count = _counter(candidate)
    if count is not None:
        try:
            whole = msgspec.structs.replace(request, stream=False)
            client = Client(call.frontend.wire.name)
            http_request = await call.live.session.planned(*for_target(client, whole, candidate.target))
            return await count(call, http_request, candidate), _COUNTED
        except (ToolglotError, LookupError, TypeError, *JSON_ERRORS):
            pass  # the server has no such endpoint or is down: the estimate always works
    estimate = partial(request_tokens, request)
    return await in_worker(estimate) if len(request.messages) > _MANY else estimate(), _ESTIMATED


def _counter(candidate: Candidate) -> Callable[[EndpointCall, HttpRequest, Candidate], Awaitable[int]] | None:
    """By the kind of server, else as its wire declares."""
    if server_kind(candidate.upstream.row.name) == "llamacpp":
        return _llamacpp
    counter = candidate.target.route.wire.count_tokens
    return None if counter is None else partial(_declared, counter)


async def _declared(counter: TokenCount, call: EndpointCall, http_request: HttpRequest, candidate: Candidate) -> int:
    def made() -> tuple[str, bytes]:
        sent = {key: decode_in_parts(value) for key, value in _FIELDS.decode(http_request.body).items()}
        url, body = counter.request(candidate.target.route.model, http_request.url, sent)
        return url, encode_in_parts(body)

    url, data = await in_worker(made)
    return _number((await _post(call, http_request, url, data))[counter.key])


async def _llamacpp(call: EndpointCall, http_request: HttpRequest, candidate: Candidate) -> int:
    """llama.cpp renders the request with the model's template, then tokenizes it."""
    root, model = candidate.upstream.root, candidate.target.route.model
    rendered = await _post(call, http_request, f"{root}/apply-template", http_request.body)
    content = {"model": model, "content": rendered["prompt"], "add_special": True}
    tokenized = await _post(call, http_request, f"{root}/tokenize", encode(content))
    return len(tokenized["tokens"])


def _number(value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError
    return value


async def _post(call: EndpointCall, http_request: HttpRequest, url: str, body: bytes) -> Any:
    transport, row = call.live.session.transport, http_request.plan.route.provider
    response = await send(transport, row, "POST", url, http_request.headers, body=body, limits=_LIMITS)
    try:
        data = await response.read()
    finally:
        await response.aclose()
    if response.status != 200:
        raise KeyError(url)
    return decode(data)
