"""Compaction: a long conversation becomes a summary that only this gateway can open.

An upstream that compacts gets the request. For every other model, the routed model itself writes the summary. It is stored like
a response, visible to its key alone; the client gets a reference to it, and what it stands for goes to the model again when the
client sends it back.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from toolglot.catalog.prices import cost
from toolglot.client.cloud_credentials import send
from toolglot.client.keys import without_key
from toolglot.core.fold import unfold
from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Message, Opaque, Text
from toolglot.core.reply import Reply, Stop
from toolglot.core.request import Request
from toolglot.errors import CallerError, UpstreamError
from toolglot.gateway.chat_endpoints import response_context
from toolglot.gateway.endpoint_call import EndpointCall, read_body, read_request
from toolglot.gateway.http_exchange import header_text
from toolglot.gateway.internal_exchange import InternalExchange, passed_on
from toolglot.gateway.routing import MAX_NAME, Candidate
from toolglot.gateway.stored_thread import stored_thread
from toolglot.io.json_codec import JSON_ERRORS, encode
from toolglot.pipeline.request.route import provider_url

PATH = "/v1/responses/compact"
_ITEMS = frozenset({"compaction", "compaction_summary"})
_TRIGGER = "compaction_trigger"
HAS_TRIGGER = b'"compaction_trigger"'
OUR_COMPACTION = b'"toolglot:cmp_'
_PREFIX = "toolglot:"  # of a reference, before its id
_ID = "cmp_"
_HAS_NO_SUCH_PATH = frozenset({404, 405, 501})
_NOT_SENT = frozenset({"stream", "background", "text", "tool_choice", "store", "prompt_cache_key", "generate"})

_REQUEST = (
    "Write a summary of the conversation above. It replaces the conversation for whoever continues the work, so keep what they "
    "need: the goals and constraints, what was done and found (names, paths, values, errors), decisions and their reasons, and "
    "what is still to do. Write only the summary."
)
_SUMMARY = "Summary of the conversation so far:\n\n"

Body = dict[str, Any]
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])


# -- what a client sends back


async def open_compactions(call: EndpointCall, body: bytes) -> bytes:
    """The body with our compaction items as the summaries that they stand for."""
    if OUR_COMPACTION not in body:
        return body
    try:
        fields = _FIELDS.decode(body)
        items = msgspec.json.decode(fields.get("input", b"null"))
    except JSON_ERRORS:  # whoever reads the request says what is wrong
        return body
    if not isinstance(items, list):
        return body
    opened = [await _opened(call, item) for item in items]
    return encode({**fields, "input": opened})


async def _opened(call: EndpointCall, item: Any) -> Any:
    if not isinstance(item, dict) or item.get("type") not in _ITEMS:
        return item
    reference = item.get("encrypted_content")
    if not isinstance(reference, str) or not reference.startswith(_PREFIX):
        return item  # another server's
    where, shared = (reference.removeprefix(_PREFIX), call.owner), call.gateway.shared_store
    messages = call.gateway.store.history(*where) if shared is None else await shared.history(*where)
    if not messages:
        problem = "this compaction item is unknown: this gateway did not make it with this key, or has deleted it"
        raise UpstreamError(problem, 400, "compaction_not_found")
    return call.frontend.wire.write_messages(messages, [], Quirks())[0]


# -- POST /v1/responses/compact


async def compact(call: EndpointCall) -> None:
    request, body = await read_request(call, await open_compactions(call, await read_body(call)))
    call.record.model = request.model[:MAX_NAME]
    full = await _with_history(call, request, body)
    candidate = call.live.routing.candidates(request.model)[0]
    may_have_it = PATH in candidate.target.route.wire.other_paths and not candidate.upstream.embedded
    if may_have_it and await _forwarded(call, candidate, full, body):
        return
    if not full.messages:
        raise CallerError("is missing or empty", "input")
    call.exchange.unrecorded = True  # the summary's request has its own record
    call.exchange.later = partial(_compact_here, call, full, body)


async def _with_history(call: EndpointCall, request: Request, body: bytes) -> Request:
    thread = await stored_thread(call, body)
    return request if thread is None else await thread.with_history(request)


async def _forwarded(call: EndpointCall, candidate: Candidate, request: Request, body: bytes) -> bool:
    """Whether the upstream compacts. A conversation that is stored here is sent in full."""
    route, session = candidate.target.route, call.live.session
    fields = {**_FIELDS.decode(body), "model": msgspec.Raw(encode(route.model))}
    if fields.pop("previous_response_id", None) not in (None, b"null"):
        written = route.wire.write_messages(request.messages, [], Quirks())
        fields["input"] = msgspec.Raw(encode(written[1:] if "instructions" in fields else written))
    headers = {"Content-Type": "application/json", **route.provider.headers, **candidate.target.headers}
    call.exchange.watch_disconnect()
    url = provider_url(route.provider, PATH)
    answer = await send(session.transport, route.provider, "POST", url, headers, body=encode(fields), limits=session.limits)
    try:
        data = await answer.read()
        if answer.status in _HAS_NO_SUCH_PATH:
            return False
        call.record.upstream, call.record.target = candidate.upstream.name, route.model
        call.record.upstream_wire = route.wire.name
        if answer.status >= 300:
            raise without_key(route.wire.read_error(answer.status, answer.headers, data), headers)
    finally:
        await answer.aclose()
    try:
        usage = route.wire.read_reply(msgspec.json.decode(data), None).usage
    except msgspec.DecodeError:
        raise UpstreamError("the response is not JSON, or was cut off", 502, "bad_answer") from None
    if usage is not None:
        call.record.input, call.record.output = usage.input, usage.output
        call.record.cost = cost(route.model, candidate.upstream.row.name, usage, call.live.config.prices)
    call.record.status = 200
    await call.exchange.respond(200, data, [(b"x-toolglot-upstream", header_text([candidate.name]))])
    return True


async def _compact_here(call: EndpointCall, full: Request, body: bytes) -> None:
    _, item, raw = await _summarize(call, body)
    users = tuple(message for message in full.messages if message.role == "user" and not _is_summary(message))
    written = call.frontend.wire.write_messages(users, [], Quirks())
    stem = item["id"].removeprefix(_ID)[:40]
    items = [{"id": f"msg_{stem}_{at}", "status": "completed", **one} for at, one in enumerate(written)]
    compacted = {
        "id": call.frontend.server.id_prefix + call.exchange.id,
        "object": "response.compaction",
        "created_at": int(call.record.began),
        "output": [*items, item],
        "usage": raw["usage"],
    }
    await call.exchange.json(compacted)


def _is_summary(message: Message) -> bool:
    first = message.parts[0] if message.parts else None
    return isinstance(first, Text) and first.text.startswith(_SUMMARY)


# -- `compaction_trigger` at the end of a request's input


def is_triggered(call: EndpointCall, request: Request, body: bytes) -> bool:
    """Whether the response is a compaction that the gateway makes. An upstream of the same wire gets the trigger."""
    items = msgspec.json.decode(_FIELDS.decode(body).get("input", b"null"))
    if not (isinstance(items, list) and items and isinstance(items[-1], dict) and items[-1].get("type") == _TRIGGER):
        return False
    return call.live.routing.candidates(request.model)[0].target.route.wire is not call.frontend.wire


def respond_to_trigger(call: EndpointCall, request: Request, body: bytes) -> None:
    fields = _FIELDS.decode(body)
    fields["input"] = msgspec.Raw(encode(msgspec.json.decode(fields["input"])[:-1]))
    call.exchange.unrecorded = True
    call.exchange.later = partial(_respond_with_compaction, call, request, encode(fields))


async def _respond_with_compaction(call: EndpointCall, request: Request, body: bytes) -> None:
    summary, item, _ = await _summarize(call, body)
    context, wire = response_context(call, request), call.frontend.wire
    reply = Reply(context.id, request.model, (Opaque(wire.name, item),), Stop("stop"), summary.usage)
    if (thread := await stored_thread(call, body)) is not None:
        await thread.save_compacted(_summary_message(summary.text), reply, context)
    if not request.stream:
        await call.exchange.json(wire.write_reply(reply, context, []))
        return
    writer = wire.writer(context, [])
    data = b"".join([writer.feed(event) for event in unfold(reply)]) + writer.close()
    await call.exchange.respond(200, data, media_type=wire.media_type.encode())


# -- the summary


async def _summarize(call: EndpointCall, body: bytes) -> tuple[Reply, Body, Body]:
    """The model's reply, the compaction item, and the reply as this API writes it. Raises the error of the model's server."""
    fields = {name: value for name, value in _FIELDS.decode(body).items() if name not in _NOT_SENT}
    given = msgspec.json.decode(fields.pop("input", b"null"))
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given or []
    sent = {**fields, "input": [*items, {"role": "user", "content": _REQUEST}], "store": False, "stream": False}
    if "tools" in fields:
        sent["tool_choice"] = "none"
    exchange = InternalExchange(
        "/v1/responses", encode(sent), call.caller, passed_on(call.exchange.headers), recent=call.recent, rated=False
    )
    await exchange.run(call.gateway.handle)
    if exchange.failure is not None:
        raise exchange.failure
    raw: Body = msgspec.json.decode(exchange.response_body)
    reply = call.frontend.wire.read_reply(raw, None)
    called = b"rejected_" in exchange.response_headers.get(b"x-toolglot-decisions", b"")  # then the text is the gateway's
    if called or not reply.text.strip():
        raise UpstreamError("the model wrote no summary", 502, "no_summary")
    id = _ID + exchange.id
    item = {"id": id, "type": "compaction", "encrypted_content": _PREFIX + id}
    row = (id, call.owner, None, (_summary_message(reply.text),), encode(item))
    if call.gateway.shared_store is not None:
        await call.gateway.shared_store.add(*row)
    else:
        call.gateway.store.add(*row)
    return reply, item, raw


def _summary_message(summary: str) -> Message:
    return Message("user", (Text(_SUMMARY + summary.strip()),))
