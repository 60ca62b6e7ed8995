"""The five endpoints that ask a model."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec

from toolglot.core.history import link_results
from toolglot.core.interfaces import Answering, Writer
from toolglot.core.messages import Message
from toolglot.core.request import Request
from toolglot.errors import CallerError, UpstreamError
from toolglot.gateway.attempts import Asking, Opened, open_answer
from toolglot.gateway.depth import too_deep
from toolglot.gateway.downstream import Downstream
from toolglot.gateway.exchange import Exchange
from toolglot.gateway.fronts import CHAT, GEMINI, OLLAMA, RESPONSES, AsArray, Front
from toolglot.gateway.rate_limits import Noting
from toolglot.gateway.records import Record
from toolglot.gateway.routing import Target
from toolglot.gateway.state import Gateway, Live
from toolglot.gateway.turn import Turn, begin_stream, whole_headers
from toolglot.pipeline.translate import read_request_bytes
from toolglot.text.json_text import BadJson, decode, encode, without_halves
from toolglot.wires.openai_chat.functions import is_of_old

_LONGEST = 1000  # of a header that is passed on


class Call(msgspec.Struct, frozen=True):
    """What an endpoint is given."""

    gateway: Gateway
    live: Live
    exchange: Exchange
    front: Front
    owner: str
    record: Record
    told: dict[str, str] = {}  # by the path


async def read_body(call: Call) -> bytes:
    body = await _body(call)
    _look(body, call.live.config.server.max_depth)
    return body


async def _body(call: Call) -> bytes:
    server = call.live.config.server
    return await call.exchange.body(server.max_body, server.client_timeout)


def _look(body: bytes, max_depth: int) -> None:
    if too_deep(body, max_depth):
        raise CallerError(f"the body is nested deeper than {max_depth} levels")


def read_request(call: Call, body: bytes, **told: Any) -> tuple[Request, bytes]:
    """The request, and its body as it can be read: some clients cut a text in the middle of a letter."""
    try:
        return _request(call, body, **told), body
    except CallerError:
        sound = without_halves(body)
        if sound == body:
            raise
    return _request(call, sound, **told), sound


def _request(call: Call, body: bytes, **told: Any) -> Request:
    server = call.live.config.server
    try:
        request = read_request_bytes(body, call.front.speech, lambda new: _look(new, server.max_depth), **told)
    except RecursionError:
        raise CallerError("the body is nested too deeply") from None
    if len(request.tools) > server.max_tools:
        raise CallerError(f"{len(request.tools)} tools, and {server.max_tools} are allowed", "tools")
    if not request.model:
        raise CallerError("a model must be named", "model")
    return request


async def converse(call: Call) -> None:
    body = await _body(call)
    told: dict[str, Any] = {}
    if "verb" in call.told:
        told = {"model": call.told["model"], "stream": call.told["verb"] == "streamGenerateContent"}
    request, body = read_request(call, body, **told)
    if call.front is CHAT and is_of_old(request):  # an answer of that form has a place for one call
        request = msgspec.structs.replace(request, parallel=False)
    call.record.model, call.record.stream = request.model, request.stream
    if call.front is OLLAMA and not request.messages:
        await _loaded(call, request)
        return
    thread = Thread(call, body) if call.front is RESPONSES else None
    asked = thread.continued(request) if thread is not None else request
    targets = call.live.routing.targets(request.model)
    call.exchange.watch()
    asking = _asking(call)
    _note_target(call.record, targets[0])  # where none answers, this one's error is told
    opened = await open_answer(asking, asked, targets)
    _note_opened(call.record, opened)
    content = call.live.config.server.record
    keeps = content or (thread is not None and thread.stores)
    turn = Turn(asking, call.front, asked, opened, call.record, keep=keeps, content=content)
    keeper = thread if thread is not None and thread.stores else None
    try:
        await (_stream if request.stream else _whole)(call, request, opened, turn, keeper)
    finally:
        if opened.begun is not None:  # whoever leaves before the first piece is read leaves nothing open
            await opened.begun.answer.aclose()
    if content:
        call.record.content = {"request": decode(body), "reply": msgspec.to_builtins(turn.reply().parts)}


async def _loaded(call: Call, request: Request) -> None:
    """Ollama's clients ask nothing in order to have a model loaded: there is nothing to pass on."""
    call.live.routing.targets(request.model)
    call.record.status = 200
    created = datetime.fromtimestamp(call.record.began, UTC).isoformat().replace("+00:00", "Z")
    message = {"role": "assistant", "content": ""}
    last = {"model": request.model, "created_at": created, "message": message, "done_reason": "load", "done": True}
    await call.exchange.json(last)


