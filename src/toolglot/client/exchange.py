"""One request and its answer: sent, read, heard and guarded. Up to the first event it may be tried again, never after."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from uuid import uuid4

import msgspec

from toolglot.client.keys import without_key
from toolglot.client.retry import with_late_wait
from toolglot.client.transport import Answer, Limits, Transport
from toolglot.core.events import Event, Fault, Finish, Open, Start
from toolglot.core.interfaces import Reader
from toolglot.errors import UpstreamError
from toolglot.pipeline.answers import Answers
from toolglot.pipeline.convert import open_reader
from toolglot.pipeline.plan import Plan
from toolglot.pipeline.route import Speech
from toolglot.pipeline.translate import write_request_bytes
from toolglot.reading.framed import TRUNCATED
from toolglot.text.json_text import BadJson, decode_leniently

_JSON = "json"
_JSON_TYPE = "application/json"


def new_call_id() -> str:
    return f"call_{uuid4().hex[:24]}"


class Sending(msgspec.Struct, frozen=True):
    """All that a try needs."""

    transport: Transport
    url: str
    headers: Mapping[str, str]
    body: bytes
    limits: Limits
    plan: Plan
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Sending to {self.plan.route.provider.name}>"  # its headers hold the key


def sending(plan: Plan, transport: Transport, headers: Mapping[str, str], limits: Limits) -> Sending:
    route, notes = plan.route, list(plan.notes)
    body = write_request_bytes(plan.request, Speech(route.wire, route.provider.quirks), notes)
    plan = msgspec.structs.replace(plan, notes=tuple(notes))
    all_headers = {"Content-Type": "application/json", **route.provider.headers, **headers}
    return Sending(transport, route.url(plan.request.stream), all_headers, body, limits, plan, tuple(notes))


async def send(this: Sending) -> Answer:
    """The answer's head; a refusal is raised as the provider's error."""
    answer = await this.transport.send("POST", this.url, this.headers, this.body, limits=this.limits)
    if answer.status < 300:
        return answer
    body = await _refusal(answer)
    if answer.status < 400:
        raise _redirected(answer)
    raise _told(this.plan.route.wire.read_fault(answer.status, answer.headers, body), this, answer)


async def _refusal(answer: Answer) -> bytes:
    """What was said with a refusal, as far as it came: where the line breaks, the status still counts."""
    pieces = []
    try:
        async for piece in answer:
            pieces.append(piece)
    except UpstreamError:
        pass
    finally:
        await answer.aclose()
    return b"".join(pieces)


def _told(error: UpstreamError, this: Sending, answer: Answer) -> UpstreamError:
    """The provider's error as the caller sees it: with the time that it asks for, and without the key."""
    return with_late_wait(without_key(error, this.headers), answer.headers, time.time())


def _redirected(answer: Answer) -> UpstreamError:
    """Not followed: the key would go wherever the answer says. Asked again, it would say the same."""
    there = answer.headers.get("location", "").partition("?")[0] or "no named address"
    message = f"the server redirects ({answer.status}) to {there}: if that is the right place, give it as base_url"
    return UpstreamError(message, None, "redirected", should_retry=False)


def _unreadable(answer: Answer, body: bytes) -> UpstreamError:
    """What is empty, or begins as it should, was cut off; an answer of another kind would come again."""
    said = body[:200].decode("utf-8", "replace").strip()
    if said[:1] in {"", "{"}:
        return UpstreamError(f"the answer breaks off: {said!r}", None, "cut_off")
    what = "a web page" if _is_page(answer) else "no JSON object"
    return UpstreamError(f"the answer is {what}: check base_url. It begins: {said!r}", None, "bad_answer", should_retry=False)


def _no_reply(body: bytes) -> UpstreamError:
    """JSON that says nothing of what a reply holds: a proxy's words, another API's. Some servers do better a moment later."""
    said = body[:200].decode("utf-8", "replace").strip()
    return UpstreamError(f"there is no reply in the answer: check base_url. It begins: {said!r}", None, "bad_answer")


def _is_empty(events: list[Event]) -> bool:
    """Neither content nor usage, nor a word on why it ended."""
    last = events[-1]
    if not isinstance(last, Finish) or any(isinstance(event, Open) for event in events):
        return False
    return last.stop.reason == "other" and last.stop.raw is None and last.usage is None


