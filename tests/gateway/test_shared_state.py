"""State shared by gateways: both implementations, and two real gateways on a real Redis."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import trustme
from redis.asyncio import Redis

from tests.gateway.redis_server import (
    KEY,
    Process,
    RedisServer,
    gateways,
    needs_nginx,
    needs_redis,
    nginx,
    redis_server,
    until,
)
from tests.gateway.running import LIMITS, run
from tests.gateway.scripts import calls, question, response_to, text, weather
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server
from tests.ports import reserved_port
from toolglot.client.mode_stats import ModeStats
from toolglot.errors import CallerError, UpstreamError
from toolglot.gateway.budgets import Spending
from toolglot.gateway.config import read_config
from toolglot.gateway.records import Records
from toolglot.gateway.redis_state import RedisState
from toolglot.gateway.shared_state import Kind, LocalState, SharedState
from toolglot.gateway.sharing import Sharing
from toolglot.gateway.usage import Usage
from toolglot.io.json_codec import encode
from toolglot.pipeline.request.tool_mode import ModeCount

_CHAT = "/v1/chat/completions"
_KIND = Kind("test", 600, 100, 1000)
_SLOT = 600.0  # seconds; longer than any test


# -- both implementations


@contextlib.asynccontextmanager
async def _two_redis(folder: Path) -> AsyncIterator[tuple[RedisServer, RedisState, RedisState]]:
    async with redis_server(folder) as server:
        states = RedisState(server.url, _SLOT), RedisState(server.url, _SLOT)
        try:
            yield server, *states
        finally:
            for state in states:
                await state.aclose()


def _on_both(folder: Path, check: Callable[[SharedState, SharedState], Any], local: bool) -> None:
    async def work() -> None:
        if local:
            state = LocalState()
            await check(state, state)
        else:
            async with _two_redis(folder) as (_, one, other):
                await check(one, other)
                assert one.problem is None
                assert other.problem is None

    run(work())


_implementations = pytest.mark.parametrize("local", [True, pytest.param(False, marks=needs_redis)])


@_implementations
def test_values_are_bounded_in_number_and_bytes(tmp_path: Path, local: bool) -> None:
    async def check(one: SharedState, other: SharedState) -> None:
        kind = Kind("k", 60, 3, 100)
        for number in range(5):
            assert await one.put(kind, str(number), b"x" * 20)
        assert [await other.get(kind, str(number)) is not None for number in range(5)] == [False, False, True, True, True]
        await other.put(kind, "large", b"y" * 50)
        await other.put(kind, "large", b"z" * 45)  # replaces it: counted once
        assert await one.get(kind, "large") == b"z" * 45
        await other.put(kind, "last", b"w" * 40)
        assert [await one.get(kind, id) is not None for id in ("3", "4", "large", "last")] == [False, False, True, True]
        assert not await one.put(kind, "huge", b"x" * 101)
        assert await one.delete(kind, "large")
        assert not await other.delete(kind, "large")

    _on_both(tmp_path, check, local)


@_implementations
def test_no_update_and_no_count_is_lost(tmp_path: Path, local: bool) -> None:
    async def check(one: SharedState, other: SharedState) -> None:
        kind = Kind("k", 60, 2, 100)

        def increased(value: bytes | None) -> bytes:
            return str(int(value or 0) + 1).encode()

        await asyncio.gather(*[state.update(kind, "n", increased) for state in (one, other, one, other)])
        assert await one.get(kind, "n") == b"4"
        for state in (one, other):
            assert await state.add_counts(kind, "c", {"a": 1, "b": 2, "one too many": 5})
        assert await other.counts(kind, "c") == {"a": 2, "b": 4}

    _on_both(tmp_path, check, local)


# -- Redis


async def _passed(states: list[RedisState], *limits: Any) -> int:
    async def take(state: RedisState) -> int:
        try:
            await state.take_slot("key 0", *limits)
        except UpstreamError as error:
            return 0 if error.status == 429 and error.retry_after else 1000
        return 1

    return sum(await asyncio.gather(*map(take, states)))


@needs_redis
def test_rate_is_that_of_all_gateways(tmp_path: Path) -> None:
    async def work() -> None:
        async with _two_redis(tmp_path) as (_, one, other):
            assert await _passed([one, other] * 20, 1000, 0.001, 5) == 5  # a burst of 5; the next one in 1000 seconds

    run(work())


@needs_redis
def test_slots_are_renewed_and_those_of_a_killed_gateway_expire(tmp_path: Path) -> None:
    async def work() -> None:
        client: Any  # its types differ between versions
        async with _two_redis(tmp_path) as (server, killed, one), Redis.from_url(server.url) as client:
            assert await _passed([killed] * 3, 3, 0.0, 0) == 3  # neither renewed nor released
            [key] = await client.keys("*slots")

            async def expiries() -> list[float]:
                return [expiry for _, expiry in await client.zrange(key, 0, -1, withscores=True)]

            async def pass_by(seconds: float) -> None:
                for slot in await client.zrange(key, 0, -1):
                    await client.zincrby(key, -seconds, slot)

            assert await _passed([one], 3, 0.0, 0) == 0
            seconds, microseconds = await client.time()
            assert all(0 < expiry - seconds - microseconds / 1e6 <= _SLOT for expiry in await expiries())
            await pass_by(_SLOT + 1)
            renewing = asyncio.create_task(one.run())
            with contextlib.ExitStack() as slots:
                for _ in range(3):
                    slots.enter_context(await one.take_slot("key 0", 3, 0.0, 0))
                before = max(await expiries())

                async def are_renewed() -> bool:
                    return min(await expiries()) > before

                await until(are_renewed)
                assert await _passed([killed], 3, 0.0, 0) == 0

            async def is_free() -> bool:
                return await _passed([killed], 3, 0.0, 0) == 1

            await until(is_free)
            renewing.cancel()

    run(work())


@needs_redis
def test_a_redis_that_hangs_is_given_up_and_found_again(tmp_path: Path) -> None:
    async def work() -> None:
        async with _two_redis(tmp_path) as (server, one, _):
            assert await one.put(_KIND, "a", b"1")
            server.pause()
            assert await asyncio.gather(*[one.get(_KIND, "a") for _ in range(100)]) == [None] * 100
            assert "TimeoutError" in (one.problem or "")
            assert not await one.put(_KIND, "b", b"1")
            assert await _passed([one] * 5, 1, 0.0, 0) == 5, "the limits of the gateway itself are left"
            checking = asyncio.create_task(one.run())
            server.resume()
            await until(lambda: one.problem is None)
            assert await one.get(_KIND, "a") == b"1"
            checking.cancel()

    run(work())


@needs_redis
def test_mode_stats_are_those_of_all_gateways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOOLGLOT_REMEMBER")

    async def work() -> None:
        async with _two_redis(tmp_path) as (_, one, other):
            first, second = ModeStats(tmp_path / "first.json"), ModeStats(tmp_path / "second.json")
            jobs = [
                asyncio.ensure_future(Sharing(Records(), stats, Usage(), Spending(), state)(None))
                for stats, state in ((first, one), (second, other))
            ]
            for stats, good in ((first, True), (second, False), (first, True)):
                stats.note("vllm", "m", "native", good)

            def are_shared() -> bool:
                return all(stats.mode_counts("vllm", "m") == {"native": ModeCount(3, 2)} for stats in (first, second))

            await until(are_shared)
            for job in jobs:
                job.cancel()
            await asyncio.gather(*jobs, return_exceptions=True)
            assert not (tmp_path / "first.json").exists(), "what is shared is not counted twice"

    run(work())


@needs_redis
def test_tls_and_password(tmp_path: Path) -> None:
    async def work() -> None:
        authority = trustme.CA()
        issued = authority.issue_cert("127.0.0.1")
        authority.cert_pem.write_to_path(tmp_path / "ca.pem")
        issued.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
        issued.private_key_pem.write_to_path(tmp_path / "key.pem")
        files = ["--tls-cert-file", "cert.pem", "--tls-key-file", "key.pem", "--tls-ca-cert-file", "ca.pem"]
        files = [str(tmp_path / word) if word.endswith(".pem") else word for word in files]
        with reserved_port() as port:
            options = ["--tls-port", str(port), *files, "--tls-auth-clients", "no", "--requirepass", "s3cret"]
            async with redis_server(tmp_path, *options):
                for password, works in (("s3cret", True), ("wrong", False)):
                    state = RedisState(f"rediss://:{password}@127.0.0.1:{port}/0?ssl_ca_certs={tmp_path / 'ca.pem'}")
                    assert await state.put(_KIND, "a", b"1") is works
                    assert (state.problem is None) is works
                    assert "s3cret" not in str(state.problem)
                    await state.aclose()

    run(work())


@pytest.mark.parametrize(
    ("state", "problem"),
    [
        ("http://:s3cret@here", "must begin with redis://"),
        ("env:NOT_SET", "environment variable NOT_SET"),
    ],
)
def test_a_wrong_address_is_an_error_without_its_password(state: str, problem: str) -> None:
    with pytest.raises(CallerError) as caught:
        read_config(f'[server]\nstate = "{state}"\n', environ={})
    assert problem in str(caught.value)
    assert "line 2, [server] state" in str(caught.value)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("url", ["redis://:s3cret@here:port", "redis://:s3cret@here?unknown=1"])
def test_an_address_that_redis_can_not_use_is_an_error(url: str) -> None:
    with pytest.raises(CallerError, match="not a valid address") as caught:
        RedisState(url)
    assert "s3cret" not in str(caught.value)


# -- real gateways


def _hello(request: UpstreamRequest) -> UpstreamResponse:
    return response_to(request, text("Hello."))


async def _chat(gateway: Process) -> tuple[int, Any, dict[str, str]]:
    return await gateway.ask("POST", _CHAT, question("openai-chat", "any", ()))


@needs_redis
def test_concurrent_requests_are_limited_over_all_gateways(tmp_path: Path) -> None:
    async def work() -> None:
        go_on = asyncio.Event()

        async def wait(request: UpstreamRequest) -> UpstreamResponse:
            await go_on.wait()
            return _hello(request)

        async with (
            upstream_server(wait) as up,
            redis_server(tmp_path) as redis,
            gateways(tmp_path, up.url, redis.url, "max_concurrent = 5") as both,
        ):
            for _ in range(2):  # released slots are free again
                go_on.clear()
                up.requests.clear()
                asked = [asyncio.create_task(_chat(both[number % 2])) for number in range(20)]
                await until(lambda: sum(task.done() for task in asked) == 15)  # noqa: B023
                await until(lambda: len(up.chats) == 5)
                go_on.set()
                answers = await asyncio.gather(*asked)
                assert sorted(status for status, _, _ in answers) == [200] * 5 + [429] * 15
                await until(lambda: _no_slots(redis))

    run(work())


async def _no_slots(redis: RedisServer) -> bool:
    async with Redis.from_url(redis.url) as client:
        return not await client.keys("*slots") or not await client.zcard((await client.keys("*slots"))[0])


@needs_redis
def test_the_other_gateway_has_responses_decisions_and_usage(tmp_path: Path) -> None:
    async def work() -> None:
        def play(request: UpstreamRequest) -> UpstreamResponse:
            return response_to(request, calls(weather({"city": "Paris"})) if "tools" in request.body else text("Hello."))

        async with (
            upstream_server(play) as up,
            redis_server(tmp_path) as redis,
            gateways(tmp_path, up.url, redis.url) as (one, other),
        ):
            _, first, headers = await one.ask("POST", "/v1/responses", {"model": "any", "input": "My name is Ada."})
            body = {"model": "any", "input": "And?", "previous_response_id": first["id"]}
            status, second, _ = await other.ask("POST", "/v1/responses", body)
            assert status == 200
            assert "Ada" in str(up.chats[-1].body)
            assert (await one.ask("GET", f"/v1/responses/{second['id']}"))[1]["id"] == second["id"]
            assert (await other.ask("POST", "/v1/responses/input_tokens", body))[0] == 200
            _, _, called = await one.ask("POST", _CHAT, question("openai-chat", "any"))
            for gateway in (one, other):
                for id in (headers["x-request-id"], called["x-request-id"]):
                    await until(lambda: _has(gateway, f"/toolglot/decisions/{id}"))  # noqa: B023
            record = (await other.ask("GET", f"/toolglot/decisions/{called['x-request-id']}"))[1]
            assert (record["status"], len(record["calls"])) == (200, 1)

            async def is_counted() -> bool:
                rows = (await other.ask("GET", "/toolglot/usage"))[1]["usage"]
                return [(row["model"], row["requests"], row["input_tokens"]) for row in rows] == [("m", 3, 30)]

            await until(is_counted)
            assert (await one.ask("DELETE", f"/v1/responses/{first['id']}"))[1]["deleted"] is True
            assert (await other.ask("POST", "/v1/responses", body))[0] == 400
            await _check_keys(redis)

            deleted = (await other.ask("DELETE", "/toolglot/records"))[1]["deleted"]
            assert (deleted["records"] >= 3, deleted["responses"]) == (True, 1)
            assert (await one.ask("GET", f"/v1/responses/{second['id']}"))[0] == 404
            async with Redis.from_url(redis.url) as client:
                assert not await client.keys("toolglot:{responses}:value:*")

    run(work())


async def _has(gateway: Process, path: str) -> bool:
    return (await gateway.ask("GET", path))[0] == 200


async def _check_keys(redis: RedisServer) -> None:
    """Everything has a time to live and our prefix, and the API key is nowhere."""
    async with Redis.from_url(redis.url) as client:
        keys: list[Any] = await client.keys("*")
        assert len(keys) > 6
        for key in keys:
            assert bytes(key).startswith(b"toolglot:")
            assert await client.ttl(key) != -1, f"{key!r} never expires"
            assert KEY.encode() not in bytes(key) + (await client.dump(key) or b"")


@needs_redis
def test_requests_go_on_without_redis_and_are_shared_again_with_it(tmp_path: Path) -> None:
    async def work() -> None:
        async with (
            upstream_server(_hello) as up,
            redis_server(tmp_path) as redis,
            gateways(tmp_path, up.url, redis.url) as (one, other),
        ):
            statuses: list[int] = []

            async def load(gateway: Process) -> None:
                while True:
                    statuses.append((await _chat(gateway))[0])

            loads = [asyncio.create_task(load(gateway)) for gateway in (one, other, one, other)]
            await until(lambda: len(statuses) > 20)
            for gateway in (one, other):
                await until(lambda: _is(gateway, "ready"))  # noqa: B023
            redis.kill()
            for gateway in (one, other):
                await until(lambda: _is(gateway, "degraded"))  # noqa: B023
            before = len(statuses)
            await until(lambda: len(statuses) > before + 20)
            sent = {"model": "any", "input": "My name is Ada."}
            _, local, _ = await one.ask("POST", "/v1/responses", sent)
            assert (await one.ask("GET", "/toolglot/live"))[1]["problem"].startswith("Redis failed")
            await redis.start()
            for gateway in (one, other):
                await until(lambda: _is(gateway, "ready"))  # noqa: B023
            more = {"model": "any", "input": "And now?", "previous_response_id": local["id"]}
            _, shared, _ = await one.ask("POST", "/v1/responses", more)
            assert [request for request in up.requests if "Ada" in str(request.body) and "And now?" in str(request.body)]
            assert await _has(other, f"/v1/responses/{shared['id']}")
            for task in loads:
                assert not task.done()
                task.cancel()
            await asyncio.gather(*loads, return_exceptions=True)
            assert set(statuses) == {200}

    run(work())


async def _is(gateway: Process, status: str) -> bool:
    return await gateway.status() == status


@needs_redis
@pytest.mark.parametrize("server", ["", "workers = 2"])
def test_a_reload_of_one_gateway_reloads_the_others(tmp_path: Path, server: str) -> None:
    async def work() -> None:
        async with (
            upstream_server(_hello) as up,
            redis_server(tmp_path) as redis,
            gateways(tmp_path, up.url, redis.url, server) as (one, other),
        ):
            path = tmp_path / "gateway1" / "toolglot.toml"
            before = path.stat()
            path.write_text(path.read_text().replace("u/m", "u/n"))
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # looks unchanged: only the message tells

            async def is_reloaded() -> bool:
                one.process.send_signal(signal.SIGHUP)  # again, for the other may not listen yet
                await _chat(other)
                return bool(up.chats[-1].body["model"] == "n")

            for gateway in (one, other):  # once a gateway responds, it handles signals
                await _chat(gateway)
                assert up.chats[-1].body["model"] == "m"
            await until(is_reloaded)

    run(work())


@needs_redis
@needs_nginx
def test_a_killed_gateway_behind_nginx_loses_only_its_running_requests(tmp_path: Path) -> None:
    async def work() -> None:
        async with (
            upstream_server(lambda request: response_to(request, text("slowly " * 9), 0.01)) as up,
            redis_server(tmp_path) as redis,
            gateways(tmp_path, up.url, redis.url) as both,
            nginx(tmp_path, [gateway.url for gateway in both]) as url,
        ):
            front = Process(both[0].process, url, both[0].client)
            ended: list[str] = []

            async def load() -> None:
                while len(ended) < 60:
                    ended.append(await _stream(front))

            loads = [asyncio.create_task(load()) for _ in range(8)]
            await until(lambda: len(ended) > 15)
            assert set(ended) == {"complete"}
            both[0].process.kill()
            await both[0].process.wait()
            await asyncio.gather(*loads)
            failed = [one for one in ended if one != "complete"]
            assert len(failed) <= 8, "at most what was running"
            assert set(failed) <= {"cut off", "status 502", "status 504"}
            assert set(ended[-20:]) == {"complete"}

    run(work())


async def _stream(gateway: Process) -> str:
    sent = encode({**question("openai-chat", "any", ()), "stream": True})
    try:
        answer = await gateway.client.send("POST", gateway.url + _CHAT, {"x-api-key": KEY}, sent, limits=LIMITS)
        data = await answer.read()
        await answer.aclose()
    except UpstreamError:
        return "cut off"
    if answer.status != 200:
        return f"status {answer.status}"
    return "complete" if data.endswith(b"data: [DONE]\n\n") else "cut off"
