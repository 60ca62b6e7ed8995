"""Retries of a request: when, and after how long. Only before the first event; after it nothing is sent twice.

The policy is pure. The driver takes clock, sleep and random numbers as arguments, so that tests need no time.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

import msgspec

from toolglot.errors import UpstreamError
from toolglot.io.upstream_errors import parse_duration

T = TypeVar("T")
_EPOCH = 1e9  # a larger number is a date in seconds since 1970, one a thousand times larger the same in milliseconds


class Policy(msgspec.Struct, frozen=True):
    """Times in seconds. `attempts` includes the first one: 1 means no retry."""

    attempts: int = 3
    total: float = 120.0  # from the first attempt's start to the last one's
    first: float = 0.5  # the first pause, doubled each time
    most: float = 8.0  # the longest pause that we choose
    longest: float = 60.0  # the longest pause that a server may demand; beyond it the error is raised at once
    faults_only: bool = False  # retry only broken connections and 5xx: the client retries the rest itself


NEVER = Policy(attempts=1)
_BROKEN = frozenset({"dns_failed", "connect_failed", "timeout_connect", "cut_off"})  # faults below HTTP


def pause(policy: Policy, attempt: int, spent: float, error: UpstreamError, chance: float) -> float | None:
    """Seconds until the next attempt after the failed number `attempt` (from 1), or None: raise. `chance` is in [0, 1).

    A wait time that the server demands is extended by up to a tenth, so that many clients do not return at once.
    """
    if attempt >= policy.attempts or not error.retryable or (policy.faults_only and not _is_fault(error)):
        return None
    if error.retry_after is not None:
        if error.retry_after > policy.longest:
            return None
        wait = error.retry_after * (1 + chance / 10)
    else:
        wait = min(policy.first * 2.0 ** (attempt - 1), policy.most) * (1 - chance / 2)
    return wait if spent + wait <= policy.total else None


def _is_fault(error: UpstreamError) -> bool:
    return error.code in _BROKEN if error.status is None else error.status >= 500


async def with_retries(
    attempt: Callable[[], Awaitable[T]],
    policy: Policy | None = None,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    chance: Callable[[], float] = random.random,
    on_pause: Callable[[int, float, UpstreamError], None] | None = None,
) -> T:
    """Run `attempt` until it returns. It may raise UpstreamError only before it passes anything on.

    `on_pause(number, seconds, error)` is called before each pause. The last error is raised.
    """
    policy = policy or Policy()
    began = clock()
    number = 1
    while True:
        try:
            return await attempt()
        except UpstreamError as error:
            wait = pause(policy, number, clock() - began, error, chance())
            if wait is None:
                raise
            if on_pause is not None:
                on_pause(number, wait, error)
        await sleep(wait)
        number += 1


# -- retry times that need a clock, which the pure io/upstream_errors.py has not


def with_late_wait(error: UpstreamError, headers: Mapping[str, str], now: float) -> UpstreamError:
    """The error with its retry time, where that is a date. `now`: seconds since 1970; header names in lower case."""
    if error.retry_after is not None:
        return error
    wait = _reset_time(headers.get("retry-after", "").strip(), now)
    if wait is None and error.status == 429:
        wait = _until_reset(headers, now)
    if wait is None:
        return error
    return UpstreamError(error.message, error.status, error.code, wait, error.should_retry)


def _until_reset(headers: Mapping[str, str], now: float) -> float | None:
    """The latest reset among the limits that are used up. One with something left did not cause the error.

    Spellings: x-ratelimit-reset-requests `6m0s` (OpenAI, Groq), x-ratelimit-reset in milliseconds since 1970 (OpenRouter),
    anthropic-ratelimit-tokens-reset as a date of RFC 3339, ratelimit-reset in seconds (IETF draft).
    """
    waits = []
    for name, value in headers.items():
        if "ratelimit" in name and "reset" in name and headers.get(name.replace("reset", "remaining"), "0").strip() == "0":
            wait = _reset_time(value.strip(), now)
            if wait is not None:
                waits.append(wait)
    return max(waits, default=None)


def _reset_time(value: str, now: float) -> float | None:
    try:
        number = float(value)
    except ValueError:
        relative = parse_duration(value)
        return relative if relative is not None else _until_date(value, now)
    if number >= _EPOCH * 1000:
        number /= 1000
    if number >= _EPOCH:
        return max(0.0, number - now)
    return number if number >= 0 else None


def _until_date(value: str, now: float) -> float | None:
    """An HTTP date in any of its three forms, or one of RFC 3339. Without a time zone it is UTC, as in HTTP."""
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            then = read(value)
            return max(0.0, (then if then.tzinfo is not None else then.replace(tzinfo=UTC)).timestamp() - now)
        except (ValueError, TypeError, OverflowError):
            continue
    return None
