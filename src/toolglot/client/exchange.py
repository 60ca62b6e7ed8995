"""One HTTP exchange with an upstream: send a request and parse the response into events, whole or as a stream."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from functools import partial
from uuid import uuid4

import msgspec

from toolglot.client import cloud_credentials
from toolglot.client.keys import without_key
from toolglot.client.retry import with_late_wait
from toolglot.client.transport import Answer, Limits, Transport
from toolglot.client.worker import in_worker
from toolglot.core.events import Event, Fault, Finish, Open, Start
from toolglot.core.interfaces import Reader
from toolglot.core.reply import Stop
from toolglot.errors import UpstreamError
from toolglot.io.json_codec import JSON_ERRORS, decode_lenient
from toolglot.io.stream_reader import STREAM_TRUNCATED
from toolglot.pipeline.convert import open_reader
from toolglot.pipeline.request.plan import Plan
from toolglot.pipeline.request.request_bytes import write_request_bytes
from toolglot.pipeline.request.route import WireFormat

_LARGE = 128 * 1024  # bytes of a whole response; smaller ones are parsed within milliseconds
_JSON = "json"
_JSON_TYPE = "application/json"


def new_call_id() -> str:
    return f"call_{uuid4().hex[:24]}"


class HttpRequest(msgspec.Struct, frozen=True):
    """A request that is ready to send, as often as retries need it."""

    transport: Transport
    url: str
    headers: Mapping[str, str]
    body: bytes
    limits: Limits
    plan: Plan

    def __repr__(self) -> str:
        return f"<Sending to {self.plan.route.provider.name}>"  # the headers contain the key


def build_http_request(plan: Plan, transport: Transport, headers: Mapping[str, str], limits: Limits) -> HttpRequest:
    route, notes = plan.route, list(plan.notes)
    body = write_request_bytes(plan.request, WireFormat(route.wire, route.provider.quirks), notes)
    plan = msgspec.structs.replace(plan, notes=tuple(notes))
    all_headers = {"Content-Type": "application/json", **route.provider.headers, **headers}
    return HttpRequest(transport, route.url(plan.request.stream), all_headers, body, limits, plan)


async def send(this: HttpRequest) -> Answer:
    """The response, once its head is there. A status of 300 or more is raised as an error."""
    row = this.plan.route.provider
    answer = await cloud_credentials.send(
        this.transport, row, "POST", this.url, this.headers, body=this.body, limits=this.limits
    )
    if answer.status < 300:
        return answer
    body = await _error_body(answer)
    if answer.status < 400:
        raise _redirected(answer)
    raise _for_caller(this.plan.route.wire.read_error(answer.status, answer.headers, body), this, answer)


async def _error_body(answer: Answer) -> bytes:
    """The body of an error, as far as it came: the status counts even if the connection breaks."""
    pieces = []
    try:
        async for piece in answer:
            pieces.append(piece)
    except UpstreamError:
        pass
    finally:
        await answer.aclose()
    return b"".join(pieces)


def _for_caller(error: UpstreamError, this: HttpRequest, answer: Answer) -> UpstreamError:
    """The upstream's error without the key, and with the wait time from its headers."""
    return with_late_wait(without_key(error, this.headers), answer.headers, time.time())


def _redirected(answer: Answer) -> UpstreamError:
    """Redirects are not followed: the key would go to an address that the server chooses. A retry gives the same redirect."""
    location = answer.headers.get("location", "").partition("?")[0] or "an unnamed address"
    message = f"the server redirects ({answer.status}) to {location}: if that is the right address, set it as base_url"
    return UpstreamError(message, None, "redirected", should_retry=False)


def _unreadable(answer: Answer, body: bytes) -> UpstreamError:
    """An empty body, or the start of a JSON object, was cut off. Anything else is the wrong server: a retry is useless."""
    start = body[:200].decode("utf-8", "replace").strip()
    if start[:1] in {"", "{"}:
        return UpstreamError(f"the response was cut off: {start!r}", None, "cut_off")
    what = "a web page" if _is_page(answer) else "not a JSON object"
    return UpstreamError(
        f"the response is {what}: check base_url. It begins: {start!r}", None, "bad_answer", should_retry=False
    )


def _no_reply(body: bytes) -> UpstreamError:
    """JSON without any field of a reply: from a proxy, or another API. A retry may help."""
    start = body[:200].decode("utf-8", "replace").strip()
    return UpstreamError(f"the response contains no reply: check base_url. It begins: {start!r}", None, "bad_answer")


def _is_empty(events: list[Event]) -> bool:
    """No content, no usage, no stop reason."""
    last = events[-1]
    if not isinstance(last, Finish) or any(isinstance(event, Open) for event in events):
        return False
    return last.stop.reason == "other" and last.stop.raw is None and last.usage is None


def _is_page(answer: Answer) -> bool:
    return answer.headers.get("content-type", "").startswith("text/html")


def channel(plan: Plan) -> str | None:
    """Text under the caller's schema is JSON. In constrained mode the schema is ours, and the text is parsed for calls."""
    return _JSON if plan.request.output is not None and plan.tool_mode.kind != "constrained" else None


# -- whole


