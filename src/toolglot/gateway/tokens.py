"""How many tokens a request has: counted where the upstream tells, else estimated (pipeline/room.py) on the high side."""

from __future__ import annotations

from typing import Any

from toolglot.catalog.profiles import KINDS
from toolglot.client.transport import Limits
from toolglot.core.request import Request
from toolglot.errors import CallerError, ToolglotError
from toolglot.gateway.attempts import prepared
from toolglot.gateway.converse import Call, read_body, read_request
from toolglot.gateway.routing import Target
from toolglot.pipeline.room import request_tokens
from toolglot.text.json_text import BadJson, decode, encode

_LIMITS = Limits(connect=2.0, first_byte=20.0, idle=10.0)
_COUNTED = (b"x-toolglot-tokens", b"counted")
_ESTIMATED = (b"x-toolglot-tokens", b"estimated")


async def count_anthropic(call: Call) -> None:
    request = read_request(call, await read_body(call))
    tokens, how = await _count(call, request)
    await call.exchange.json({"input_tokens": tokens}, more=[how])


async def count_gemini(call: Call) -> None:
    """`contents` alone, or a whole request as `generateContentRequest`."""
    body = await read_body(call)
    try:
        held = decode(body)
    except BadJson as error:
        raise CallerError(f"the body is not JSON: {error}") from None
    inner = held.get("generateContentRequest", held.get("generate_content_request")) if isinstance(held, dict) else None
    data = encode(inner) if isinstance(inner, dict) else body
    request = read_request(call, data, model=call.told["model"], stream=False)
    tokens, how = await _count(call, request)
    await call.exchange.json({"totalTokens": tokens}, more=[how])


async def _count(call: Call, request: Request) -> tuple[int, tuple[bytes, bytes]]:
    call.record.model = request.model
    target = call.live.routing.targets(request.model)[0]
    if KINDS.get(target.upstream.row.name) == "llamacpp":
        try:
            return await _llamacpp(call, request, target), _COUNTED
        except (ToolglotError, KeyError, TypeError, *BadJson):
            pass  # an older server, or one that is not there: what follows always works
    return request_tokens(request), _ESTIMATED


async def _llamacpp(call: Call, request: Request, target: Target) -> int:
    """llama.cpp puts the request into the model's own template, and cuts that into tokens."""
    this = prepared(call.live.asking, request, target, stream=False)
    root, model = target.upstream.root, target.route.model
    shaped = await _asked(call, target, f"{root}/apply-template", this.body)
    content = {"model": model, "content": shaped["prompt"], "add_special": True}
    cut = await _asked(call, target, f"{root}/tokenize", encode(content))
    return len(cut["tokens"])


async def _asked(call: Call, target: Target, url: str, body: bytes) -> Any:
    headers = {"Content-Type": "application/json", **target.headers}
    answer = await call.live.asking.transport.send("POST", url, headers, body, limits=_LIMITS)
    try:
        data = await answer.read()
    finally:
        await answer.aclose()
    if answer.status != 200:
        raise KeyError(url)
    return decode(data)
