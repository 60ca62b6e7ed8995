"""Asking models: `AsyncClient`, for every provider of the catalog."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from toolglot.catalog.profiles import server_kind
from toolglot.catalog.providers import Provider
from toolglot.client.carriers import Carriers
from toolglot.client.detect import detect
from toolglot.client.exchange import Sending, begin, events_of, new_call_id, sending, whole
from toolglot.client.http.url import check_base
from toolglot.client.keys import auth_headers, find_key, named_by
from toolglot.client.remembered import Remembered, server_name, went_well
from toolglot.client.retry import Policy as RetryPolicy
from toolglot.client.retry import with_retries
from toolglot.client.transport import Limits, Transport
from toolglot.core.events import Event, Fault, Finish
from toolglot.core.fold import fold
from toolglot.core.reply import Reply
from toolglot.core.request import Request
from toolglot.errors import CallerError, KeyMissingError, UpstreamError
from toolglot.pipeline.answers import Answers
from toolglot.pipeline.doubting_answers import answers_to
from toolglot.pipeline.fit import fit
from toolglot.pipeline.guard_calls import Policy, check_guard
from toolglot.pipeline.plan import Plan
from toolglot.pipeline.prepare import read_question
from toolglot.pipeline.route import Route, resolve

_LIMITS = Limits()
_RETRIES = RetryPolicy()


class AsyncClient:
    """`complete` and `stream` take what `prepare` takes, or a Request whose model is "provider/model".

    `fallbacks` are models that are asked in order where one has no key, or fails before it has said anything. `policy` and
    `calls` are those of the guard. `api_key` and `base_url` are for the provider of `model`, or where none is named, of the
    model that is asked first; for others they come from the environment and the catalog. `detect`: with tools, a server that
    can tell about its models is asked once. `remembered` counts what has worked.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        fallbacks: str | Sequence[str] = (),
        policy: Policy = "balanced",
        calls: Literal["hold", "pass"] = "hold",
        retries: RetryPolicy = _RETRIES,
        limits: Limits = _LIMITS,
        headers: Mapping[str, str] | None = None,
        transport: Transport | None = None,
        detect: bool = True,
        remembered: Remembered | None = None,
    ) -> None:
        self.model = model
        self._own = resolve(model).provider.name if model is not None else None  # whose key and address were given
        self._api_key, self._base_url = api_key, base_url
        check_guard(policy, calls)
        for name, given in (("api_key", api_key), ("base_url", base_url)):
            if given is not None and not isinstance(given, str):
                raise CallerError("expected a text", name)
        if base_url is not None:
            check_base(base_url)
        if not isinstance(retries, RetryPolicy):
            raise CallerError("expected a Policy of toolglot.client.retry, as in Policy(attempts=2)", "retries")
        if not isinstance(limits, Limits):
            raise CallerError("expected Limits of toolglot.client.transport, as in Limits(first_byte=60)", "limits")
        self._fallbacks = (fallbacks,) if isinstance(fallbacks, str) else tuple(fallbacks)
        for name in self._fallbacks:
            resolve(name)  # a wrong name is told now, not when it is needed
        self._policy: Policy = policy
        self._calls: Literal["hold", "pass"] = calls
        self._retries, self._limits = retries, limits
        self._headers = dict(headers or {})
        if not all(isinstance(word, str) for pair in self._headers.items() for word in pair):
            raise CallerError("expected a text for each name", "headers")
        self._transport = Carriers() if transport is None else transport
        self._detect = detect
        self._remembered = Remembered() if remembered is None else remembered

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        self._remembered.flush()
        await self._transport.aclose()

    async def complete(self, messages: Any, model: str | None = None, tools: Iterable[Any] = (), **options: Any) -> Reply:
        """The whole reply: calls checked, text, usage, notes and decisions."""
        _must_agree(options, stream=False)
        failed = _Failed()
        tools = _lasting(tools)
        for name in self._names(messages, model):
            try:
                plan = await self._plan(messages, name, tools, stream=False, **options)
                events = await with_retries(lambda plan=plan: self._whole(plan), self._retries)  # type: ignore[misc]
            except (UpstreamError, KeyMissingError) as error:
                failed.add(name, error)
                continue
            reply = fold(events)
            self._remember(plan, reply)
            return msgspec.structs.replace(reply, notes=(*failed.notes, *reply.notes)) if failed.notes else reply
        raise failed.error

    async def stream(
        self, messages: Any, model: str | None = None, tools: Iterable[Any] = (), **options: Any
    ) -> AsyncIterator[Event]:
        """Events as they come; `fold` makes a Reply of them. Leaving the loop early closes the upstream at once."""
        _must_agree(options, stream=True)
        failed = _Failed()
        tools = _lasting(tools)
        for name in self._names(messages, model):
            try:
                plan = await self._plan(messages, name, tools, stream=True, **options)
                begun = await with_retries(lambda plan=plan: begin(self._sending(plan)), self._retries)  # type: ignore[misc]
            except (UpstreamError, KeyMissingError) as error:
                failed.add(name, error)
                continue
            left = events_of(begun, self._answers(plan))
            given: list[Event] = []
            try:
                async for event in left:
                    if failed.notes and isinstance(event, (Finish, Fault)):
                        event = msgspec.structs.replace(event, notes=(*failed.notes, *event.notes))
                    given.append(event)
                    yield event
            finally:
                await left.aclose()  # type: ignore[attr-defined]
            self._remember(plan, fold(given))
            return
        raise failed.error

    # -- from a question to what is sent

    def _names(self, messages: Any, model: str | None) -> tuple[str, ...]:
        first = model or self.model or (messages.model if isinstance(messages, Request) else None)
        if first is None:
            raise CallerError('a model is named "provider/model", as in "ollama/qwen3:8b"', "model")
        if self._own is None:
            self._own = resolve(first).provider.name
        return (first, *self._fallbacks)

    def route(self, model: str, wire: str | None = None) -> Route:
        """Where a model is; the caller's own address and the catalog's facts."""
        route = resolve(model, wire)
        if route.provider.name != self._own:
            return route
        row = named_by(self._api_key, route.provider)
        if self._base_url is not None:
            row = msgspec.structs.replace(row, base_url=self._base_url)
        return msgspec.structs.replace(route, provider=row)

    async def _plan(
        self,
        messages: Any,
        model: str,
        tools: Iterable[Any],
        *,
        stream: bool,
        ask: str = "auto",
        nonce: str | None = None,
        larger_context: bool = False,
        wire: str | None = None,
        **options: Any,
    ) -> Plan:
        route = self.route(model, wire)
        if isinstance(messages, Request):
            if options or tuple(tools):
                raise CallerError("a Request holds its tools and options itself", "request")
            request = msgspec.structs.replace(messages, model=route.model, stream=stream, stream_usage=stream)
        else:
            request = read_question(messages, route, tools, stream=stream, **options)
            request = msgspec.structs.replace(request, stream_usage=stream)
        if request.tools and ask == "auto":
            route = await self._known(route)
        tallies = self._remembered.tallies(server_name(route.provider), route.model) if request.tools else {}
        return fit(request, route, ask=ask, nonce=nonce, larger_context=larger_context, tallies=tallies)

    async def _known(self, route: Route) -> Route:
        """With what the server says of the model, where it can be asked. It is asked once."""
        row = route.provider
        if not self._detect or server_kind(row.name) == "hosted":
            return route
        told = await detect(route.model, row, self._transport, headers=self._sent_headers(row))
        return msgspec.structs.replace(route, profile=told)

    def _sent_headers(self, row: Provider) -> dict[str, str]:
        key = find_key(row, self._api_key if row.name == self._own else None)
        return {**auth_headers(row, key), **self._headers}

    def _sending(self, plan: Plan) -> Sending:
        return sending(plan, self._transport, self._sent_headers(plan.route.provider), self._limits)

    def _remember(self, plan: Plan, reply: Reply) -> None:
        """A good call, or one that was tried and was none. A reply in words says nothing about the way of asking."""
        good = went_well(len(reply.calls), (decision.code for decision in reply.decisions)) if plan.tools else None
        if good is not None:
            self._remembered.note(server_name(plan.route.provider), plan.route.model, plan.way.name, good)

    def _answers(self, plan: Plan) -> Answers:
        return answers_to(plan, self._policy, self._calls, new_call_id)

    async def _whole(self, plan: Plan) -> list[Event]:
        return await whole(self._sending(plan), self._answers(plan))