def _is_page(answer: Answer) -> bool:
    return answer.headers.get("content-type", "").startswith("text/html")


def channel(plan: Plan) -> str | None:
    """Text under a schema of the caller's is JSON; under one of ours it is not."""
    return _JSON if plan.request.output is not None and plan.way.kind != "constrained" else None


# -- whole


async def whole(this: Sending, answers: Answers) -> list[Event]:
    """All events of an answer that comes in one piece."""
    answer = await send(this)
    try:
        body = await answer.read()
    finally:
        await answer.aclose()
    events = _events_in(body, this, answer)
    last = events[-1]
    if isinstance(last, Fault) and not any(isinstance(event, Open) for event in events):
        raise _told(last.error, this, answer)
    if _is_empty(events):
        raise _told(_no_reply(body), this, answer)
    return answers.feed(*_discreet(events, this.headers)) + answers.close()


def _discreet(events: list[Event], headers: Mapping[str, str]) -> list[Event]:
    """A fault after the first event is handed on as it comes, but without the key too."""
    return [
        msgspec.structs.replace(event, error=without_key(event.error, headers)) if isinstance(event, Fault) else event
        for event in events
    ]


def _events_in(body: bytes, this: Sending, answer: Answer) -> list[Event]:
    """Of one JSON object; or of a stream, which some servers send whether it was asked for or not."""
    route = this.plan.route
    if answer.headers.get("content-type", "").startswith("text/event-stream"):
        reader = open_reader(Speech(route.wire, route.provider.quirks), channel(this.plan))
        return [*reader.feed(body), *reader.close()]
    try:
        held = decode_leniently(body)
    except BadJson:
        held = None
    if not isinstance(held, dict):
        raise without_key(_unreadable(answer, body), this.headers)
    return route.wire.read_events(held, channel(this.plan))


# -- streamed


class Begun(msgspec.Struct, frozen=True):
    """A stream whose first event has come: from here on there is no way back."""

    answer: Answer
    chunks: AsyncIterator[bytes]
    reader: Reader[bytes]
    first: list[Event]
    headers: Mapping[str, str]  # that were sent

    def __repr__(self) -> str:
        return f"<Begun {self.answer!r}>"


async def begin(this: Sending) -> Begun:
    """Sends, and reads up to the first event that says something."""
    answer = await send(this)
    try:
        route = this.plan.route
        reader = open_reader(Speech(route.wire, route.provider.quirks), channel(this.plan))
        chunks = aiter(answer)
        first: list[Event] = []
        heard = b""
        while not any(not isinstance(event, Start) for event in first):
            chunk = await anext(chunks, None)
            first += reader.close() if chunk is None else reader.feed(chunk)
            if chunk is None:
                break
            heard = heard or chunk
        fault = next((event for event in first if not isinstance(event, Start)), None)
        if isinstance(fault, Fault):
            raise _told(_better(fault.error, answer, heard), this, answer)
    except BaseException:
        await answer.aclose()
        raise
    return Begun(answer, chunks, reader, first, this.headers)


def _better(error: UpstreamError, answer: Answer, heard: bytes) -> UpstreamError:
    """The error that says more: what was no stream at all did not break off."""
    if heard and _is_page(answer):
        return _unreadable(answer, heard)
    if error.code == TRUNCATED and heard.startswith(b"{") and answer.headers.get("content-type", "").startswith(_JSON_TYPE):
        return _no_reply(heard)
    return error


async def events_of(begun: Begun, answers: Answers) -> AsyncIterator[Event]:
    """What leaves, as it comes. A line that breaks is a Fault, and held text leaves before it."""
    try:
        for left in answers.feed(*_discreet(begun.first, begun.headers)):
            yield left
        async for event in _rest(begun):
            for left in answers.feed(event):
                yield left
        for left in answers.close():
            yield left
    finally:
        await begun.answer.aclose()


async def _rest(begun: Begun) -> AsyncIterator[Event]:
    try:
        async for chunk in begun.chunks:
            for event in _discreet(begun.reader.feed(chunk), begun.headers):
                yield event
    except UpstreamError as error:
        for event in [*begun.reader.close(), Fault(error)]:
            if not isinstance(event, Fault) or event.error is error:
                yield event
        return
    for event in _discreet(begun.reader.close(), begun.headers):
        yield event
