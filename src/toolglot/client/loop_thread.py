"""An event loop in a separate thread: for programs without one, and for code inside a running one (a notebook)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any, TypeVar

from toolglot.errors import CallerError

T = TypeVar("T")
_POLL = 0.1  # seconds


class LoopThread:
    def __init__(self, name: str) -> None:
        self._ended = False
        self._lock = threading.RLock()  # `end` cancels work that was submitted before it; later work is rejected
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    @property
    def _in_loop_thread(self) -> bool:
        """Called from the loop's thread, which must not block."""
        return self._thread is threading.current_thread()

    @property
    def _is_forked(self) -> bool:
        """After a fork the thread does not exist in the child process, and waiting for it would never end."""
        return not self._ended and not self._thread.is_alive()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run it and wait. An interrupt cancels it. Raises concurrent.futures.CancelledError during and after `end`."""
        if self._is_forked:
            work.close()
            raise CallerError("it was created before this process was forked: create one in each process", "client")
        with self._lock:
            if self._ended:
                work.close()
                raise CancelledError
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        return _wait(future)

    def clean_up(self, work: Coroutine[Any, Any, object]) -> None:
        """Run cleanup work, unless `end` did it. From the loop's thread (garbage collection) it is started, not awaited."""
        if self._in_loop_thread:
            self._last = self._loop.create_task(work)  # a reference: the loop itself only has weak ones
            return
        with suppress(CancelledError):
            self.run(work)

    def end(self, before: Callable[[], Awaitable[object]] | None = None) -> None:
        """Run `before`, cancel all tasks so that no waiting thread hangs, then stop the loop and its thread."""
        if self._is_forked:
            return
        is_inside = self._in_loop_thread
        with self._lock:
            self._ended = True
        try:
            if not is_inside:
                asyncio.run_coroutine_threadsafe(_cancel_all(before), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            if not is_inside:
                self._thread.join()
                self._loop.close()


async def next_item(items: AsyncIterator[T]) -> T | None:
    """The next item, as a coroutine for `run`. None: there is none left."""
    return await anext(items, None)


def _wait(future: Future[T]) -> T:
    try:
        return _result(future)
    except BaseException:
        future.cancel()
        raise


def _result(future: Future[T]) -> T:
    """Wait for the result. A caller inside a task blocks its own loop, which then can't deliver a cancellation: poll for it.

    Ctrl-C in `asyncio.run` is such a case: it cancels the task and relies on the loop for the rest.
    """
    task = _current_task()
    while task is not None and not future.done():
        with suppress(TimeoutError):
            future.exception(_POLL)
        if task.cancelling() and not future.done():
            raise asyncio.CancelledError
    return future.result()


def _current_task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # no loop runs in this thread
        return None


async def _cancel_all(before: Callable[[], Awaitable[object]] | None) -> None:
    try:
        if before is not None:
            await before()
    finally:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await asyncio.get_running_loop().shutdown_asyncgens()