def _must_agree(options: dict[str, Any], *, stream: bool) -> None:
    """`prepare` has to be told whether it is a stream; here the method says it."""
    if options.pop("stream", stream) is not stream:
        raise CallerError("complete() gives the whole reply, stream() its events: it need not be said", "stream")


def _lasting(tools: Iterable[Any]) -> Iterable[Any]:
    """An iterator's tools are gone once they are read, and a fallback wants them too."""
    return tuple(tools) if isinstance(tools, Iterator) else tools


class _Failed:
    """The models that gave no answer: each is told of, by the one that answers in its place or by the error in the end."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._errors: list[UpstreamError | KeyMissingError] = []

    def add(self, name: str, error: UpstreamError | KeyMissingError) -> None:
        why = error.problem if isinstance(error, KeyMissingError) else error.message
        self.notes.append(f"{name} failed before it answered: {why}")
        self._errors.append(error)

    @property
    def error(self) -> UpstreamError | KeyMissingError:
        """As it was, of a single model. Of several, all that was said; the rest is the last one's that was asked."""
        if len(self._errors) == 1:
            return self._errors[0]
        told = "; ".join(self.notes)
        asked = [error for error in self._errors if isinstance(error, UpstreamError)]
        if not asked:
            return KeyMissingError(told, "api_key")
        last = asked[-1]
        return UpstreamError(told, last.status, last.code, last.retry_after, last.should_retry)
