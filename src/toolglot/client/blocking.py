"""The client for programs without an event loop: `Client`, AsyncClient's twin.

It runs the async one on a loop of its own, in a thread of its own, so that it works inside a running loop (a notebook) too.
"""

from __future__ import annotations

import weakref
from collections.abc import Coroutine, Iterable, Iterator
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from toolglot.client.asking import AsyncClient
from toolglot.client.loop_thread import LoopThread
from toolglot.core.events import Event
from toolglot.core.reply import Reply
from toolglot.errors import CallerError

T = TypeVar("T")


class Client:
    """As AsyncClient, but its methods wait. Several threads may use one."""

    def __init__(self, model: str | None = None, **options: Any) -> None:
        self._thread = LoopThread("toolglot-client")
        held: list[AsyncClient] = []
        self._ended = weakref.finalize(self, _end, self._thread, held)  # also where it is dropped without a close
        try:
            self._client = self._run(_made(model, options))
            held.append(self._client)
        except BaseException:
            self._ended()
            raise

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """What other threads still wait for is cut off."""
        self._ended()

    def complete(self, messages: Any, model: str | None = None, tools: Iterable[Any] = (), **options: Any) -> Reply:
        return self._run(self._client.complete(messages, model, tools, **options))

    def stream(self, messages: Any, model: str | None = None, tools: Iterable[Any] = (), **options: Any) -> Iterator[Event]:
        events = self._client.stream(messages, model, tools, **options)
        try:
            while (event := self._run(_next(events))) is not None:
                yield event
        finally:
            self._thread.see_off(events.aclose())  # type: ignore[attr-defined]

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return self._thread.run(work)
        except CancelledError:
            raise CallerError("the client is closed: make a new one", "client") from None


def _end(thread: LoopThread, held: list[AsyncClient]) -> None:
    """Its connections, its loop and its thread. It knows no Client, which else would never be dropped."""
    thread.end(held[0].aclose if held else None)


async def _made(model: str | None, options: dict[str, Any]) -> AsyncClient:
    return AsyncClient(model, **options)


async def _next(events: Any) -> Event | None:
    return await anext(events, None)
