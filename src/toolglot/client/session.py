"""The session: detect, plan, send, retry, validate, count. Client, gateway and probe send their requests through it.

`response = await session.open(request, target)` is retried up to the first event, never after. `async for events in response`
yields its events in batches. The last batch ends with Finish or Fault.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeVar

import msgspec

from toolglot.catalog.profiles import server_kind
from toolglot.client.call_retry import Retried, may_be_quotes, may_retry, no_call, rejections, retry_calls
from toolglot.client.detect import detect
from toolglot.client.exchange import HttpRequest, Stream, build_http_request, fetch_events, new_call_id, open_stream
from toolglot.client.keys import without_key
from toolglot.client.lessons import Lessons, lesson_in, with_tokens_left, without_fields
from toolglot.client.mode_stats import ModeStats, was_good
from toolglot.client.retry import Policy as RetryPolicy
from toolglot.client.retry import with_retries
from toolglot.client.server_tools import ServedResponse, ServerTool, definitions
from toolglot.client.transport import Limits, Transport
from toolglot.client.worker import in_worker
from toolglot.core.conversation import contents, conversation
from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.fold import fold, unfold_part
from toolglot.core.reply import Decision, Reply, Stop, add_usage
from toolglot.core.request import Request
from toolglot.errors import UpstreamError
from toolglot.pipeline.request.fit_request import fit_request
from toolglot.pipeline.request.plan import Plan
from toolglot.pipeline.request.route import Route
from toolglot.pipeline.request.server_tools import Served, serve
from toolglot.pipeline.request.tool_mode import ModeCount, ToolMode, is_declared
from toolglot.pipeline.request.toolset_cache import are_large
from toolglot.pipeline.request.vendor_tools import plain_request, server_kinds
from toolglot.pipeline.response.call_validator import MAX_CALLS, Policy, UnsupportedSchemas
from toolglot.pipeline.response.grounding import REPEATED
from toolglot.pipeline.response.response_pipeline import ResponsePipeline
from toolglot.pipeline.response.validate_calls import Calls

T = TypeVar("T")
_LIMITS = Limits()
_RETRIES = RetryPolicy()
_MOST_LESSONS = 4  # of one request
_HEAVY = 64 * 1024  # characters; shorter calls are validated within milliseconds
_LONG = 8 * 1024  # characters; to search so many for calls takes some 50 ms at worst
_SHORTEST_CALL = 8  # characters; `f(a="b")`
_ENDS = frozenset(")}]>")
_MANY = 200  # events or messages
_LONG_REQUEST = 256 * 1024  # characters of text; a shorter request is written within milliseconds
STEERED = Stop("pause", "steered")  # the Responses API's word for a response that new input ends
_ANSWER_ONLY = ToolMode("native", why="the model chose no_tool")


class Target(msgspec.Struct, frozen=True):
    """One model on one server, and the options of a request to it."""

    route: Route
    headers: Mapping[str, str]  # with the API key
    ask: str = "auto"
    policy: Policy = "balanced"
    calls: Calls = "hold"
    call_retries: int = 0  # how often rejected calls may be retried
    server: str = ""  # its name in the mode statistics; "": nothing is counted
    weak_forms: bool | None = None  # scan text for calls without a marker; None: by the model's profile
    schemas: UnsupportedSchemas = "reject"
    loop_limit: int = 0  # after how many equal calls with equal results the model is asked to stop; 0: never

    def __repr__(self) -> str:
        return f"<Target {self.route.provider.name}/{self.route.model}>"  # the headers contain the key


class Session(msgspec.Struct, frozen=True):
    """What all requests share: transport, limits, retry policy, statistics."""

    transport: Transport
    limits: Limits = _LIMITS
    retries: RetryPolicy = _RETRIES
    detects: bool = True  # query servers that describe their models
    mode_stats: ModeStats | None = None
    nonce_secret: bytes = b""  # of the nonces of prompted dialects; b"": none are derived
    lessons: Lessons = msgspec.field(default_factory=Lessons)
    keeps_received: bool = False  # in `Response.received`
    server_tools: Mapping[str, ServerTool] = {}  # kind of a vendor's server tool -> what runs it here

    async def open(
        self, request: Request, target: Target, *, nonce: str | None = None, larger_context: bool = False
    ) -> Response | ServedResponse:
        """Send the request and wait for the first event of a stream, or for the whole response. Raises UpstreamError."""
        target = await self.detected(request, target)
        prepare = partial(self.prepare, target=target, nonce=nonce, larger_context=larger_context)
        response = await self._served(request, target, prepare)
        await response.begin()
        return response

    async def planned(self, request: Request, target: Target) -> HttpRequest:
        """The request as it would be sent."""
        return await _where(request)(partial(self.http_request, request, target))

    async def _served(
        self, request: Request, target: Target, prepare: Callable[[Request], Response]
    ) -> Response | ServedResponse:
        """The response to a request, with the tools that run here. A large request goes to a worker thread once."""
        route = target.route
        notes: list[str] = []
        run = _where(request)
        if not request.tools or target.calls == "off" or (request.choice is not None and request.choice.mode == "none"):
            return await run(lambda: prepare(plain_request(request, route.wire, route.provider.quirks)))
        kinds = self.server_tools.keys() & server_kinds(request.tools) if self.server_tools else ()
        wanted = {kind: tool for kind, tool in self.server_tools.items() if kind in kinds} if kinds else {}
        runs = await definitions(wanted, notes) if wanted else {}

        def plan() -> Response | Served:
            served = serve(request, route, runs)
            return served if served.kinds or served.notes or notes else prepare(served.request)

        async def prepare_next(request: Request) -> Response:
            return await _where(request)(partial(prepare, request))

        planned = await run(plan)
        if isinstance(planned, Response):
            return planned
        return ServedResponse(
            prepare_next, request, partial(serve, route=route, runs=runs), planned, tools=wanted, notes=tuple(notes)
        )

    def prepare(self, request: Request, target: Target, *, nonce: str | None = None, larger_context: bool = False) -> Response:
        """A response for a request that is not sent yet: `begin` sends it."""
        plan = partial(self.http_request, target=target, nonce=nonce, larger_context=larger_context)
        return Response(self, request, target, plan)

    async def detected(self, request: Request, target: Target) -> Target:
        """The target with the profile that the server reports, where that decides the tool mode."""
        row = target.route.provider
        if not self.detects or not request.tools or target.ask != "auto" or server_kind(row.name) == "hosted":
            return target
        profile = await detect(target.route.model, row, self.transport, headers=target.headers)
        return msgspec.structs.replace(target, route=msgspec.structs.replace(target.route, profile=profile))

    def http_request(
        self, request: Request, target: Target, *, nonce: str | None = None, larger_context: bool = False
    ) -> HttpRequest:
        """Plan a request and write its bytes."""
        notes: list[str] = []
        route = self.lessons.applied(target.route)
        if rejected := self.lessons.unknown(target.route):
            request = without_fields(request, rejected, notes)
        stream = request.stream and route.profile.supports_streaming
        messages = conversation(request.messages)
        request = msgspec.structs.replace(request, model=route.model, messages=messages, stream=stream, stream_usage=stream)
        mode_counts: Mapping[str, ModeCount] = {}
        if self.mode_stats is not None and target.server and request.tools and target.ask == "auto":
            mode_counts = self.mode_stats.mode_counts(target.server, route.model)
        plan = fit_request(
            request,
            route,
            ask="native" if target.calls == "off" else target.ask,
            nonce=nonce,
            nonce_secret=self.nonce_secret,
            larger_context=larger_context,
            mode_counts=mode_counts,
            weak_forms=target.weak_forms,
            loop_limit=target.loop_limit,
        )
        if notes:
            plan = msgspec.structs.replace(plan, notes=(*notes, *plan.notes))
        return build_http_request(plan, self.transport, target.headers, self.limits)

    def remember(self, plan: Plan, target: Target, calls: int, decisions: list[Decision]) -> None:
        """Count a good or a bad call. A reply without a call says nothing about the tool mode."""
        if self.mode_stats is None or not target.server or not plan.tools:
            return
        declared = plan.tool_mode.kind == "native" and is_declared(plan.route.profile, plan.route.provider)
        good = was_good(calls, [decision.code for decision in decisions], declared=declared)
        if good is not None:
            self.mode_stats.note(target.server, plan.route.model, plan.tool_mode.name, good)


class Response:
    """A response that has begun. Iterate it once, for its events in batches; `aclose` ends it early."""

    def __init__(
        self, session: Session, request: Request, target: Target, make_http_request: Callable[[Request], HttpRequest]
    ) -> None:
        self._session, self._request, self.target = session, request, target
        self._make_http_request = make_http_request
        self._http_request = make_http_request(request)
        self.plan = self._http_request.plan
        self._pipeline = self._new_pipeline(self.plan)
        self._stream: Stream | None = None
        self._ready: list[Event] = []  # the batch to yield next
        self._retries = target.call_retries if target.calls == "hold" and self.plan.tools else 0
        self._emitted: list[Event] = []  # kept only where calls may be retried
        self._no_tool: Finish | None = None  # the end of a constrained response without a call
        self._reopens = False  # the text answer is still to be asked for
        self._offset = 0  # blocks emitted before it
        self._ended = False
        self._has_large_tools = are_large(self.plan.tools)
        self._is_long = contents(self.plan.given).characters > _LONG
        self._may_replan = self.plan.plain is not None and _is_large(request)  # the end of a large one: after `no_tool`
        self.is_retry = False  # a retry is not counted: its outcome says nothing about the tool mode
        self.received: list[Event] | None = [] if session.keeps_received else None  # events of the first response, unprocessed
        self.rejected: tuple[Decision, ...] = ()  # calls that stay rejected, after all retries
        self.is_steered: Callable[[], bool] | None = None  # if so, a stream ends before its next event, unless calls have begun
        self._has_calls = False  # kept only where the response may be steered
        self.retried = 0  # how many retries were sent for rejected calls

    def _new_pipeline(self, plan: Plan) -> ResponsePipeline:
        target = self.target
        self._received = 0  # characters that the pipeline got
        return ResponsePipeline(plan, policy=target.policy, calls=target.calls, make_id=new_call_id, schemas=target.schemas)

    def require_mark(self, mark: str) -> None:
        """Accept a call in text only with this mark. Native calls are accepted as ever."""
        self.plan = msgspec.structs.replace(self.plan, text_dialect="auto", nonce=mark)
        self._pipeline = self._new_pipeline(self.plan)

    async def begin(self) -> None:
        """Send the request and wait for the first event of a stream, or for the whole response."""
        if self.plan.request.stream:
            self._stream = await with_retries(partial(self._corrected, open_stream), self._session.retries)
            self._http_request = msgspec.structs.replace(self._http_request, body=b"")  # sent; a stream may last for minutes
            return
        batch = await self._fetch()
        if self._reopens:
            self._reopens = False
            batch += await self._fetch()
        if not batch or not isinstance(batch[-1], Finish | Fault):
            batch.append(Fault(UpstreamError("the response has no end", 502, "bad_answer")))
        self._ready = batch

    async def _fetch(self) -> list[Event]:
        events = await with_retries(partial(self._corrected, fetch_events), self._session.retries)
        return await in_worker(partial(self._process, events)) if self._takes_long(events) else self._process(events)

    async def _corrected(self, send: Callable[[HttpRequest], Awaitable[T]]) -> T:
        """Send, and once more for each thing that the error teaches about this server."""
        for _ in range(_MOST_LESSONS):
            try:
                return await send(self._http_request)
            except UpstreamError as error:
                if not await _where(self._request)(partial(self._learn, error)):
                    raise
        return await send(self._http_request)

    def _learn(self, error: UpstreamError) -> bool:
        """Plan the request anew, if that makes it another one."""
        found = lesson_in(error) if self._no_tool is None else None
        if found is None:
            return False
        lesson, left = found
        self._session.lessons.add(self.target.route, lesson)
        before = self._http_request.body
        self._http_request = self._make_http_request(with_tokens_left(self._request, left))
        if self._http_request.body == before:
            return False
        self.plan = self._http_request.plan
        self._pipeline = self._new_pipeline(self.plan)
        return True

    def __aiter__(self) -> Response:
        return self

    async def __anext__(self) -> list[Event]:
        """The next batch. A broken connection is a Fault; buffered text is emitted before it."""
        while not self._ended:
            batch, self._ready = self._ready, []
            if not batch:
                if self._stream is None or (events := await self._next_events(self._stream)) is None:
                    break
                takes_long = self._takes_long(events)
                batch = await in_worker(partial(self._process, events)) if takes_long else self._process(events)
                if self._reopens:
                    batch += await self._reopen()
            if not batch:
                continue
            if type(batch[-1]) in (Finish, Fault):
                if len(batch) == 1:
                    self._ended = True
                    return await self._finish(batch[0])
                self._ready = [batch.pop()]  # a retry takes time: emit what is there first
            if self._retries:
                self._emitted += batch
            return batch
        self._ended = True
        raise StopAsyncIteration

    async def _next_events(self, stream: Stream) -> list[Event] | None:
        if self.is_steered is None:
            return await stream.next()
        if self.is_steered() and not (self._has_calls or self._held > 0 or self._no_tool):
            self._retries = 0
            return await stream.cut(STEERED)
        events = await stream.next()
        self._has_calls = self._has_calls or any(type(one) is Open and one.kind == "call" for one in events or ())
        return events

    async def aclose(self) -> None:
        if self._stream is not None:
            await self._stream.aclose()

    async def _reopen(self) -> list[Event]:
        """Ask for the text answer after `no_tool`. A failure is the end of the response."""
        self._reopens = False
        await self.aclose()
        try:
            self._stream = await with_retries(partial(self._corrected, open_stream), self._session.retries)
        except UpstreamError as error:
            return [Fault(error.with_traceback(None))]
        return []

    @property
    def _held(self) -> int:
        """Characters that the pipeline got and has not sent."""
        return self._received - self._pipeline.sent.characters

    def _takes_long(self, events: list[Event]) -> bool:
        """Whether to process them in a worker thread. Counts them: call it once.

        That is with many events or a long text, or if a call may be validated now that is long, has a large schema, or is
        written as text, which may stand in a long conversation.
        """
        held, length = self._held, _length(events)
        self._received += length
        if len(events) > _MANY or length > _LONG or self._may_replan:
            return True
        is_heavy = held + length > _HEAVY
        if self._has_large_tools or self._is_long:
            is_heavy = is_heavy or held > 0 or (self._has_large_tools and len(events) > 1) or _may_be_a_call(events)
        return is_heavy and self._pipeline.may_validate(events)

    def _process(self, events: list[Event]) -> list[Event]:
        """Run the upstream's events through the pipeline. After `no_tool` the text answer continues the same response."""
        last = events[-1] if events else None
        if type(last) is Fault:  # some servers repeat the key in their error
            events = [*events[:-1], msgspec.structs.replace(last, error=without_key(last.error, self._http_request.headers))]
        if self._no_tool is not None:
            return _continued(self._pipeline.feed(events), self._no_tool, self._offset)
        if self.received is not None:
            self.received += events
        batch = self._pipeline.feed(events)
        end = batch[-1] if batch else None
        if isinstance(end, Finish) and self.plan.plain is not None and self._needs_text(end):
            batch, self._no_tool, self._reopens = batch[:-1], _without_repeats(end), True
            self._offset = self._pipeline.sent.blocks
            plan = msgspec.structs.replace(
                self.plan, request=self.plan.plain(), tool_mode=_ANSWER_ONLY, text_dialect=None, plain=None, notes=()
            )
            self._http_request = build_http_request(plan, self._session.transport, self.target.headers, self._session.limits)
            self._pipeline = self._new_pipeline(self._http_request.plan)
        return batch

    def _needs_text(self, end: Finish) -> bool:
        """The model made no call, or only calls that already have results: a text answer is still missing."""
        rejected = rejections(end.decisions)
        only_repeats = bool(rejected) and not self._pipeline.sent.calls and all(one.code == REPEATED for one in rejected)
        return self._pipeline.no_tool or only_repeats

    async def _finish(self, last: Event) -> list[Event]:
        """The calls that a retry gave, then the end."""
        if not isinstance(last, Finish):
            return [last]
        calls = self._pipeline.sent.calls
        if not self.is_retry:
            self._session.remember(self.plan, self.target, calls, self._pipeline.sent.decisions)
        if not last.decisions:  # as in nearly all responses
            return [last]
        run = in_worker if len(last.decisions) > _MANY else _here
        self.rejected = await run(partial(rejections, last.decisions))
        if not self._retries or not may_retry(last, self._request):
            return [last]
        quotes = await run(partial(may_be_quotes, last.decisions))
        missing = (*self.rejected, *quotes)[:MAX_CALLS] or no_call(last.decisions)
        if self._request.parallel is False:  # one call is enough
            missing = () if calls else missing[:1]
        if not missing:
            return [last]
        reply = await in_worker(partial(fold, self._emitted))
        retried = await retry_calls(self._send_again, self._request, reply, missing, self._retries)
        self.retried, self.rejected = retried.attempts, rejections(retried.rejected)
        return self._with_retried(last, retried)

    async def _send_again(self, request: Request, mark: str) -> Reply:
        """One more request, not streamed and without further retries. `mark`: what a call in its text must carry."""
        target = msgspec.structs.replace(self.target, call_retries=0)
        request = msgspec.structs.replace(request, stream=False)
        response = await _where(request)(partial(self._session.prepare, request, target))
        response.is_retry = True
        if mark and response.plan.tool_mode.kind != "constrained":
            response.require_mark(mark)
        await response.begin()
        return await in_worker(partial(fold, [event async for batch in response for event in batch]))

    def _with_retried(self, last: Finish, retried: Retried) -> list[Event]:
        events: list[Event] = []
        for number, call in enumerate(retried.calls):
            events += unfold_part(self._offset + self._pipeline.sent.blocks + number, call)
        stop = Stop("calls", last.stop.raw) if retried.calls else last.stop
        usage, notes = add_usage(last.usage, retried.usage), (*last.notes, *retried.notes)
        decisions = (*last.decisions, *retried.decisions)
        return [*events, msgspec.structs.replace(last, stop=stop, usage=usage, notes=notes, decisions=decisions)]


