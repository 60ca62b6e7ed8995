"""An event loop in a thread of its own: for programs that have none, and for those inside of one (a notebook)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any, TypeVar

from toolglot.errors import CallerError

T = TypeVar("T")
_LOOK = 0.1  # seconds


class LoopThread:
    def __init__(self, name: str) -> None:
        self._ended = False
        self._door = threading.RLock()  # what comes in before the end is cut off by it, what comes later is turned away
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    @property
    def _here(self) -> bool:
        """Within the loop's own work: nothing can be waited for."""
        return self._thread is threading.current_thread()

    @property
    def _left_behind(self) -> bool:
        """In a process that was forked off there is no such thread, and who waits for it waits for ever."""
        return not self._ended and not self._thread.is_alive()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Waits for it. An interrupt here ends the work there; after `end`, or cut off by it, a CancelledError of futures."""
        if self._left_behind:
            work.close()
            raise CallerError("it was made before this process was forked off: make one in each process", "client")
        with self._door:
            if self._ended:
                work.close()
                raise CancelledError
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        return _waited_for(future)

    def see_off(self, work: Coroutine[Any, Any, object]) -> None:
        """Runs what cleans up, unless the end did. By the loop's own thread, as a garbage collection may, it is only begun."""
        if self._here:
            self._last = self._loop.create_task(work)  # kept: the loop itself holds its tasks weakly
            return
        with suppress(CancelledError):
            self.run(work)

    def end(self, before: Callable[[], Awaitable[object]] | None = None) -> None:
        """After `before`, what still runs is cancelled, or who waits for it would wait for ever; then loop and thread go."""
        if self._left_behind:
            return
        here = self._here
        with self._door:
            self._ended = True
        try:
            if not here:
                asyncio.run_coroutine_threadsafe(_cleared(before), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            if not here:
                self._thread.join()
                self._loop.close()


def _waited_for(future: Future[T]) -> T:
    try:
        return _given(future)
    except BaseException:
        future.cancel()
        raise


def _given(future: Future[T]) -> T:
    """Its result. Who waits within a task blocks the loop that would tell that the task is cancelled: it has to look itself.

    So it is with Ctrl-C in `asyncio.run`, which cancels the task, and trusts the loop for the rest.
    """
    task = _task_here()
    while task is not None and not future.done():
        with suppress(TimeoutError):
            future.exception(_LOOK)
        if task.cancelling() and not future.done():
            raise asyncio.CancelledError
    return future.result()


def _task_here() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # no loop runs in this thread
        return None


async def _cleared(before: Callable[[], Awaitable[object]] | None) -> None:
    try:
        if before is not None:
            await before()
    finally:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await asyncio.get_running_loop().shutdown_asyncgens()
