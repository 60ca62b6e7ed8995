"""The client for programs without an event loop: `Client`, AsyncClient's twin.

It runs the async one on a loop of its own, in a thread of its own, so that it works inside a running loop (a notebook) too.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterable, Iterator
from typing import Any, TypeVar

from toolglot.client.asking import AsyncClient
from toolglot.core.events import Event
from toolglot.core.reply import Reply

T = TypeVar("T")


class Client:
    """As AsyncClient, but its methods wait."""

    def __init__(self, model: str | None = None, **options: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="toolglot-client", daemon=True)
        self._thread.start()
        try:
            self._client = self._run(_made(model, options))
        except BaseException:
            self._stop()
            raise

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._loop.is_running():
            self._run(self._client.aclose())
            self._stop()

    def complete(self, messages: Any, model: str | None = None, tools: Iterable[Any] = (), **options: Any) -> Reply:
        return self._run(self._client.complete(messages, model, tools, **options))

    def stream(self, messages: Any, model: str | None = None, tools: Iterable[Any] = (), **options: Any) -> Iterator[Event]:
        events = self._client.stream(messages, model, tools, **options)
        try:
            while (event := self._run(_next(events))) is not None:
                yield event
        finally:
            self._run(events.aclose())  # type: ignore[attr-defined]

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # an interrupt here ends the work there
            raise

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _made(model: str | None, options: dict[str, Any]) -> AsyncClient:
    return AsyncClient(model, **options)


async def _next(events: Any) -> Event | None:
    return await anext(events, None)
