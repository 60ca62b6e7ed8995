"""The five frontends: a wire on the server side, and what only its clients need."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from toolglot.core.events import Event
from toolglot.core.interfaces import Wire, Writer
from toolglot.errors import CallerError
from toolglot.gateway.http_exchange import HttpExchange
from toolglot.io.json_codec import encode
from toolglot.wires import find_wire

_COMMENT = b": ping\n\n"


class Frontend(msgspec.Struct, frozen=True):
    wire: Wire
    id_prefix: str  # of response ids
    forwarded_headers: tuple[bytes, ...]  # request headers that go to upstreams of the same wire
    ping: Callable[[str], bytes]  # keep-alive bytes on a stream that its clients ignore; takes the model's name
    rate_limit_prefix: str | None = None  # of the rate-limit headers of its vendor
    request_id_header: bytes | None = None  # where its clients expect the request id, besides x-request-id


def _wire(name: str) -> Wire:
    wire = find_wire(name)
    if wire is None:
        raise CallerError(f"unknown wire {name}", "wire")
    return wire


def _empty_chunk(model: str) -> bytes:
    """Ollama's clients read every line as a chunk."""
    return encode({"model": model, "message": {"role": "assistant", "content": ""}, "done": False}) + b"\n"


def _anthropic_ping(_: str) -> bytes:
    return b'event: ping\ndata: {"type": "ping"}\n\n'


_OPENAI_LIMITS = "x-ratelimit-"

CHAT = Frontend(_wire("openai-chat"), "chatcmpl-", (), lambda _: _COMMENT, _OPENAI_LIMITS)
RESPONSES = Frontend(_wire("openai-responses"), "resp_", (b"openai-beta",), lambda _: _COMMENT, _OPENAI_LIMITS)
ANTHROPIC = Frontend(
    _wire("anthropic"),
    "msg_",
    (b"anthropic-beta", b"anthropic-version"),
    _anthropic_ping,
    "anthropic-ratelimit-",
    b"request-id",
)
# Gemini's SDK reads an SSE comment as an error message, but skips empty lines
GEMINI = Frontend(_wire("gemini"), "", (), lambda _: b"\n\n")
OLLAMA = Frontend(_wire("ollama"), "", (), _empty_chunk)


def frontend_from_headers(exchange: HttpExchange, default: Frontend) -> Frontend:
    """Three APIs share some paths: the request headers show which client it is."""
    headers = exchange.headers
    if b"x-goog-api-key" in headers or b"x-goog-api-client" in headers or exchange.query_value("key"):
        return GEMINI
    return ANTHROPIC if b"anthropic-version" in headers else default


class JsonArrayWriter:
    """Gemini's stream without `alt=sse`: the same chunks as one JSON array."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._started = False

    def feed(self, event: Event) -> bytes:
        return b"".join(map(self._item, self._writer.feed(event).split(b"\n\n")))

    def close(self) -> bytes:
        return b"".join(map(self._item, self._writer.close().split(b"\n\n"))) + (b"]" if self._started else b"[]")

    def _item(self, chunk: bytes) -> bytes:
        if not chunk.startswith(b"data: "):
            return b""
        separator, self._started = b",\r\n" if self._started else b"[", True
        return separator + chunk[6:]
