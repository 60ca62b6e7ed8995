"""The time of a run, told from that of anything in it: a hook or a client may raise a TimeoutError of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


class OutOfTimeError(Exception):
    """The run's own time is over."""


async def in_time(work: Awaitable[T], until: float | None) -> T:
    """`until` is a time of the event loop's clock; None: no limit."""
    try:
        async with asyncio.timeout_at(until) as limit:
            return await work
    except TimeoutError:
        if limit.expired():
            raise OutOfTimeError from None
        raise
