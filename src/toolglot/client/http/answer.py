"""An HTTP response for its reader: the chunks that have arrived, and a wait for the next."""

from __future__ import annotations

from asyncio import CancelledError, Future
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import TYPE_CHECKING, Self

from toolglot.client.http.decode import CodingError, Decompressor, decompressor
from toolglot.client.http.faults import transport_error
from toolglot.client.transport import Limits
from toolglot.errors import UpstreamError

if TYPE_CHECKING:
    from toolglot.client.http.connection import Connection

_NOTHING: Mapping[str, str] = {}


class HttpAnswer:
    """Filled by a connection, read by one reader. Iterating yields all buffered bytes at once, then raises errors."""

    __slots__ = (
        "_connection",
        "_ended",
        "_fault",
        "_host",
        "_pieces",
        "_ready",
        "_released",
        "_unpack",
        "_unpacked",
        "_unreadable",
        "_waiter",
        "buffered",
        "headers",
        "limits",
        "stale",
        "status",
    )

    def __init__(self, connection: Connection, limits: Limits) -> None:
        self.status = 0
        self.headers = _NOTHING
        self.limits = limits
        self.buffered = 0  # bytes that are not read yet
        self.stale = False  # an idle connection broke before the first byte of the response
        self._connection: Connection | None = connection
        self._host = connection.host
        self._pieces: list[bytes] = []
        self._ready: Iterator[bytes] | None = None
        self._unpack: Decompressor | None = None
        self._unpacked = 0
        self._unreadable = False  # in an unknown content coding
        self._waiter: Future[None] | None = None
        self._ended = False
        self._released = False  # what still comes is dropped
        self._fault: UpstreamError | None = None

    def __repr__(self) -> str:
        return f"<HttpAnswer {self.status} from {self._host}>"

    # -- the connection's side

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        self.headers = headers
        coding = headers.get("content-encoding")
        if coding is not None:
            try:
                self._unpack = decompressor(coding)
            except CodingError:
                self._fault = transport_error("bad_answer", self._host, "unsupported content-encoding")
                self._unreadable = True
        self.status = status
        self._wake()

    def piece(self, data: bytes) -> None:
        self.buffered += len(data)
        if self._released:
            return
        self._pieces.append(data)
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def end(self) -> None:
        self._ended = True
        self._connection = None
        self._wake()

    def fail(self, error: UpstreamError) -> None:
        self._fault = self._fault or error
        self.end()

    def _wake(self) -> None:
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    # -- the reader's side

    async def settled(self) -> None:
        """Wait for the head, or an error."""
        try:
            while not self.status and not self._ended:
                await self._woken()
        except CancelledError:
            await self.aclose()  # see __anext__
            raise

    def must_have_begun(self) -> None:
        if not self.status:
            raise self._fault or transport_error("bad_answer", self._host, "no status")

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        """If the reader is cancelled, the connection is closed at once."""
        while True:
            if self._unpack is None:
                if self._pieces and not self._unreadable:
                    return self._take()
            elif self._ready is not None and (piece := self._next_unpacked(self._ready)):
                return piece
            elif self._pieces:
                self._ready = self._unpack.feed(self._take())
                continue
            if self._fault is not None:
                raise self._fault
            if self._ended:
                self._check_whole()
                raise StopAsyncIteration
            try:
                await self._woken()
            except CancelledError:
                await self.aclose()
                raise

    async def read(self) -> bytes:
        if self._ended and self._fault is None and self._unpack is None:  # small responses arrive with their head
            return self._take()
        return b"".join([piece async for piece in self])

    def release(self) -> None:
        """Nothing more is read. The end of a chunked body often arrives after the last event of its stream."""
        self._drop()
        connection = self._connection
        if connection is not None and not self._released:
            self._released = True
            connection.drain()

    async def aclose(self) -> None:
        """Closes the connection, unless the response is complete."""
        self._drop()
        connection = self._connection
        if connection is not None and not self._released:
            self.fail(transport_error("closed", self._host, "the response was closed before it was read"))
            connection.abort()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _drop(self) -> None:
        self._pieces.clear()
        self._ready = None
        self.buffered = 0
        if self._fault is not None:
            self._fault.__traceback__ = None  # its frames reference this object

    def _take(self) -> bytes:
        pieces = self._pieces
        taken = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        self.buffered = 0
        connection = self._connection
        if connection is not None and connection.paused:
            connection.resume()
        return taken

    def _next_unpacked(self, ready: Iterator[bytes]) -> bytes:
        try:
            piece = next(ready, b"")
        except CodingError:
            self._give_up(transport_error("bad_answer", self._host, "its content-encoding is broken"))
            return b""
        self._unpacked += len(piece)
        if self._unpacked > self.limits.body:
            self._give_up(transport_error("too_large", self._host, f"over {self.limits.body} bytes unpacked"))
            return b""
        if not piece:
            self._ready = None
        return piece

    def _give_up(self, error: UpstreamError) -> None:
        self._pieces.clear()
        self._ready = None
        connection = self._connection
        self.fail(error)
        if connection is not None:
            connection.abort()

    def _check_whole(self) -> None:
        if self._unpack is not None and not self._unpack.whole:
            raise transport_error("cut_off", self._host, "its compressed body ends early")

    def _woken(self) -> Future[None]:
        """Done when something has come."""
        connection = self._connection
        assert connection is not None  # noqa: S101  (else it has ended)
        self._waiter = waiter = connection.loop.create_future()
        return waiter
