"""Ollama's `/api/generate` for upstreams that have only chat: the prompt is a user message; the chat's lines get its form."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from toolglot.gateway.endpoint_call import EndpointCall
from toolglot.gateway.internal_exchange import InternalExchange, passed_on
from toolglot.io.json_codec import decode, encode

GENERATE, _CHAT = "/api/generate", "/api/chat"
_SHARED = frozenset({"model", "stream", "options", "format", "think", "keep_alive"})
_HEADERS = (b"x-toolglot-upstream", b"x-toolglot-notes", b"x-toolglot-decisions")
_OF_THE_PROMPT = ("raw", "suffix", "template", "context")  # they need the model's own prompt

Fields = dict[str, msgspec.Raw]


def fits_chat(fields: Fields) -> bool:
    return not any(name in fields and decode(fields[name]) for name in _OF_THE_PROMPT)


def generate_as_chat(call: EndpointCall, fields: Fields) -> None:
    """Runs after this request has left its slot, for the chat takes one of its own, and has the record."""
    call.exchange.unrecorded = True
    call.exchange.later = partial(_run, call, encode(_chat(fields)))


def _chat(fields: Fields) -> dict[str, Any]:
    given = {name: decode(fields[name]) for name in ("prompt", "images", "system") if name in fields}
    user = {"role": "user", "content": given.get("prompt") or "", "images": given.get("images") or []}
    system = [{"role": "system", "content": given["system"]}] if given.get("system") else []
    asks = user["content"] or user["images"]  # else the model is loaded
    shared = {name: value for name, value in fields.items() if name in _SHARED}
    return {**shared, "messages": [*system, user] if asks else []}


async def _run(call: EndpointCall, body: bytes) -> None:
    exchange = call.exchange

    async def on_chunk(data: bytes) -> None:
        if not exchange.started:
            headers = [(name, chat.response_headers[name]) for name in _HEADERS if name in chat.response_headers]
            await exchange.start(chat.status, chat.response_headers[b"content-type"], headers)
        await exchange.send_chunk(b"".join(map(_line, data.splitlines())))

    chat = InternalExchange(_CHAT, body, call.caller, passed_on(exchange.headers), on_chunk=on_chunk, rated=False)
    exchange.watch_disconnect()
    await chat.run(call.gateway.handle)
    if chat.failure is not None and not exchange.started:
        raise chat.failure
    await exchange.end()


def _line(line: bytes) -> bytes:
    fields: dict[str, Any] = decode(line)
    message = fields.pop("message", None)
    if message is None:  # an error
        return line + b"\n"
    head = {name: fields.pop(name) for name in ("model", "created_at") if name in fields}
    thinking = {"thinking": message["thinking"]} if message.get("thinking") else {}
    return encode({**head, "response": message.get("content", ""), **thinking, **fields}) + b"\n"
