"""Asking models: `AsyncClient`, for every provider of the catalog."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from toolglot.client.carriers import Carriers
from toolglot.client.exchange import begin, events_of, new_call_id, sending, whole
from toolglot.client.keys import auth_headers, find_key
from toolglot.client.retry import Policy as RetryPolicy
from toolglot.client.retry import with_retries
from toolglot.client.transport import Limits, Transport
from toolglot.core.events import Event
from toolglot.core.fold import fold
from toolglot.core.reply import Reply
from toolglot.core.request import Request
from toolglot.errors import CallerError, UpstreamError
from toolglot.pipeline.answers import Answers
from toolglot.pipeline.fit import fit
from toolglot.pipeline.guard_calls import Policy
from toolglot.pipeline.plan import Plan
from toolglot.pipeline.prepare import read_question
from toolglot.pipeline.route import Route, resolve

_LIMITS = Limits()
_RETRIES = RetryPolicy()


class AsyncClient:
    """`complete` and `stream` take what `prepare` takes, or a Request whose model is "provider/model".

    `fallbacks` are models that are asked in order where one fails before it has said anything. `policy` and `calls` are those
    of the guard. `api_key` and `base_url` are for the provider of `model`; else they come from the environment and the catalog.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        fallbacks: Sequence[str] = (),
        policy: Policy = "balanced",
        calls: Literal["hold", "pass"] = "hold",
        retries: RetryPolicy = _RETRIES,
        limits: Limits = _LIMITS,
        headers: Mapping[str, str] | None = None,
        transport: Transport | None = None,
    ) -> None:
        self.model = model
        self._own = resolve(model).provider.name if model is not None else None  # whose key and address were given
        self._api_key, self._base_url = api_key, base_url
        self._fallbacks = tuple(fallbacks)
        self._policy: Policy = policy
        self._calls: Literal["hold", "pass"] = calls
        self._retries, self._limits = retries, limits
        self._headers = dict(headers or {})
        self._transport = Carriers() if transport is None else transport

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def complete(self, messages: Any, model: str | None = None, tools: Iterable[Any] = (), **options: Any) -> Reply:
        """The whole reply: calls checked, text, usage, notes and decisions."""
        told: list[str] = []
        failed: UpstreamError | None = None
        for name in self._names(messages, model):
            plan = self._plan(messages, name, tools, stream=False, **options)
            try:
                events = await with_retries(lambda plan=plan: self._whole(plan), self._retries)  # type: ignore[misc]
            except UpstreamError as error:
                failed = error
                told.append(f"{name} failed before it answered: {error.message}")
                continue
            reply = fold(events)
            return msgspec.structs.replace(reply, notes=(*told, *reply.notes)) if told else reply
        raise failed or CallerError("no model was named", "model")

    async def stream(
        self, messages: Any, model: str | None = None, tools: Iterable[Any] = (), **options: Any
    ) -> AsyncIterator[Event]:
        """Events as they come; `fold` makes a Reply of them. Leaving the loop early closes the upstream at once."""
        failed: UpstreamError | None = None
        for name in self._names(messages, model):
            plan = self._plan(messages, name, tools, stream=True, **options)
            try:
                begun = await with_retries(lambda plan=plan: begin(self._sending(plan)), self._retries)  # type: ignore[misc]
            except UpstreamError as error:
                failed = error
                continue
            left = events_of(begun, self._answers(plan))
            try:
                async for event in left:
                    yield event
            finally:
                await left.aclose()  # type: ignore[attr-defined]
            return
        raise failed or CallerError("no model was named", "model")

    # -- from a question to what is sent

    def _names(self, messages: Any, model: str | None) -> tuple[str, ...]:
        first = model or self.model or (messages.model if isinstance(messages, Request) else None)
        if first is None:
            raise CallerError('a model is named "provider/model", as in "ollama/qwen3:8b"', "model")
        return (first, *self._fallbacks)

    def route(self, model: str) -> Route:
        """Where a model is; the caller's own address and the catalog's facts."""
        route = resolve(model)
        if self._base_url is not None and route.provider.name == self._own:
            return msgspec.structs.replace(route, provider=msgspec.structs.replace(route.provider, base_url=self._base_url))
        return route

    def _plan(
        self,
        messages: Any,
        model: str,
        tools: Iterable[Any],
        *,
        stream: bool,
        ask: str = "auto",
        nonce: str | None = None,
        larger_context: bool = False,
        **options: Any,
    ) -> Plan:
        route = self.route(model)
        if isinstance(messages, Request):
            if options or tuple(tools):
                raise CallerError("a Request holds its tools and options itself", "request")
            request = msgspec.structs.replace(messages, model=route.model, stream=stream, stream_usage=stream)
        else:
            request = read_question(messages, route, tools, stream=stream, **options)
            request = msgspec.structs.replace(request, stream_usage=stream)
        return fit(request, route, ask=ask, nonce=nonce, larger_context=larger_context)

    def _sending(self, plan: Plan) -> Any:
        row = plan.route.provider
        key = find_key(row, self._api_key if row.name == self._own else None)
        return sending(plan, self._transport, {**auth_headers(row, key), **self._headers}, self._limits)

    def _answers(self, plan: Plan) -> Answers:
        return Answers(plan, policy=self._policy, calls=self._calls, make_id=new_call_id)

    async def _whole(self, plan: Plan) -> list[Event]:
        return await whole(self._sending(plan), self._answers(plan))
