"""Conversations that the gateway stores, on wires that have such: the history of a request, and what is kept of a response."""

from __future__ import annotations

from functools import cache, partial
from typing import Any, Protocol, cast

import msgspec

from toolglot.client.session import STEERED
from toolglot.client.worker import in_worker
from toolglot.core.interfaces import Conversations, ResponseContext
from toolglot.core.messages import Message, Opaque, Reasoning, ToolCall, ToolResult
from toolglot.core.reply import Reply
from toolglot.core.request import Request
from toolglot.core.result_matching import match_results
from toolglot.errors import CallerError, UpstreamError
from toolglot.gateway.endpoint_call import LARGE_BODY, EndpointCall
from toolglot.gateway.response_writer import ResponseWriter
from toolglot.gateway.state import log
from toolglot.gateway.store import StoreError
from toolglot.io.json_codec import JSON_ERRORS, encode
from toolglot.pipeline.request.declared_tools import with_declared_tools

_MANY_MESSAGES = 100


class _ThreadFields(Protocol):
    instructions: Any
    previous: str | None
    store: bool | None
    generate: bool | None  # on a WebSocket


@cache
def _thread_fields(conversations: Conversations) -> type[_ThreadFields]:
    """The fields of a request, under the keys of its wire."""
    flags = [("store", bool | None, None), ("generate", bool | None, None)]
    fields = [("instructions", Any, None), ("previous", str | None, None), *flags]
    keys = {"instructions": conversations.instructions, "previous": conversations.previous}
    return cast(type[_ThreadFields], msgspec.defstruct("ThreadFields", fields, rename=keys))


async def stored_thread(call: EndpointCall, body: bytes) -> StoredThread | None:
    conversations = call.frontend.wire.conversations
    if conversations is None:
        return None
    read = partial(StoredThread, call, body, conversations)
    return await in_worker(read) if len(body) > LARGE_BODY else read()


