"""Getting an answer: tried once more where that may help, and then from the next route; all before the first event."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

import msgspec

from toolglot.catalog.profiles import server_kind
from toolglot.client.detect import detect
from toolglot.client.exchange import Begun, Sending, begin, new_call_id, sending, whole
from toolglot.client.remembered import Remembered, went_well
from toolglot.client.transport import Limits, Transport
from toolglot.core.events import Event
from toolglot.core.request import Request
from toolglot.errors import UpstreamError
from toolglot.gateway.routing import Target
from toolglot.pipeline.answers import Answers
from toolglot.pipeline.convert import adopted
from toolglot.pipeline.doubting_answers import answers_to
from toolglot.pipeline.fit import fit
from toolglot.pipeline.plan import Plan
from toolglot.pipeline.ways import Tallies

T = TypeVar("T")

_PAUSE = 0.25  # seconds before the one further try
_LONGEST = 1.0  # what a server may demand; beyond it the client is told at once
_BROKEN = frozenset({"dns_failed", "connect_failed", "timeout_connect", "cut_off"})  # faults below HTTP worth a further try
_OF_THE_REQUEST = frozenset({400, 413, 415, 422})  # another route would say the same


class Opened(msgspec.Struct, frozen=True):
    """An answer that has begun: a stream, or all of it."""

    target: Target
    plan: Plan
    answers: Answers
    begun: Begun | None
    events: list[Event]
    tried: tuple[str, ...]  # what failed before


class Asking(msgspec.Struct, frozen=True):
    """What all attempts share."""

    transport: Transport
    limits: Limits
    detect: bool = True
    remembered: Remembered | None = None
    wire: str = ""  # the client's, and headers of its that go to a server of the same
    passed_on: dict[str, str] = {}


async def open_answer(asking: Asking, request: Request, targets: tuple[Target, ...]) -> Opened:
    """The first target that answers; the first one's error where none does."""
    first: UpstreamError | None = None
    tried: list[str] = []
    for target in targets:
        try:
            return await _open(asking, request, target, tuple(tried))
        except UpstreamError as error:
            first = first or error.with_traceback(None)
            tried.append(f"{target.name} failed before it answered: {error.code or error.status or 'fault'}")
            if error.status in _OF_THE_REQUEST:
                break
    try:
        raise first or UpstreamError("there is no route", 404, "model_not_found")
    finally:
        first = None  # it holds this frame now


async def _open(asking: Asking, request: Request, target: Target, tried: tuple[str, ...]) -> Opened:
    target = await _known(asking, request, target)
    this = prepared(asking, request, target, stream=request.stream and target.route.profile.supports_streaming)
    if not this.plan.request.stream:
        answers, events = await once_more(lambda: _whole(this, target))
        return Opened(target, this.plan, answers, None, events, tried)
    begun = await once_more(lambda: begin(this))
    return Opened(target, this.plan, answers_for(this.plan, target), begun, [], tried)


async def _known(asking: Asking, request: Request, target: Target) -> Target:
    """With what the server says of the model, where that decides how it is asked and can be asked for; it is kept a while."""
    row = target.route.provider
    if not asking.detect or not request.tools or target.row.ask != "auto" or server_kind(row.name) == "hosted":
        return target
    told = await detect(target.route.model, row, asking.transport, headers=target.headers)
    return msgspec.structs.replace(target, route=msgspec.structs.replace(target.route, profile=told))


def prepared(asking: Asking, request: Request, target: Target, *, stream: bool) -> Sending:
    """What is sent to a target for a request."""
    request = adopted(request, asking.wire, target.route.wire)
    fitted = msgspec.structs.replace(request, model=target.route.model, stream=stream, stream_usage=stream)
    plan = fit(fitted, target.route, ask=target.row.ask, tallies=_tallies(asking, request, target))
    headers = target.headers
    if asking.passed_on and target.route.wire.name == asking.wire:
        headers = {**asking.passed_on, **headers}
    return sending(plan, asking.transport, headers, asking.limits)


def _tallies(asking: Asking, request: Request, target: Target) -> Tallies:
    """What has worked with this model on this server, where that may decide how it is asked."""
    if asking.remembered is None or not target.server or not request.tools or target.row.ask != "auto":
        return {}
    return asking.remembered.tallies(target.server, target.route.model)


def remember(asking: Asking, opened: Opened, calls: int, codes: Iterable[str]) -> None:
    if asking.remembered is None or not opened.target.server or not opened.plan.tools:
        return
    good = went_well(calls, codes)
    if good is not None:
        asking.remembered.note(opened.target.server, opened.plan.route.model, opened.plan.way.name, good)


def answers_for(plan: Plan, target: Target) -> Answers:
    return answers_to(plan, target.row.policy, target.row.calls, new_call_id)


async def _whole(this: Sending, target: Target) -> tuple[Answers, list[Event]]:
    answers = answers_for(this.plan, target)
    return answers, await whole(this, answers)


async def once_more(attempt: Callable[[], Awaitable[T]]) -> T:
    try:
        return await attempt()
    except UpstreamError as error:
        if not _worth_it(error):
            raise
        wait = _PAUSE if error.retry_after is None else error.retry_after
    await asyncio.sleep(wait)
    return await attempt()


def _worth_it(error: UpstreamError) -> bool:
    if not error.retryable or (error.retry_after or 0) > _LONGEST:
        return False
    return error.code in _BROKEN if error.status is None else error.status >= 500
