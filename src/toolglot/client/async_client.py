"""`AsyncClient`: requests to any provider of the catalog."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Literal, TypedDict, Unpack, cast

import msgspec

from toolglot.client.address import with_address
from toolglot.client.http.url import check_base
from toolglot.client.keys import auth_headers, find_key, with_key_name
from toolglot.client.mode_stats import ModeStats, server_name
from toolglot.client.retry import Policy as RetryPolicy
from toolglot.client.server_tools import ServedResponse
from toolglot.client.session import Response, Session, Target
from toolglot.client.transport import Limits, Transport
from toolglot.client.transports import Transports
from toolglot.core.events import Event, Fault, Finish
from toolglot.core.fold import fold
from toolglot.core.reply import Reply
from toolglot.core.request import Request
from toolglot.core.text_deltas import TextDeltas
from toolglot.errors import CallerError, KeyMissingError, UpstreamError
from toolglot.pipeline.request.options import RequestOptions, SendOptions
from toolglot.pipeline.request.prepare import build_request
from toolglot.pipeline.request.route import Route, resolve
from toolglot.pipeline.response.call_validator import Policy, check_options

_LIMITS = Limits()
_RETRIES = RetryPolicy()
_NONCE_SECRET = secrets.token_bytes(16)


class ConnectOptions(TypedDict, total=False):
    """The options of AsyncClient that an Agent takes, too."""

    api_key: str | None
    base_url: str | None
    fallbacks: str | Sequence[str]
    policy: Policy
    retries: RetryPolicy
    headers: Mapping[str, str] | None
    transport: Transport | None
    detect: bool
    mode_stats: ModeStats | None


class ClientOptions(ConnectOptions, total=False):
    """All options of AsyncClient."""

    calls: Literal["hold", "pass"]
    limits: Limits
    call_retries: int


class AsyncClient:
    """`complete` and `stream` take what `prepare` takes, or a Request with a model "provider/model".

    `fallbacks` are models that are tried in order where one has no key, or fails before its first event. `policy` and `calls`
    configure the validation of calls. `api_key` and `base_url` are for the provider of `model`, or without `model`, for the
    provider of the first request; for others they come from the environment and the catalog. `detect`: for requests with tools,
    query servers that describe their models, once. `mode_stats` counts which tool modes work. `call_retries`: how often
    rejected calls are retried, with the reason.
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
        mode_stats: ModeStats | None = None,
        call_retries: int = 1,
    ) -> None:
        self.model = model
        self._main_provider = resolve(model).provider.name if model is not None else None  # api_key and base_url are for it
        self._api_key, self._base_url = api_key, base_url
        check_options(policy, calls)
        for name, value in (("api_key", api_key), ("base_url", base_url)):
            if value is not None and not isinstance(value, str):
                raise CallerError("expected a string", name)
        if base_url is not None:
            check_base(base_url)
        if not isinstance(retries, RetryPolicy):
            raise CallerError("expected a RetryPolicy, as in toolglot.RetryPolicy(attempts=2)", "retries")
        if not isinstance(limits, Limits):
            raise CallerError("expected TransportLimits, as in toolglot.TransportLimits(first_byte=60)", "limits")
        self._fallbacks = (fallbacks,) if isinstance(fallbacks, str) else tuple(fallbacks)
        for name in self._fallbacks:
            resolve(name)  # report a wrong name now, not when it is needed
        self._policy: Policy = policy
        self._calls: Literal["hold", "pass"] = calls
        self._call_retries = call_retries
        self._headers = dict(headers or {})
        if not all(isinstance(word, str) for pair in self._headers.items() for word in pair):
            raise CallerError("expected strings", "headers")
        self._transport = Transports() if transport is None else transport
        self._remembered = ModeStats() if mode_stats is None else mode_stats
        self._session = Session(self._transport, limits, retries, detect, self._remembered, _NONCE_SECRET)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        self._remembered.flush()
        await self._transport.aclose()

    async def complete(
        self, messages: Any, model: str | None = None, tools: Iterable[Any] = (), **options: Unpack[SendOptions]
    ) -> Reply:
        """The whole reply: validated calls, text, usage, notes and decisions."""
        _must_agree(options, stream=False)
        return fold([event async for event in self._events(messages, model, tools, stream=False, **options)])

    async def stream(
        self, messages: Any, model: str | None = None, tools: Iterable[Any] = (), **options: Unpack[SendOptions]
    ) -> AsyncIterator[Event]:
        """Events as they arrive; `fold` turns them into a Reply. Leaving the loop early closes the connection at once."""
        _must_agree(options, stream=True)
        async with aclosing(self._events(messages, model, tools, stream=True, **options)) as events:
            async for event in events:
                yield event

    async def stream_text(
        self, messages: Any, model: str | None = None, tools: Iterable[Any] = (), **options: Unpack[SendOptions]
    ) -> AsyncIterator[str]:
        """Like `stream`, but only the answer's text. An UpstreamError is raised if the stream breaks off."""
        deltas = TextDeltas()
        async with aclosing(cast("AsyncGenerator[Event]", self.stream(messages, model, tools, **options))) as events:
            async for event in events:
                if text := deltas.feed(event):
                    yield text
        if deltas.error is not None:
            raise deltas.error

    async def _events(
        self, messages: Any, model: str | None, tools: Iterable[Any], *, stream: bool, **options: Unpack[SendOptions]
    ) -> AsyncGenerator[Event]:
        failed = _Failed()
        tools = tuple(tools) if isinstance(tools, Iterator) else tools  # a fallback reads them again
        for name in self._names(messages, model):
            try:
                response = await self._open(messages, name, tools, stream=stream, **options)
            except (UpstreamError, KeyMissingError) as error:
                failed.add(name, error)
                continue
            try:
                async for batch in response:
                    for event in batch:
                        if failed.notes and isinstance(event, (Finish, Fault)):
                            event = msgspec.structs.replace(event, notes=(*failed.notes, *event.notes))
                        yield event
            finally:
                await response.aclose()
            return
        raise failed.error

    def _names(self, messages: Any, model: str | None) -> tuple[str, ...]:
        first = model or self.model or (messages.model if isinstance(messages, Request) else None)
        if first is None:
            raise CallerError('name a model as "provider/model", for example "ollama/qwen3:8b"', "model")
        if self._main_provider is None:
            self._main_provider = resolve(first).provider.name
        return (first, *self._fallbacks)

    def route(self, model: str, wire: str | None = None) -> Route:
        """The route to a model: the catalog's facts, with the caller's base_url and key name."""
        route = resolve(model, wire)
        if route.provider.name != self._main_provider:
            return msgspec.structs.replace(route, provider=with_address(route.provider))
        row = with_key_name(self._api_key, route.provider)
        return msgspec.structs.replace(route, provider=with_address(row, self._base_url))

    async def _open(
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
        call_retries: int | None = None,
        **options: Unpack[RequestOptions],
    ) -> Response | ServedResponse:
        route = self.route(model, wire)
        if isinstance(messages, Request):
            if options or tuple(tools):
                raise CallerError("a Request already contains tools and options", "request")
            request = msgspec.structs.replace(messages, stream=stream)
        else:
            request = build_request(messages, route, tools, stream=stream, **options)
        target = self._target(route, ask, self._call_retries if call_retries is None else call_retries)
        return await self._session.open(request, target, nonce=nonce, larger_context=larger_context)

    def _target(self, route: Route, ask: str, call_retries: int) -> Target:
        row = route.provider
        key = find_key(row, self._api_key if row.name == self._main_provider else None)
        headers = {**auth_headers(row, key), **self._headers}
        return Target(route, headers, ask, self._policy, self._calls, call_retries, server_name(row))


def _must_agree(options: SendOptions, *, stream: bool) -> None:
    """`stream` is an option of `prepare`; here the method decides it."""
    if cast("dict[str, Any]", options).pop("stream", stream) is not stream:
        raise CallerError("complete() returns the whole reply, stream() its events: leave this option out", "stream")


class _Failed:
    """The models that failed. Each is reported: in the notes of the model that answers, or in the final error."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._errors: list[UpstreamError | KeyMissingError] = []

    def add(self, name: str, error: UpstreamError | KeyMissingError) -> None:
        why = error.problem if isinstance(error, KeyMissingError) else error.message
        self.notes.append(f"{name} failed before it answered: {why}")
        self._errors.append(error)

    @property
    def error(self) -> UpstreamError | KeyMissingError:
        """The error of a single model unchanged. For several: all messages, with status and code of the last upstream error."""
        if len(self._errors) == 1:
            return self._errors[0]
        message = "; ".join(self.notes)
        upstream = [error for error in self._errors if isinstance(error, UpstreamError)]
        if not upstream:
            return KeyMissingError(message, "api_key")
        last = upstream[-1]
        return UpstreamError(message, last.status, last.code, last.retry_after, last.should_retry)
