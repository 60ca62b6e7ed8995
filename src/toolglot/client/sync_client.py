"""`Client`: AsyncClient for programs without an event loop.

It runs an AsyncClient on an event loop in a separate thread, so it also works inside a running loop (a notebook).
"""

from __future__ import annotations

import weakref
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator
from concurrent.futures import CancelledError
from typing import Any, TypeVar, Unpack

from toolglot.client.async_client import AsyncClient, ClientOptions
from toolglot.client.loop_thread import LoopThread, next_item
from toolglot.core.events import Event
from toolglot.core.reply import Reply
from toolglot.errors import CallerError
from toolglot.pipeline.request.options import SendOptions

T = TypeVar("T")


class Client:
    """AsyncClient with blocking methods. Thread-safe.

    Examples:
        >>> with toolglot.Client("ollama/qwen3:8b") as client:
        ...     pass

        There, `client.complete("Hello").text` is the answer, and `client.stream_text("Hello")` yields it while it is written.
    """

    def __init__(self, model: str | None = None, **options: Unpack[ClientOptions]) -> None:
        self._thread = LoopThread("toolglot-client")
        clients: list[AsyncClient] = []
        self._close = weakref.finalize(self, _close_all, self._thread, clients)  # also when it is garbage-collected
        try:
            self._client = self._run(_create(model, options))
            clients.append(self._client)
        except BaseException:
            self._close()
            raise

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Requests that other threads still wait for are cancelled."""
        self._close()

    def complete(
        self, messages: Any, model: str | None = None, tools: Iterable[Any] = (), **options: Unpack[SendOptions]
    ) -> Reply:
        """The whole reply: validated calls, text, usage, notes and decisions."""
        return self._run(self._client.complete(messages, model, tools, **options))

    def stream(
        self, messages: Any, model: str | None = None, tools: Iterable[Any] = (), **options: Unpack[SendOptions]
    ) -> Iterator[Event]:
        """Events as they arrive; `fold` turns them into a Reply. Leaving the loop early closes the connection at once."""
        return self._iterate(self._client.stream(messages, model, tools, **options))

    def stream_text(
        self, messages: Any, model: str | None = None, tools: Iterable[Any] = (), **options: Unpack[SendOptions]
    ) -> Iterator[str]:
        """Like `stream`, but only the answer's text. An UpstreamError is raised if the stream breaks off."""
        return self._iterate(self._client.stream_text(messages, model, tools, **options))

    def _iterate(self, items: AsyncIterator[T]) -> Iterator[T]:
        try:
            while (item := self._run(next_item(items))) is not None:
                yield item
        finally:
            self._thread.clean_up(items.aclose())  # type: ignore[attr-defined]

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return self._thread.run(work)
        except CancelledError:
            raise CallerError("the client is closed: create a new one", "client") from None


def _close_all(thread: LoopThread, clients: list[AsyncClient]) -> None:
    """Connections, loop and thread. It has no reference to the Client, which could not be garbage-collected otherwise."""
    thread.end(clients[0].aclose if clients else None)


async def _create(model: str | None, options: ClientOptions) -> AsyncClient:
    return AsyncClient(model, **options)
