"""Runs heavy work in a worker thread, so that the event loop goes on. Two threads: the work is CPU-bound."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from typing import TypeVar

Result = TypeVar("Result")


async def in_worker(job: Callable[[], Result]) -> Result:
    run = partial(contextvars.copy_context().run, job)
    return await asyncio.get_running_loop().run_in_executor(_executor(), run)


@lru_cache(1)
def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(2, thread_name_prefix="toolglot-worker")  # not the default one: that also resolves host names
