"""Retry without waiting: clock, sleep and chance are ours."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from tests.client.fault_server import fault_server
from tests.client.running import DIRECT, PATIENT, run
from toolglot.client.http import HttpTransport
from toolglot.client.retry import NEVER, Policy, pause, with_late_wait, with_retries
from toolglot.errors import UpstreamError
from toolglot.io.upstream_errors import read_error

NOW = 1_800_000_000.0


class World:
    """A clock that only sleeping, and what is said to take time, moves."""

    def __init__(self, *failures: UpstreamError | float) -> None:
        self.now = 100.0
        self.failures = list(failures)
        self.slept: list[float] = []
        self.tries = 0
        self.pauses: list[int] = []

    async def attempt(self) -> str:
        self.tries += 1
        while self.failures:
            failure = self.failures.pop(0)
            if isinstance(failure, UpstreamError):
                raise failure
            self.now += failure
        return "done"

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def go(self, policy: Policy | None = None, chance: float = 0.0) -> str:
        return asyncio.run(
            with_retries(
                self.attempt,
                policy,
                clock=lambda: self.now,
                sleep=self.sleep,
                chance=lambda: chance,
                on_pause=lambda number, *_: self.pauses.append(number),
            )
        )


def refused(
    status: int | None = 503, wait: float | None = None, should: bool | None = None, code: str | None = None
) -> UpstreamError:
    return UpstreamError("no", status, code, wait, should)


@pytest.mark.parametrize("status", [None, 408, 409, 425, 429, 500, 502, 503, 504, 529, 599])
def test_these_are_tried_again(status: int | None) -> None:
    world = World(refused(status), refused(status))
    assert world.go() == "done"
    assert (world.tries, world.slept, world.pauses) == (3, [0.5, 1.0], [1, 2])


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
def test_these_are_not(status: int) -> None:
    world = World(refused(status))
    with pytest.raises(UpstreamError):
        world.go()
    assert (world.tries, world.slept) == (1, [])


def test_the_server_has_the_last_word_on_whether() -> None:
    with pytest.raises(UpstreamError):
        World(refused(503, should=False)).go()
    assert World(refused(400, should=True)).go() == "done"


def test_pauses_double_up_to_a_limit_and_vary() -> None:
    policy = Policy(attempts=9, total=1000)
    assert [pause(policy, number, 0, refused(), 0.0) for number in range(1, 8)] == [0.5, 1, 2, 4, 8, 8, 8]
    assert pause(policy, 3, 0, refused(), 0.999) == pytest.approx(1, abs=0.01)


def test_a_demanded_time_is_kept_and_only_stretched() -> None:
    assert pause(Policy(), 1, 0, refused(429, 12.0), 0.0) == 12
    assert pause(Policy(), 1, 0, refused(429, 12.0), 0.999) == pytest.approx(13.2, abs=0.01)
    assert pause(Policy(), 1, 0, refused(429, 0.0), 0.5) == 0


def test_a_time_too_long_is_raised_at_once() -> None:
    world = World(refused(429, 61.0))
    with pytest.raises(UpstreamError) as caught:
        world.go()
    assert caught.value.retry_after == 61
    assert world.slept == []


def test_attempts_and_seconds_are_limited() -> None:
    world = World(*[refused()] * 5)
    with pytest.raises(UpstreamError):
        world.go()
    assert world.tries == 3
    world = World(50.0, refused(429, 30.0), 50.0, refused(429, 30.0))
    with pytest.raises(UpstreamError):
        world.go(Policy(attempts=10, total=120))
    assert world.slept == [30.0]  # a second pause would end beyond the budget
    with pytest.raises(UpstreamError):
        World(refused()).go(NEVER)


def test_other_errors_pass_through() -> None:
    async def wrong() -> None:
        raise ValueError("ours")

    with pytest.raises(ValueError, match="ours"):
        asyncio.run(with_retries(wrong))


LATE = {
    "a date without the server's own": ({"retry-after": format_datetime(datetime.fromtimestamp(NOW + 9, UTC), usegmt=True)}, 9),
    "a date gone by": ({"retry-after": format_datetime(datetime.fromtimestamp(NOW - 9, UTC), usegmt=True)}, 0),
    "a date as C writes it": ({"retry-after": datetime.fromtimestamp(NOW + 9, UTC).strftime("%a %b %d %H:%M:%S %Y")}, 9),
    "openai": ({"x-ratelimit-reset-requests": "6m0s", "x-ratelimit-remaining-requests": "0"}, 360),
    "openai with some left": ({"x-ratelimit-reset-requests": "6m0s", "x-ratelimit-remaining-requests": "3"}, None),
    "the one that is used up": (
        {
            "x-ratelimit-reset-requests": "1h",
            "x-ratelimit-remaining-requests": "3",
            "x-ratelimit-reset-tokens": "7.66s",
            "x-ratelimit-remaining-tokens": "0",
        },
        7.66,
    ),
    "openrouter": ({"x-ratelimit-reset": str(int((NOW + 20) * 1000)), "x-ratelimit-remaining": "0"}, 20),
    "seconds since 1970": ({"x-ratelimit-reset": str(int(NOW + 20))}, 20),
    "seconds from now": ({"ratelimit-reset": "20"}, 20),
    "anthropic": (
        {
            "anthropic-ratelimit-tokens-reset": datetime.fromtimestamp(NOW + 5, UTC).isoformat().replace("+00:00", "Z"),
            "anthropic-ratelimit-tokens-remaining": "0",
        },
        5,
    ),
    "retry-after as a time": ({"retry-after": str(int(NOW + 20))}, 20),
    "retry-after that is not a time": ({"retry-after": "inf"}, None),
    "nonsense": ({"retry-after": "soon", "x-ratelimit-reset": "later", "ratelimit-reset": "-3"}, None),
}


@pytest.mark.parametrize("name", LATE)
def test_times_that_need_a_clock(name: str) -> None:
    headers, wanted = LATE[name]
    error = with_late_wait(refused(429), headers, NOW)
    assert error.retry_after == (wanted if wanted is None else pytest.approx(wanted))
    assert with_late_wait(refused(429, 3.0), headers, NOW).retry_after == 3
    if "retry-after" not in headers:
        assert with_late_wait(refused(500), headers, NOW).retry_after is None


FORMS: dict[str, tuple[str, bytes, float | None, bool]] = {
    "seconds": ("Retry-After: 2\r\n", b"", 2, True),
    "date": ("Retry-After: Fri, 15 Jan 2027 08:00:07 GMT\r\nDate: Fri, 15 Jan 2027 08:00:00 GMT\r\n", b"", 7, True),
    "milliseconds": ("retry-after-ms: 250\r\n", b"", 0.25, True),
    "google": ("", b'{"error":{"code":429,"message":"m","details":[{"retryDelay":"12s"}]}}', 12, True),
    "body": ("", b'{"error":{"message":"m","retryAfterMs":1500}}', 1.5, True),
    "do": ("x-should-retry: true\r\n", b"", None, True),
    "don't": ("x-should-retry: false\r\nRetry-After: 1\r\n", b"", 1, False),
}


@pytest.mark.parametrize("status", [429, 529])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_over_the_wire(form: str, status: int) -> None:
    lines, body, wait, again = FORMS[form]
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            head = f"HTTP/1.1 {status} No\r\n{lines}Content-Length: {len(body)}\r\n\r\n".encode()
            server.says("/", head + body, close=False)

            async def attempt() -> None:
                async with await client.send("POST", server.url("/"), {}, limits=PATIENT) as answer:
                    raise with_late_wait(read_error(answer.status, answer.headers, await answer.read()), answer.headers, NOW)

            with pytest.raises(UpstreamError) as caught:
                await with_retries(attempt, Policy(attempts=2), sleep=sleep, chance=lambda: 0.0)
            assert (caught.value.status, caught.value.retry_after) == (status, wait)
            assert len(server.requests) == (2 if again else 1)
            assert slept == ([wait if wait is not None else 0.5] if again else [])

    run(work())


def test_connection_faults_are_tried_again() -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            server.says("/", b"HTTP/1.1 200 OK\r\nContent-Len")

            async def attempt() -> None:
                if len(server.requests) == 2:
                    del server.scripts["/"]
                async with await client.send("POST", server.url("/"), {}, limits=PATIENT) as answer:
                    assert await answer.read() == b"ok"

            await with_retries(attempt, sleep=lambda _: asyncio.sleep(0))
            assert len(server.requests) == 3

    run(work())