def _asking(call: Call) -> Asking:
    """A vendor's beta header goes with the fields that need it, to a server of the same wire and to no other."""
    name, wire = call.front.passed_on, call.front.wire.name
    value = call.exchange.header(name)[:_LONGEST] if name is not None else ""
    passed_on = {name.decode(): value} if name is not None and value else {}
    transport, limits = call.live.asking.transport, call.front.limits
    if limits is not None:
        transport = Noting(transport, call.exchange, limits)
    return msgspec.structs.replace(call.live.asking, transport=transport, wire=wire, passed_on=passed_on)


def _answering(call: Call, request: Request) -> Answering:
    made = int(call.record.began)
    return Answering(call.front.id_head + call.exchange.id, request.model, made, request.stream_usage, request)


async def _whole(call: Call, request: Request, opened: Opened, turn: Turn, keeper: Thread | None) -> None:
    answering = _answering(call, request)
    written = await turn.whole(answering)
    if keeper is not None:
        await keeper.save(turn, answering)
    call.record.status = 200
    await call.exchange.answer(200, written, whole_headers(opened, call.record))


async def _stream(call: Call, request: Request, opened: Opened, turn: Turn, keeper: Thread | None) -> None:
    exchange, front, server = call.exchange, call.front, call.live.config.server
    answering = _answering(call, request)
    save = None if keeper is None else partial(keeper.save, turn, answering)
    array = front is GEMINI and exchange.asked("alt") != "sse"
    notes: list[str] = []
    writer: Writer = front.wire.writer(answering, notes)
    if array:
        writer = AsArray(writer)
    call.record.status = 200
    call.record.first = time.time() - call.record.began
    await begin_stream(exchange, front, opened, array)
    ping = front.ping(answering.model or "")
    async with Downstream(exchange, ping, server.ping, server.client_timeout) as out:
        await turn.stream(writer, notes, out, save)
    await exchange.end()


def _note_target(record: Record, target: Target) -> None:
    record.upstream, record.target = target.upstream.name, target.route.model
    record.upstream_wire = target.route.wire.name


def _note_opened(record: Record, opened: Opened) -> None:
    _note_target(record, opened.target)
    record.way, record.tried = opened.plan.way.name, opened.tried


class _Top(msgspec.Struct):
    instructions: Any = None
    previous_response_id: str | None = None
    store: bool | None = None


class Thread:
    """A Responses conversation that this gateway keeps: what went before, and what comes to it."""

    def __init__(self, call: Call, body: bytes) -> None:
        self._call = call
        try:
            self._top = msgspec.json.decode(body, type=_Top)
        except BadJson as error:
            raise CallerError(str(error)) from None
        self._said: tuple[Message, ...] = ()

    @property
    def stores(self) -> bool:
        return self._top.store is not False

    def continued(self, request: Request) -> Request:
        """The request with all that went before it. Instructions are not handed down, as the API has it."""
        led = 1 if self._top.instructions else 0
        lead, self._said = request.messages[:led], request.messages[led:]
        previous = self._top.previous_response_id
        if not previous:
            return request
        before = self._call.gateway.store.history(previous, self._call.owner)
        if before is None:
            raise UpstreamError(
                f"previous_response_id: there is no response {previous[:100]!r} here", 400, "previous_response_not_found"
            )
        own = {key: held for key, held in request.extra.get("openai-responses", {}).items() if key != "previous_response_id"}
        messages = link_results((*lead, *before, *self._said))
        return msgspec.structs.replace(request, messages=messages, extra={**request.extra, "openai-responses": own})

    async def save(self, turn: Turn, answering: Answering) -> None:
        """Before the client is told that the response is complete: it may go on from it at once."""
        reply = turn.reply()
        if reply.error is not None:
            return
        said = (*self._said, Message("assistant", reply.parts))
        body = encode(self._call.front.wire.write_reply(reply, answering, []))
        row = (answering.id or "", self._call.owner, self._top.previous_response_id or None, said, body)
        store = self._call.gateway.store
        if store.in_memory:
            store.add(*row)
        else:
            await asyncio.to_thread(store.add, *row)
