"""Transports for httpx and httpx2 whose responses pass a `ResponseFilter`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from http import HTTPStatus
from types import ModuleType
from typing import Any

from toolglot.integrations.response_filter import ResponseFilter
from toolglot.io.json_codec import encode

_REPLACED = frozenset({"content-length", "content-encoding", "transfer-encoding"})
_STREAMS = ("text/event-stream", "application/x-ndjson")
Choose = Callable[[str, bytes], ResponseFilter | None]  # path, body


class Transport:
    """`http`: httpx or httpx2. `inner` sends the requests. `choose` gives the filter for a request's response."""

    def __init__(self, http: ModuleType, inner: Any, choose: Choose) -> None:
        self._http, self._inner, self._choose = http, inner, choose

    def handle_request(self, request: Any) -> Any:
        found = self._choose(request.url.path, request.read()) if request.method == "POST" else None
        response = self._inner.handle_request(self._rewritten(request, found))
        if found is None or response.status_code != HTTPStatus.OK:
            return response
        if not _is_stream(response):
            response.read()
            return self._answer(response, content=found.whole(response.content))
        return self._answer(response, stream=_stream(self._http.SyncByteStream, _pieces(found, response), response))

    def _rewritten(self, request: Any, found: ResponseFilter | None) -> Any:
        """The request in its tool mode: with native tools as it is."""
        if found is None or not found.prompted:
            return request
        headers = [(name, value) for name, value in request.headers.multi_items() if name.lower() not in _REPLACED]
        body = encode(found.body)
        return self._http.Request(request.method, request.url, headers=headers, content=body, extensions=request.extensions)

    def _answer(self, response: Any, **content: Any) -> Any:
        headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in _REPLACED]
        return self._http.Response(response.status_code, headers=headers, extensions=response.extensions, **content)

    def close(self) -> None:
        self._inner.close()

    def __enter__(self) -> Transport:
        self._inner.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._inner.__exit__(*raised)


class AsyncTransport(Transport):
    async def handle_async_request(self, request: Any) -> Any:
        found = self._choose(request.url.path, await request.aread()) if request.method == "POST" else None
        response = await self._inner.handle_async_request(self._rewritten(request, found))
        if found is None or response.status_code != HTTPStatus.OK:
            return response
        if not _is_stream(response):
            await response.aread()
            return self._answer(response, content=found.whole(response.content))
        return self._answer(response, stream=_stream(self._http.AsyncByteStream, _async_pieces(found, response), response))

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> AsyncTransport:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self._inner.__aexit__(*raised)


def _is_stream(response: Any) -> bool:
    return str(response.headers.get("content-type", "")).startswith(_STREAMS)


def _stream(base: type, pieces: Iterator[bytes] | AsyncIterator[bytes], response: Any) -> Any:
    """A byte stream of this package: closing it closes the server's response."""

    def close(_: Any) -> Any:
        return response.close()

    def aclose(_: Any) -> Any:
        return response.aclose()

    iterates = {"__iter__": lambda _: pieces, "__aiter__": lambda _: pieces}
    return type("FilteredStream", (base,), {**iterates, "close": close, "aclose": aclose})()


def _pieces(found: ResponseFilter, response: Any) -> Iterator[bytes]:
    for piece in response.iter_bytes():
        if out := found.feed(piece):
            yield out
    if out := found.close():
        yield out


async def _async_pieces(found: ResponseFilter, response: Any) -> AsyncIterator[bytes]:
    async for piece in response.aiter_bytes():
        if out := found.feed(piece):
            yield out
    if out := found.close():
        yield out
