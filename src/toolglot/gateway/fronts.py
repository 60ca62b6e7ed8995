"""The five front ends: a wire as this server speaks it, and what only its clients need."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from toolglot.core.events import Event
from toolglot.core.interfaces import Wire, Writer
from toolglot.errors import CallerError
from toolglot.gateway.exchange import Exchange
from toolglot.pipeline.route import Speech
from toolglot.text.json_text import encode
from toolglot.wires import find_wire

_COMMENT = b": ping\n\n"


class Front(msgspec.Struct, frozen=True):
    speech: Speech
    id_head: str  # of a reply's id
    passed_on: bytes | None  # a header that its vendor's own servers need with what is in the body
    ping: Callable[[str], bytes]  # a sign of life on a stream that its clients read over; from the model's name
    limits: str | None = None  # how headers begin in which its vendor's servers tell of rate limits
    request_header: bytes | None = None  # where its clients look for the request's id, if not in x-request-id

    @property
    def wire(self) -> Wire:
        return self.speech.wire


def _speech(name: str) -> Speech:
    wire = find_wire(name)
    if wire is None:
        raise CallerError(f"there is no wire {name}", "wire")
    return Speech(wire)


def _empty_chunk(model: str) -> bytes:
    """Ollama's clients take every line for a chunk."""
    return encode({"model": model, "message": {"role": "assistant", "content": ""}, "done": False}) + b"\n"


def _anthropic_ping(_: str) -> bytes:
    return b'event: ping\ndata: {"type": "ping"}\n\n'


_OPENAI = "x-ratelimit-"

CHAT = Front(_speech("openai-chat"), "chatcmpl-", None, lambda _: _COMMENT, _OPENAI)
RESPONSES = Front(_speech("openai-responses"), "resp_", b"openai-beta", lambda _: _COMMENT, _OPENAI)
ANTHROPIC = Front(_speech("anthropic"), "msg_", b"anthropic-beta", _anthropic_ping, "anthropic-ratelimit-", b"request-id")
# its SDK takes a comment for an error's text, and skips empty lines
GEMINI = Front(_speech("gemini"), "", None, lambda _: b"\n\n")
OLLAMA = Front(_speech("ollama"), "", None, _empty_chunk)


def told_by_headers(exchange: Exchange, otherwise: Front) -> Front:
    """Three vendors share some paths: the headers tell whose client it is."""
    headers = exchange.headers
    if b"x-goog-api-key" in headers or b"x-goog-api-client" in headers or exchange.asked("key"):
        return GEMINI
    return ANTHROPIC if b"anthropic-version" in headers else otherwise


class AsArray:
    """Gemini's stream without `alt=sse`: the same chunks as one JSON array."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._begun = False

    def feed(self, event: Event) -> bytes:
        return b"".join(map(self._item, self._writer.feed(event).split(b"\n\n")))

    def close(self) -> bytes:
        return b"".join(map(self._item, self._writer.close().split(b"\n\n"))) + (b"]" if self._begun else b"[]")

    def _item(self, chunk: bytes) -> bytes:
        if not chunk.startswith(b"data: "):
            return b""
        before, self._begun = b",\r\n" if self._begun else b"[", True
        return before + chunk[6:]
