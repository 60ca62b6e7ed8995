"""Runs chunks in worker processes. Results come in the order of the chunks; only a few are under way at a time."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from threading import Thread

from toolglot.bulk.chunks import Chunk
from toolglot.bulk.job import Done, Job, run_chunk

_AHEAD = 4  # chunks for each worker: a slow one must not stop the others


def run_in_processes(job: Job, chunks: Iterable[Chunk], workers: int) -> Iterator[Done]:
    if workers == 1:
        for chunk in chunks:
            yield run_chunk(job, chunk)
        return
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _start)  # spawn: the same on every system, and safe with threads
    try:
        pending: deque[Future[Done]] = deque()
        for chunk in chunks:
            pending.append(pool.submit(run_chunk, job, chunk))
            if len(pending) >= workers * _AHEAD:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _start() -> None:
    """The main process handles Ctrl-C; when it is killed, its workers end too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)
