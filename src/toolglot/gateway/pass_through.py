"""Endpoints without tool calls, passed to upstreams that have them: embeddings, completions, and Ollama's generate and embed.

Only the model's name is replaced. The response is the upstream's, byte by byte; the tokens that its end reports are counted.
Where the upstream has none, `/api/generate` is a chat.
"""

from __future__ import annotations

import re

import msgspec

from toolglot.catalog.prices import cost
from toolglot.catalog.profiles import server_kind
from toolglot.client.cloud_credentials import send
from toolglot.client.keys import without_key
from toolglot.client.transport import Answer
from toolglot.core.reply import Usage
from toolglot.errors import CallerError, UpstreamError
from toolglot.gateway.endpoint_call import EndpointCall, read_body
from toolglot.gateway.generate_as_chat import GENERATE, fits_chat, generate_as_chat
from toolglot.gateway.http_exchange import header_text
from toolglot.gateway.routing import MAX_NAME, Candidate
from toolglot.io.json_codec import JSON_ERRORS, encode
from toolglot.pipeline.request.route import provider_url

_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_NAME = msgspec.json.Decoder(str)
_END = 4096  # bytes in which the tokens are reported
_INPUT, _OUTPUT = ("prompt_tokens", "prompt_eval_count"), ("completion_tokens", "eval_count")
_TOKENS = re.compile(rb'"(prompt_tokens|prompt_eval_count|completion_tokens|eval_count)"\s*:\s*(\d{1,12})\b')


async def forward(call: EndpointCall) -> None:
    try:
        body = await read_body(call)
        fields = _FIELDS.decode(body)
        model = _NAME.decode(fields["model"])
    except KeyError:
        raise CallerError("is missing", "model") from None
    except JSON_ERRORS as error:
        raise CallerError(f"the body is not usable: {error}") from None
    call.record.model = model[:MAX_NAME]
    candidate = call.live.routing.candidates(model)[0]
    route = candidate.target.route
    call.record.upstream, call.record.target, call.record.upstream_wire = candidate.upstream.name, route.model, route.wire.name
    path, has_it = _upstream_path(call, candidate)
    if not has_it and path == GENERATE and fits_chat(fields):
        generate_as_chat(call, fields)
        return
    if not has_it:
        raise UpstreamError(f"{path} is not supported by upstream {candidate.upstream.name}", 404, "not_found")
    fields["model"] = msgspec.Raw(encode(route.model))
    headers = {"Content-Type": "application/json", **route.provider.headers, **candidate.target.headers}
    session = call.live.session
    call.exchange.watch_disconnect()
    url = provider_url(route.provider, path)
    answer = await send(session.transport, route.provider, "POST", url, headers, body=encode(fields), limits=session.limits)
    try:
        if answer.status >= 300:
            failed = route.wire.read_error(answer.status, answer.headers, await answer.read())
            raise without_key(failed, headers)  # some servers repeat the key in their error
        await _copy(call, candidate, answer, len(body))
    finally:
        await answer.aclose()


def _upstream_path(call: EndpointCall, candidate: Candidate) -> tuple[str, bool]:
    """The same path, and whether the upstream has it."""
    path = call.exchange.path.rstrip("/")
    provider = candidate.target.route.provider
    if path.startswith("/api/"):
        has_it = server_kind(provider.name) == "ollama"
    else:
        path = path if path.startswith("/v1/") else f"/v1{path}"
        has_it = path in candidate.target.route.wire.other_paths
    return path, has_it and not candidate.upstream.embedded


async def _copy(call: EndpointCall, candidate: Candidate, answer: Answer, sent: int) -> None:
    call.record.status = answer.status
    media_type = answer.headers.get("content-type", "application/json")
    upstream = header_text([candidate.name])
    await call.exchange.start(answer.status, header_text([media_type]), [(b"x-toolglot-upstream", upstream)])
    end, length = b"", 0
    try:
        async for chunk in answer:
            end, length = (end + chunk)[-_END:], length + len(chunk)
            await call.exchange.send_chunk(chunk)
        await call.exchange.end()
    finally:
        _count_tokens(call, candidate, end)
        call.estimate_usage(candidate, sent, length)


def _count_tokens(call: EndpointCall, candidate: Candidate, end: bytes) -> None:
    """In a text of the model the quotes have backslashes, so that it can't report tokens."""
    found = {name.decode(): int(number) for name, number in _TOKENS.findall(end)}
    input, output = (next((found[name] for name in names if name in found), None) for names in (_INPUT, _OUTPUT))
    if input is None:
        return
    record, usage = call.record, Usage(input, output)
    record.input, record.output = usage.input, usage.output
    record.cost = cost(record.target, candidate.upstream.row.name, usage, call.live.config.prices)
