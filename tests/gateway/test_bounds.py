"""What is kept in memory is bounded in bytes, and strange upstreams, clocks and disks have their right outcome."""

from __future__ import annotations

import asyncio
import pkgutil
import threading
import time
from typing import Any

import msgspec
import pytest

from tests.gateway.running import WIRES, config, request_of, run, serving
from tests.gateway.scripts import fixture, in_turn, question, text
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server
from toolglot.core.messages import Message, Text
from toolglot.gateway.records import Records
from toolglot.gateway.store import Store, StoreError

MANY = 5_000_000  # bytes


# -- memory


def test_long_model_names_are_not_kept() -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            path, sent = request_of("openai-chat", question("openai-chat", "x" * MANY), stream=False)
            for _ in range(3):
                assert (await gateway.ask("POST", path, sent))[0] == 404
            for record in gateway.gateway.records.recent():
                assert len(msgspec.msgpack.encode(record)) < 5000

    run(work())


def test_records_are_bounded_in_bytes() -> None:
    records = Records(max_bytes=100_000)
    for number in range(50):
        record = records.begin(str(number), "openai-chat")
        record.notes = ["n" * MANY] * 1000
        record.content = msgspec.Raw(b'"' + b"x" * 20_000 + b'"')
        records.add(record)
    kept = records.recent()
    assert [record.id for record in kept] == [str(number) for number in range(49, 49 - len(kept), -1)]
    assert sum(len(msgspec.msgpack.encode(record)) for record in kept) <= 100_000 < MANY


def test_a_content_that_is_too_large_is_left_out() -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up, server="record = true")) as gateway:
            sent = {**question("openai-chat", "openai-chat/m", ()), "user": "x" * 2 * MANY}
            _, _, headers = await gateway.ask("POST", "/v1/chat/completions", sent)
            while not gateway.gateway.records.recent():  # of a large body it is written in a worker
                await asyncio.sleep(0.01)
            _, record, _ = await gateway.ask("GET", f"/toolglot/decisions/{headers['x-request-id']}")
            assert "content" not in record
            assert "the content is not kept" in record["notes"][-1]

    run(work())


def test_the_store_is_bounded_in_bytes() -> None:
    store = Store(max_bytes=1_000_000)
    for number in range(400):
        store.add(str(number), "me", None, (Message("user", (Text("x" * 5000),)),), b"y" * 5000)
    assert store.body("399", "me") is not None
    assert store.body("0", "me") is None
    assert store._totals()[0] <= 1_000_000
    with pytest.raises(StoreError, match="too many"):
        store.add("large", "me", None, (), b"y" * 600_000)
    store.close()


# -- the event loop


@pytest.mark.parametrize(
    ("function", "content", "reply"),
    [
        ("toolglot.gateway.endpoint_call.read_request_bytes", "x" * 200_000, "short"),
        ("toolglot.client.exchange.decode_lenient", "short", "x" * 200_000),
        ("toolglot.client.session.ResponsePipeline.feed", "short", "x" * 20_000),
    ],
)
def test_large_bodies_and_replies_leave_the_event_loop(
    function: str, content: str, reply: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, _, name = function.rpartition(".")
    owner = pkgutil.resolve_name(module)
    original, threads = getattr(owner, name), list[str]()

    def watched(*arguments: Any, **options: Any) -> Any:
        threads.append(threading.current_thread().name)
        return original(*arguments, **options)

    monkeypatch.setattr(owner, name, watched)

    async def work() -> None:
        async with upstream_server(in_turn(text(reply))) as up, serving(config(up)) as gateway:
            for large in (True, False):
                up.play = in_turn(text(reply if large else "short"))
                sent = question("openai-chat", "openai-chat/m", words=content if large else "short")
                threads.clear()
                assert (await gateway.ask("POST", "/v1/chat/completions", sent))[0] == 200
                assert {name.startswith("toolglot-worker") for name in threads} == {large}

    run(work())


# -- upstreams


@pytest.mark.parametrize("value", ["inf", "-inf", "nan", "1e400", "9" * 400, "9" * 400 + "s", "0001-01-01T00:00:00+23:59"])
def test_a_retry_time_that_is_none(value: str) -> None:
    async def work() -> None:
        response = UpstreamResponse(429, {"retry-after": value}, [b"{}"])
        async with upstream_server(lambda _: response) as up, serving(config(up)) as gateway:
            for upstream in WIRES:
                sent = question("openai-chat", f"{upstream}/m", ())
                status, body, headers = await gateway.ask("POST", "/v1/chat/completions", sent)
                assert status == 429, body
                assert int(headers.get("retry-after", "0")) < 1e9

    run(work())


@pytest.mark.parametrize("status", [999, 600, 304, 399])
def test_a_status_of_no_known_kind_is_a_bad_gateway(status: int) -> None:
    async def work() -> None:
        async with upstream_server(lambda _: UpstreamResponse(status, {}, [b"{}"])) as up, serving(config(up)) as gateway:
            for upstream in WIRES:
                sent = question("openai-chat", f"{upstream}/m", ())
                assert (await gateway.ask("POST", "/v1/chat/completions", sent))[0] == 502

    run(work())


@pytest.mark.parametrize("begins", [False, True])
def test_a_stream_of_comments_ends(begins: bool) -> None:
    async def play(request: UpstreamRequest) -> UpstreamResponse:
        first = [b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"hello"}}]}\n\n'] if begins else []
        headers = {"content-type": "text/event-stream"}
        return UpstreamResponse(200, headers, [*first, *[b": keep-alive\n\n"] * 5000], gap=0.01)

    async def work() -> None:
        server = "first_byte_timeout = 0.3\nidle_timeout = 5"
        async with upstream_server(play) as up, serving(config(up, server=server)) as gateway:
            sent = {**question("openai-chat", "openai-chat/m", ()), "stream": True}
            status, body, _ = await gateway.ask("POST", "/v1/chat/completions", sent)
            assert status == (200 if begins else 504)
            assert b"timeout_idle" in (body if begins else msgspec.json.encode(body))
            assert not begins or b"hello" in body
            await up.left.wait()

    run(work())


