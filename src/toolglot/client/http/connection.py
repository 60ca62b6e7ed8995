"""One connection: an asyncio protocol around the httptools parser. One exchange at a time.

A single timer is not reset when bytes arrive: it fires, checks when the last byte arrived, and sleeps again. So a chunk costs
one read of the clock, and an exchange on an idle connection sets no timer at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal

import httptools

from toolglot.client.http.answer import HttpAnswer
from toolglot.client.http.faults import system_message, transport_error
from toolglot.errors import UpstreamError

Phase = Literal["resting", "sending", "waiting", "reading", "draining"]
_LATE: dict[Phase, str] = {"sending": "timeout_send", "waiting": "timeout_first_byte", "reading": "timeout_idle"}
_HIGH_WATER = 256 * 1024  # buffered bytes at which reading from the socket pauses
_DRAIN = 1.0  # seconds in which a body that nobody reads must end
_SOON = 2.0  # a close within these seconds crossed the request; after a later one the peer may have processed it
# These headers are not lists: if one is repeated, the last wins.
_SINGLE = frozenset(
    {
        "content-type",
        "content-length",
        "date",
        "location",
        "retry-after",
        "retry-after-ms",
        "server",
        "set-cookie",
        "x-should-retry",
    }
)


class Connection(asyncio.Protocol):
    def __init__(self, host: str, loop: asyncio.AbstractEventLoop, rest: float | None) -> None:
        self.host = host  # for messages
        self.loop = loop
        self.free: Callable[[Connection], None] = _ignore  # called when an exchange is over and another may begin
        self.gone: Callable[[Connection], None] = _ignore  # called once, when it can no longer be used
        self.used = False
        self._rest = rest
        self._transport: asyncio.Transport | None = None
        self._parser: Any = httptools.HttpResponseParser(self)
        self._answer: HttpAnswer | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._lost: asyncio.Future[None] | None = None
        self._choked = False  # the write buffer is full
        self.paused = False  # reading from the socket is paused
        self._phase: Phase = "resting"
        self._allowed: float | None = None  # seconds of silence in this phase
        self._last = self._sent_at = 0.0
        self._unsent = 0
        self._reset()

    def _reset(self) -> None:
        self._headers: dict[str, str] = {}
        self._touched = self._begun = self._interim = self._over = self._until_close = False
        self._headless = False
        self._keep = True
        self._fruitless = 0  # bytes since the last useful ones: heads, trailers, chunk extensions
        self._body = self._head = 0

    # -- called by the pool

    def adopt(self, transport: asyncio.Transport) -> None:
        """Connected, with TLS where needed."""
        self._transport = transport
        transport.set_write_buffer_limits(1, 0)  # so that pause_writing means: something is still unsent

    @property
    def usable(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def ask(self, answer: HttpAnswer, data: bytes, *, headless: bool = False) -> None:
        """Send a request and fill `answer`. `headless`: a response to HEAD has no body, whatever its headers are."""
        self._reset()
        self._headless = headless
        self._answer = answer
        self._sent_at = self.loop.time()
        if self._transport is None:
            self._lose(None)
            return
        self._transport.write(data)
        if self._choked:
            self._unsent = self._transport.get_write_buffer_size()
            self._allow("sending", answer.limits.idle)
        else:
            self._allow("waiting", answer.limits.first_byte)

    def resume(self) -> None:
        if self.paused and self._transport is not None:
            self.paused = False
            self._transport.resume_reading()
            if self._answer is not None:
                self._allow("reading", self._answer.limits.idle)

    def drain(self) -> None:
        """Nobody reads the rest of the body: if it ends soon, the connection is free again."""
        if self._until_close or not self._keep:
            self.abort()
            return
        self.resume()
        self._allow("draining", _DRAIN)

    def abort(self) -> None:
        """Close at once, without flushing or waiting for the peer."""
        self._answer = self._parser = None  # the parser knows this object
        self._stop_timer()
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.abort()
        self._notify_gone()

    def abort_with(self, error: UpstreamError) -> None:
        if self._answer is not None:
            self._answer.fail(error)
        self.abort()

    async def wait_closed(self) -> None:
        if self._lost is None:
            self._lost = self.loop.create_future()
        await self._lost

    # -- called by the event loop

    def data_received(self, data: bytes) -> None:
        answer = self._answer
        if answer is None:  # bytes without a request
            self.abort()
            return
        if not self._touched:
            self._touched = True
            self._allow("reading", answer.limits.idle)
        if self._phase != "draining":
            self._last = self.loop.time()
        self._fruitless += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            if not self._over:
                self._fail("bad_answer", _reason(error))
                return
            self._keep = False  # complete, then garbage: the parser can't be reused
        if self._fruitless > answer.limits.head or self._head > answer.limits.head:
            self._fail("too_large", f"over {answer.limits.head} bytes of headers")
        elif self._body > answer.limits.body:
            self._fail("too_large", f"over {answer.limits.body} bytes")
        elif self._over:
            self._finish()
        elif answer.buffered > _HIGH_WATER and not self.paused and self._transport is not None:
            self.paused = True
            self._allowed = None
            self._transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._lose(exc)
        if self._lost is None:
            self._lost = self.loop.create_future()
        if not self._lost.done():
            self._lost.set_result(None)

    def pause_writing(self) -> None:
        self._choked = True

    def resume_writing(self) -> None:
        self._choked = False
        if self._phase == "sending" and self._answer is not None:
            self._allow("waiting", self._answer.limits.first_byte)

    # -- called by the parser

    def on_message_begin(self) -> None:
        if self._over:
            self._keep = False  # a second response to one request would be mixed up with the next one

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head += len(name) + len(value) + 4
        if self._begun:  # a trailer
            return
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        before = self._headers.get(key)
        self._headers[key] = text if before is None or key in _SINGLE else f"{before}, {text}"

    def on_headers_complete(self) -> None:
        answer = self._answer
        if self._over or answer is None:
            return
        if self._head > answer.limits.head:
            return
        status = self._parser.get_status_code()
        if status < 200:
            self._interim = True
            self._headers = {}
            return
        self._begun = True
        self._fruitless = 0
        if self._phase == "waiting":  # after an interim response
            self._allow("reading", answer.limits.idle)
        headers = self._headers
        self._keep = self._parser.should_keep_alive()
        self._until_close = not self._keep and "content-length" not in headers and "transfer-encoding" not in headers
        if self._headless:
            self._keep, self._over = False, True
        answer.begin(status, headers)

    def on_body(self, body: bytes) -> None:
        if self._over or self._answer is None:
            return
        self._fruitless = 0
        self._body += len(body)
        self._answer.piece(body)

    def on_message_complete(self) -> None:
        if not self._interim:
            self._over = True
        elif self._answer is not None:
            self._interim = False
            self._allow("waiting", self._answer.limits.first_byte)

    # -- endings

    def _finish(self) -> None:
        answer = self._answer
        if answer is None:
            return
        keep = self._keep and not self._choked and self.usable
        self.used = True
        if keep:
            self._answer = None
            self.resume()
            self._allow("resting", self._rest)
            answer.end()
            self.free(self)
        else:
            answer.end()
            self.abort()

    def _lose(self, exc: Exception | None) -> None:
        answer = self._answer
        if answer is not None and self._until_close and self._begun and exc is None:
            self._keep = False
            self._finish()
        elif answer is not None:
            answer.stale = self.used and not self._touched and self.loop.time() - self._sent_at < _SOON
            self._fail("cut_off", _how_lost(exc, self._touched))
        else:
            self.abort()

    def _fail(self, code: str, detail: str) -> None:
        self.abort_with(transport_error(code, self.host, detail))

    def _notify_gone(self) -> None:
        gone, self.gone, self.free = self.gone, _ignore, _ignore
        gone(self)

    # -- time

    def _allow(self, phase: Phase, seconds: float | None) -> None:
        """Start a phase; the timer is moved only if it would fire too late."""
        self._phase, self._allowed = phase, seconds
        if seconds is None:
            return
        self._last = self.loop.time()
        due = self._last + seconds
        if self._timer is None:
            self._timer = self.loop.call_at(due, self._check_time)
        elif self._timer.when() > due:
            self._timer.cancel()
            self._timer = self.loop.call_at(due, self._check_time)

    def _check_time(self) -> None:
        self._timer = None
        if self._allowed is None:
            return
        now = self.loop.time()
        if self._phase == "sending" and self._transport is not None:
            left = self._transport.get_write_buffer_size()
            if left < self._unsent:
                self._unsent, self._last = left, now
        due = self._last + self._allowed
        if now < due:
            self._timer = self.loop.call_at(due, self._check_time)
        elif self._phase in {"resting", "draining"}:
            self.abort()
        else:
            self._fail(_LATE[self._phase], f"{self._allowed:g} s")

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _ignore(_: Connection) -> None:
    return


def _reason(error: Exception) -> str:
    """The parser's message; an upgrade's exception has only a position."""
    return "it switches protocols" if isinstance(error, httptools.HttpParserUpgrade) else str(error).lower()


def _how_lost(exc: Exception | None, touched: bool) -> str:
    how = system_message(exc).lower() if isinstance(exc, OSError) else "closed by the server"
    return f"{how}, {'in the middle of the response' if touched else 'before any byte of the response'}"