class StoredThread:
    """A conversation that the gateway stores, on a wire that has such: its history, and the new messages."""

    def __init__(self, call: EndpointCall, body: bytes, conversations: Conversations) -> None:
        self._call, self._recent, self._size = call, call.recent, len(body)
        self._conversations = conversations
        try:
            self._fields: _ThreadFields = msgspec.json.decode(body, type=_thread_fields(conversations))
        except JSON_ERRORS as error:
            raise CallerError(str(error)) from None
        self._new_messages: tuple[Message, ...] = ()

    @property
    def stores(self) -> bool:
        return self._fields.store is not False

    @property
    def is_kept(self) -> bool:
        """Stored, or known on its WebSocket."""
        return self._recent is not None or self.stores

    @property
    def is_warm_up(self) -> bool:
        return self._fields.generate is False and self._recent is not None

    async def with_history(self, request: Request) -> Request:
        """The request with all earlier messages. Instructions of earlier requests do not apply, as in the vendors' APIs."""
        request = self._without_background(request)
        leading = 1 if self._fields.instructions else 0
        self._new_messages = request.messages[leading:]
        previous = self._fields.previous
        if not previous:
            return request
        history = await self._history(previous)
        if history is None:
            status, code = self._conversations.not_found
            raise UpstreamError(f"{self._conversations.previous}: {previous[:100]!r} not found", status, code)
        return await in_worker(partial(self._joined, request, request.messages[:leading], history))

    def _without_background(self, request: Request) -> Request:
        """The gateway itself runs responses in the background."""
        wire = self._call.frontend.wire.name
        fields = request.extra.get(wire, {})
        if self._recent is None and "background" not in fields:
            return request
        fields = {key: value for key, value in fields.items() if key not in ("background", "generate")}
        return msgspec.structs.replace(request, extra={**request.extra, wire: fields})

    async def _history(self, previous: str) -> tuple[Message, ...] | None:
        """The messages that this WebSocket knows, after those of the stored response before them."""
        recent, stored_id = self._recent.history(previous) if self._recent is not None else ((), previous)
        if stored_id is None:
            return recent
        where, shared_store = (stored_id, self._call.owner), self._call.gateway.shared_store
        if shared_store is not None:
            stored = await shared_store.history(*where)
        else:
            stored = await in_worker(partial(self._call.gateway.store.history, *where))
        return None if stored is None else (*stored, *recent)

    def _joined(self, request: Request, instructions: tuple[Message, ...], history: tuple[Message, ...]) -> Request:
        wire = self._call.frontend.wire.name
        wire_extra = {key: value for key, value in request.extra.get(wire, {}).items() if key != self._conversations.previous}
        messages = match_results((*instructions, *history, *self._new_messages))
        _check_results(messages, len(messages) - len(self._new_messages))
        request = msgspec.structs.replace(request, messages=messages, extra={**request.extra, wire: wire_extra})
        return with_declared_tools(request)

    async def save(self, response: ResponseWriter, context: ResponseContext) -> None:
        """Runs before the end of the response is sent: the client may continue the conversation right after it."""
        is_small = self._is_small(response.characters)
        reply = response.reply() if is_small else await in_worker(response.reply)
        await self.save_reply(reply, context, is_small=is_small)

    def _is_small(self, characters: int) -> bool:
        return self._size < LARGE_BODY and characters < LARGE_BODY and len(self._new_messages) < _MANY_MESSAGES

    async def save_reply(self, reply: Reply, context: ResponseContext, *, is_small: bool = True) -> None:
        """Nothing, if the response is not complete."""
        if reply.error is not None:
            return
        parts = reply.parts
        while parts and reply.stop == STEERED and type(parts[-1]) is Reasoning:
            parts = parts[:-1]  # cut short: vendors refuse a thought without what follows it
        messages = (*self._new_messages, Message("assistant", parts)) if parts else self._new_messages
        await self._keep(self._fields.previous or None, messages, reply, context, is_small)

    async def save_compacted(self, summary: Message, reply: Reply, context: ResponseContext) -> None:
        """A conversation that continues from this response has the summary alone."""
        await self._keep(None, (summary,), reply, context, is_small=True)

    async def _keep(
        self, previous: str | None, messages: tuple[Message, ...], reply: Reply, context: ResponseContext, is_small: bool
    ) -> None:
        if self._recent is not None:
            self._recent.add(context.id or "", previous, messages, self._size)
        if not self.stores:
            return
        store, shared_store = self._call.gateway.store, self._call.gateway.shared_store
        write = partial(self._written, reply, context)
        body = write() if is_small else await in_worker(write)
        row = (context.id or "", self._call.owner, previous, messages, body)
        try:
            if shared_store is not None:
                await shared_store.add(*row)
            elif store.in_memory and is_small:
                store.add(*row)
            else:
                await in_worker(partial(store.add, *row))
        except StoreError as error:  # a full disk: the client gets its response all the same
            log.error("%s: %s", self._call.exchange.request_id, error)
            self._call.record.notes.append(str(error))

    def _written(self, reply: Reply, context: ResponseContext) -> bytes:
        return encode(self._call.frontend.wire.write_reply(reply, context, []))


def _check_results(messages: tuple[Message, ...], first: int) -> None:
    """The whole conversation is known: a new result (from message `first` on) without a call is an error, as at the vendors."""
    new = [part.call_id for message in messages[first:] for part in message.parts if type(part) is ToolResult]
    if not new:
        return
    known = set[object]()
    for message in messages:
        for part in message.parts:
            if type(part) is ToolCall:
                known.add(part.id)
            elif type(part) is Opaque:
                known.update((part.block.get("call_id"), part.block.get("id")))
    unknown = next((id for id in new if id not in known), None)
    if unknown is not None:
        raise UpstreamError(f"no tool call with the id {unknown[:100]!r} is in the conversation", 400, "invalid_request_error")
