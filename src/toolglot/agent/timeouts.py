"""The deadline of a run. It has its own error, because a hook or a client may raise TimeoutError itself."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


class DeadlineError(Exception):
    """The deadline has passed."""


async def with_deadline(work: Awaitable[T], until: float | None) -> T:
    """`until` is in the event loop's time; None: no limit."""
    try:
        async with asyncio.timeout_at(until) as limit:
            return await work
    except TimeoutError:
        if limit.expired():
            raise DeadlineError from None
        raise
