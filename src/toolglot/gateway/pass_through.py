"""Endpoints without tool calls, passed to upstreams that have them: embeddings, completions, and Ollama's generate and embed.

Only the model's name is replaced. The response is the upstream's, byte by byte.
"""

from __future__ import annotations

import msgspec

from toolglot.catalog.profiles import server_kind
from toolglot.client.keys import without_key
from toolglot.client.transport import Answer
from toolglot.errors import CallerError, UpstreamError
from toolglot.gateway.chat_endpoints import EndpointCall, read_body
from toolglot.gateway.http_exchange import header_text
from toolglot.gateway.routing import MAX_NAME, Candidate
from toolglot.io.json_codec import JSON_ERRORS, encode
from toolglot.pipeline.request.route import provider_url

_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_NAME = msgspec.json.Decoder(str)


async def forward(call: EndpointCall) -> None:
    try:
        fields = _FIELDS.decode(await read_body(call))
        model = _NAME.decode(fields["model"])
    except KeyError:
        raise CallerError("is missing", "model") from None
    except JSON_ERRORS as error:
        raise CallerError(f"the body is not usable: {error}") from None
    call.record.model = model[:MAX_NAME]
    candidate = call.live.routing.candidates(model)[0]
    route = candidate.target.route
    call.record.upstream, call.record.target, call.record.upstream_wire = candidate.upstream.name, route.model, route.wire.name
    path = _upstream_path(call, candidate)
    fields["model"] = msgspec.Raw(encode(route.model))
    headers = {"Content-Type": "application/json", **route.provider.headers, **candidate.target.headers}
    session = call.live.session
    call.exchange.watch_disconnect()
    answer = await session.transport.send(
        "POST", provider_url(route.provider, path), headers, encode(fields), limits=session.limits
    )
    try:
        if answer.status >= 300:
            failed = route.wire.read_error(answer.status, answer.headers, await answer.read())
            raise without_key(failed, headers)  # some servers repeat the key in their error
        await _copy(call, candidate, answer)
    finally:
        await answer.aclose()


def _upstream_path(call: EndpointCall, candidate: Candidate) -> str:
    """The same path, where the upstream speaks the client's API."""
    path = call.exchange.path.rstrip("/")
    provider = candidate.target.route.provider
    if path.startswith("/api/"):
        has_it = server_kind(provider.name) == "ollama"
    else:
        path = path if path.startswith("/v1/") else f"/v1{path}"
        has_it = path in candidate.target.route.wire.other_paths
    if not has_it or candidate.upstream.embedded:
        raise UpstreamError(f"{path} is not supported by upstream {candidate.upstream.name}", 404, "not_found")
    return path


async def _copy(call: EndpointCall, candidate: Candidate, answer: Answer) -> None:
    call.record.status = answer.status
    media_type = answer.headers.get("content-type", "application/json")
    upstream = header_text([candidate.name])
    await call.exchange.start(answer.status, header_text([media_type]), [(b"x-toolglot-upstream", upstream)])
    async for chunk in answer:
        await call.exchange.send_chunk(chunk)
    await call.exchange.end()
