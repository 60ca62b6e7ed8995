"""How many tokens a request has: counted where the upstream tells, else estimated (pipeline/room.py) on the high side."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from toolglot.catalog.profiles import server_kind
from toolglot.client.exchange import Sending
from toolglot.client.transport import Limits
from toolglot.core.request import Request
from toolglot.errors import CallerError, ToolglotError
from toolglot.gateway.attempts import prepared
from toolglot.gateway.converse import Call, Thread, read_body, read_request
from toolglot.gateway.routing import Target
from toolglot.pipeline.room import request_tokens
from toolglot.text.json_text import BadJson, decode, encode

_LIMITS = Limits(connect=2.0, first_byte=20.0, idle=10.0)
_COUNTED = (b"x-toolglot-tokens", b"counted")
_ESTIMATED = (b"x-toolglot-tokens", b"estimated")


async def count_anthropic(call: Call) -> None:
    request, _ = read_request(call, await read_body(call))
    tokens, how = await _count(call, request)
    await call.exchange.json({"input_tokens": tokens}, more=[how])


async def count_responses(call: Call) -> None:
    """With what went before, where the request goes on from a response that is kept here."""
    request, body = read_request(call, await read_body(call))
    tokens, how = await _count(call, Thread(call, body).continued(request))
    await call.exchange.json({"object": "response.input_tokens", "input_tokens": tokens}, more=[how])


async def count_gemini(call: Call) -> None:
    """`contents` alone, or a whole request as `generateContentRequest`."""
    body = await read_body(call)
    try:
        held = decode(body)
    except BadJson as error:
        raise CallerError(f"the body is not JSON: {error}") from None
    inner = held.get("generateContentRequest", held.get("generate_content_request")) if isinstance(held, dict) else None
    data = encode(inner) if isinstance(inner, dict) else body
    request, _ = read_request(call, data, model=call.told["model"], stream=False)
    tokens, how = await _count(call, request)
    await call.exchange.json({"totalTokens": tokens}, more=[how])


async def _count(call: Call, request: Request) -> tuple[int, tuple[bytes, bytes]]:
    call.record.model = request.model
    target = call.live.routing.targets(request.model)[0]
    counts = _COUNTS.get(server_kind(target.upstream.row.name), _COUNTS.get(target.route.wire.name))
    if counts is not None:
        try:
            return await counts(call, prepared(call.live.asking, request, target, stream=False), target), _COUNTED
        except (ToolglotError, LookupError, TypeError, *BadJson):
            pass  # a server that has no such endpoint, or is not there: what follows always works
    return request_tokens(request), _ESTIMATED


async def _llamacpp(call: Call, this: Sending, target: Target) -> int:
    """llama.cpp puts the request into the model's own template, and cuts that into tokens."""
    root, model = target.upstream.root, target.route.model
    shaped = await _asked(call, this, f"{root}/apply-template", this.body)
    content = {"model": model, "content": shaped["prompt"], "add_special": True}
    cut = await _asked(call, this, f"{root}/tokenize", encode(content))
    return len(cut["tokens"])


async def _anthropic(call: Call, this: Sending, _: Target) -> int:
    """The same request, but for what only an answer needs; other keys are refused there."""
    body = {key: value for key, value in decode(this.body).items() if key in _ANTHROPIC_KEYS}
    return _number((await _asked(call, this, f"{this.url}/count_tokens", encode(body)))["input_tokens"])


async def _responses(call: Call, this: Sending, _: Target) -> int:
    body = {key: value for key, value in decode(this.body).items() if key in _RESPONSES_KEYS}
    return _number((await _asked(call, this, f"{this.url}/input_tokens", encode(body)))["input_tokens"])


async def _gemini(call: Call, this: Sending, target: Target) -> int:
    """The whole request, tools and all; the model is named again inside of it."""
    inner = {"model": f"models/{target.route.model.removeprefix('models/')}", **decode(this.body)}
    url = this.url.partition("?")[0].rpartition(":")[0]
    return _number((await _asked(call, this, f"{url}:countTokens", encode({"generateContentRequest": inner})))["totalTokens"])


_ANTHROPIC_KEYS = frozenset({"model", "messages", "system", "tools", "tool_choice", "thinking"})
_RESPONSES_KEYS = frozenset(
    {"model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "text", "truncation"}
)
# by the kind of server, or else by its wire
_COUNTS: dict[str, Callable[[Call, Sending, Target], Awaitable[int]]] = {
    "llamacpp": _llamacpp,
    "anthropic": _anthropic,
    "openai-responses": _responses,
    "gemini": _gemini,
}


def _number(value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError
    return value


async def _asked(call: Call, this: Sending, url: str, body: bytes) -> Any:
    answer = await call.live.asking.transport.send("POST", url, this.headers, body, limits=_LIMITS)
    try:
        data = await answer.read()
    finally:
        await answer.aclose()
    if answer.status != 200:
        raise KeyError(url)
    return decode(data)