# -- clocks


def test_a_clock_that_is_set_back_gives_no_negative_times(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = time.time
    hours = iter(range(1, 10_000))

    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            monkeypatch.setattr(time, "time", lambda: clock() - 3600 * next(hours))
            sent = {**question("ollama", "openai-chat/m", ()), "stream": True}
            for _ in range(3):
                _, body, _ = await gateway.ask("POST", "/api/chat", sent)
                last = msgspec.json.decode(body.strip().splitlines()[-1])
                assert 0 < last["prompt_eval_duration"] <= last["total_duration"] < 60e9
            for record in gateway.gateway.records.recent():
                assert record.first is not None
                assert 0 <= record.first <= record.seconds < 60
            _, live, _ = await gateway.ask("GET", "/toolglot/live")
            assert "started" not in live["rows"][0]

    run(work())


def test_the_store_forgets_the_oldest_whatever_the_clock_says(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(max_bytes=100_000)
    for number in range(300):
        monkeypatch.setattr(time, "time", lambda number=number: 1e9 - 100 * number)
        store.add(str(number), "me", None, (), b"y" * 900)
    assert store.body("299", "me") is not None
    assert store.body("0", "me") is None
    store.close()


# -- a full disk


@pytest.mark.parametrize("stream", [False, True])
def test_a_response_leaves_even_if_the_disk_is_full(stream: bool, tmp_path: Any) -> None:
    async def work() -> None:
        server = f'store = "{tmp_path / "store.sqlite"}"'
        async with upstream_server(fixture("plain_text")) as up, serving(config(up, server=server)) as gateway:
            gateway.gateway.store._connection.execute("pragma max_page_count = 1")  # SQLite reports a full disk
            sent = {**question("openai-responses", "anthropic/m", ()), "stream": stream, "user": "x" * 20_000}
            status, body, headers = await gateway.ask("POST", "/v1/responses", sent)
            assert status == 200
            assert stream == (b"response.completed" in bytes(str(body), "utf-8"))
            if not stream:
                assert "disk is full" in headers["x-toolglot-notes"]
            _, record, _ = await gateway.ask("GET", f"/toolglot/decisions/{headers['x-request-id']}")
            assert "disk is full" in str(record["notes"])

    run(work())


def test_a_flood_of_rejected_calls_is_recorded_in_part() -> None:
    flood = "\n".join(f'<tool_call>{{"name": "f{at}", "arguments": {{}}}}</tool_call>' for at in range(1500))

    async def work() -> None:
        async with upstream_server(in_turn(text(flood))) as up, serving(config(up, route="retries = 0")) as gateway:
            assert (await gateway.ask("POST", "/v1/chat/completions", question("openai-chat", "openai-chat/m")))[0] == 200
            [record] = gateway.gateway.records.recent()
            assert "500 more decisions are not recorded" in record.notes
            assert len(record.decisions) == len(record.calls) == 100
            _, metrics, _ = await gateway.ask("GET", "/metrics")
            assert 'code="rejected_unknown_tool",model="m"} 1000.0' in str(metrics)

    run(work())