async def fetch_events(this: HttpRequest) -> list[Event]:
    """Send, and parse the whole response."""
    answer = await send(this)
    try:
        body = await answer.read()
    finally:
        await answer.aclose()
    read = partial(_events_in, body, this, answer)
    events = await in_worker(read) if len(body) > _LARGE else read()
    last = events[-1]
    if isinstance(last, Fault) and not any(isinstance(event, Open) for event in events):
        raise _for_caller(last.error, this, answer)
    if _is_empty(events):
        raise _for_caller(_no_reply(body), this, answer)
    return events


def _events_in(body: bytes, this: HttpRequest, answer: Answer) -> list[Event]:
    """From one JSON object; or from a stream, which some servers send although the request was not for one."""
    route = this.plan.route
    if answer.headers.get("content-type", "").startswith("text/event-stream"):
        reader = open_reader(WireFormat(route.wire, route.provider.quirks), channel(this.plan))
        return [*reader.feed(body), *reader.close()]
    try:
        value = decode_lenient(body)
    except JSON_ERRORS:
        value = None
    if not isinstance(value, dict):
        raise without_key(_unreadable(answer, body), this.headers)
    return route.wire.read_events(value, channel(this.plan))


# -- streamed


class _Silence:
    """Ends a stream that sends only comments: bytes arrive, so the connection itself never times out."""

    def __init__(self, limits: Limits) -> None:
        self._longest = limits.first_byte
        self.since: float | None = None  # None: the last bytes had an event

    def is_over(self) -> bool:
        """Call it for bytes without an event."""
        now = time.monotonic()
        if self.since is None:
            self.since = now
        return self._longest is not None and now - self.since > self._longest

    @property
    def error(self) -> UpstreamError:
        return UpstreamError(f"the server sent bytes for {self._longest:g} s, but no event", None, "timeout_idle")


class Stream:
    """A stream that has received its first event: from here on nothing is retried."""

    def __init__(
        self, answer: Answer, chunks: AsyncIterator[bytes], reader: Reader[bytes], first: list[Event], limits: Limits
    ) -> None:
        self._answer, self._chunks, self._reader = answer, chunks, reader
        self._first: list[Event] | None = first
        self._ended = False
        self._is_complete = _is_end(first)
        self._silence = _Silence(limits)

    async def next(self) -> list[Event] | None:
        """The next events, or None at the end. A broken connection is a Fault."""
        if self._first is not None:
            first, self._first = self._first, None
            return first
        if self._ended:
            return None
        try:
            chunk = await self._chunks.__anext__()  # anext() with a default costs more
        except StopAsyncIteration:
            self._ended = True
            return self._reader.close()
        except UpstreamError as error:
            self._ended = True
            rest = [event for event in self._reader.close() if not isinstance(event, Fault)]
            return [*rest, Fault(error.with_traceback(None))]  # the traceback references this frame
        events = self._reader.feed(chunk)
        if events:
            self._silence.since = None
            self._is_complete = _is_end(events)
        elif self._silence.is_over():
            self._ended = True
            return [Fault(self._silence.error)]
        return events

    async def cut(self, stop: Stop) -> list[Event]:
        """End it here: what the reader still has, and `stop` as its end. The upstream is disconnected."""
        await self._answer.aclose()
        self._ended = True
        *rest, last = self._reader.close()
        return [*rest, Finish(stop, notes=last.notes, decisions=last.decisions) if isinstance(last, Fault) else last]

    async def aclose(self) -> None:
        if self._is_complete:
            self._answer.release()
        else:
            await self._answer.aclose()
        self._reader.close()  # if it ends early, the reader drops its buffers


async def open_stream(this: HttpRequest) -> Stream:
    """Send, and read up to the first event after Start."""
    answer = await send(this)
    try:
        route = this.plan.route
        reader = open_reader(WireFormat(route.wire, route.provider.quirks), channel(this.plan))
        chunks = aiter(answer)
        first: list[Event] = []
        data = b""
        silence = _Silence(this.limits)
        while _after_start(first) is None:
            chunk = await anext(chunks, None)
            first += reader.close() if chunk is None else reader.feed(chunk)
            if chunk is None:
                break
            data = data or chunk
            if silence.is_over():
                raise silence.error
        fault = _after_start(first)
        if isinstance(fault, Fault):
            raise _for_caller(_more_precise(fault.error, answer, data), this, answer)
    except BaseException:
        await answer.aclose()
        raise
    return Stream(answer, chunks, reader, first, this.limits)


def _is_end(events: list[Event]) -> bool:
    return bool(events) and type(events[-1]) is Finish


def _after_start(events: list[Event]) -> Event | None:
    for event in events:
        if not isinstance(event, Start):
            return event
    return None


def _more_precise(error: UpstreamError, answer: Answer, data: bytes) -> UpstreamError:
    """A response that is not a stream at all is reported as such, not as a truncated stream."""
    if data and _is_page(answer):
        return _unreadable(answer, data)
    if (
        error.code == STREAM_TRUNCATED
        and data.startswith(b"{")
        and answer.headers.get("content-type", "").startswith(_JSON_TYPE)
    ):
        return _no_reply(data)
    return error