async def _here(job: Callable[[], T]) -> T:
    return job()


def _where(request: Request) -> Callable[[Callable[[], T]], Awaitable[T]]:
    """What runs a step of planning: this thread, or a worker thread."""
    return in_worker if _is_large(request) else _here


def _is_large(request: Request) -> bool:
    """Whether planning and writing it takes long."""
    return len(request.messages) > _MANY or are_large(request.tools) or contents(request.messages).characters > _LONG_REQUEST


def _may_be_a_call(events: list[Event]) -> bool:
    """Whether the text in these events, if none came before, may be a whole call: it is long enough, and has a sign with which
    one ends. Native calls that begin here are no text.
    """
    native = {one.index for one in events if type(one) is Open and one.kind == "call"}
    texts = [one.text for one in events if type(one) is Delta and one.index not in native]
    return sum(map(len, texts)) >= _SHORTEST_CALL and not all(map(_ENDS.isdisjoint, texts))


def _length(events: list[Event]) -> int:
    length = 0
    for event in events:
        if type(event) is Delta:
            length += len(event.text)
    return length


def _without_repeats(end: Finish) -> Finish:
    """The same end, with repeated calls marked so that they are not retried."""
    decisions = tuple(Decision("repeated_call", one.message) if one.code == REPEATED else one for one in end.decisions)
    return msgspec.structs.replace(end, decisions=decisions)


def _continued(events: list[Event], first: Finish, offset: int) -> list[Event]:
    """The second response as the rest of the first: no Start, block numbers go on, usage is summed."""
    rest: list[Event] = []
    for event in events:
        if isinstance(event, Open | Delta | Close):
            rest.append(msgspec.structs.replace(event, index=event.index + offset) if offset else event)
        elif isinstance(event, Finish):
            usage = add_usage(first.usage, event.usage)
            decisions, notes = (*first.decisions, *event.decisions), (*first.notes, *event.notes)
            rest.append(msgspec.structs.replace(event, usage=usage, decisions=decisions, notes=notes))
        elif not isinstance(event, Start):
            rest.append(event)
    return rest
