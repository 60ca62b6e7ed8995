"""The frontends: each wire on the server side."""

from __future__ import annotations

import msgspec

from toolglot.core.events import Event
from toolglot.core.interfaces import ServerSide, Wire, Writer
from toolglot.gateway.http_exchange import HttpExchange
from toolglot.wires import wires


class Frontend(msgspec.Struct, frozen=True):
    wire: Wire

    @property
    def server(self) -> ServerSide:
        return self.wire.server


FRONTENDS = {wire.name: Frontend(wire) for wire in wires()}
# those with endpoints of their own besides chat and stored conversations
CHAT, RESPONSES, ANTHROPIC = FRONTENDS["openai-chat"], FRONTENDS["openai-responses"], FRONTENDS["anthropic"]
GEMINI, OLLAMA = FRONTENDS["gemini"], FRONTENDS["ollama"]


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
