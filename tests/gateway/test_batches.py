"""Batches with the OpenAI and Anthropic SDKs, against every upstream; cancelled, resumed after `kill -9`, and shared."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from tests.gateway.redis_server import needs_redis, redis_server
from tests.gateway.running import WIRES, Running, config, run, serving
from tests.gateway.scripts import in_turn, response_to, text
from tests.gateway.served_process import served
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server, whole
from toolglot.errors import CallerError
from toolglot.gateway.batches.multipart import read_form

_KEYS = 'keys = ["key-one-0123456789", "key-two-0123456789"]'
_CHAT: Any = "/v1/chat/completions"
_RESPONSES: Any = "/v1/responses"


def _openai(gateway: Running | str, key: str = "key-one-0123456789") -> AsyncOpenAI:
    url = gateway if isinstance(gateway, str) else gateway.url
    return AsyncOpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0)


def _anthropic(gateway: Running | str, key: str = "key-one-0123456789") -> AsyncAnthropic:
    url = gateway if isinstance(gateway, str) else gateway.url
    return AsyncAnthropic(base_url=url, api_key=key, max_retries=0)


async def _echo(request: UpstreamRequest) -> UpstreamResponse:
    """Repeats the number of the row. "broken" is rejected."""
    seen = str(request.body)
    if "broken" in seen:
        return UpstreamResponse(400, {}, [b'{"error":{"message":"broken indeed"}}'])
    return response_to(request, text("row " + seen.partition("number ")[2].partition(".")[0]))


def _lines(*models: str, path: str = _CHAT, words: str = "number {}.") -> bytes:
    rows = []
    for number, model in enumerate(models):
        said = words.format(number)
        given = {"input": said} if path == _RESPONSES else {"messages": [{"role": "user", "content": said}]}
        rows.append({"custom_id": f"row-{number}", "method": "POST", "url": path, "body": {"model": model, **given}})
    return b"\n".join(json.dumps(row).encode() for row in rows)


async def _submitted(client: AsyncOpenAI, data: bytes, path: Any = _CHAT) -> Any:
    file = await client.files.create(file=("rows.jsonl", data), purpose="batch")
    return await client.batches.create(input_file_id=file.id, endpoint=path, completion_window="24h", metadata={"a": "b"})


async def _ended(client: AsyncOpenAI, id: str) -> Any:
    while (batch := await client.batches.retrieve(id)).status in ("validating", "in_progress", "cancelling", "finalizing"):
        await asyncio.sleep(0.05)
    return batch


async def _results(client: AsyncOpenAI, id: str | None) -> list[Any]:
    content = await client.files.content(id or "")
    return [json.loads(line) for line in content.text.splitlines()]


@pytest.mark.parametrize("path", [_CHAT, _RESPONSES])
def test_openai_batches_run_on_every_upstream(path: str) -> None:
    async def work() -> None:
        async with upstream_server(_echo) as up, serving(config(up)) as gateway, _openai(gateway) as client:
            data = _lines(*(f"{wire}/m" for wire in WIRES), "nobody", path=path)
            batch = await _submitted(client, data, path)
            assert (batch.status, batch.endpoint, batch.metadata) == ("in_progress", path, {"a": "b"})
            batch = await _ended(client, batch.id)
            assert (batch.status, batch.request_counts.completed, batch.request_counts.failed) == ("completed", len(WIRES), 1)
            assert batch.usage.total_tokens == 15 * len(WIRES)
            rows = await _results(client, batch.output_file_id)
            assert [row["custom_id"] for row in rows] == [f"row-{number}" for number in range(len(WIRES))]
            for number, row in enumerate(rows):
                assert (row["response"]["status_code"], row["error"]) == (200, None)
                assert f"row {number}" in str(row["response"]["body"])
            failed = await _results(client, batch.error_file_id)
            assert [(row["custom_id"], row["response"]["status_code"]) for row in failed] == [(f"row-{len(WIRES)}", 404)]
            output = await client.files.retrieve(batch.output_file_id)
            assert output.bytes == len((await client.files.content(batch.output_file_id)).content)
            errors = await client.files.retrieve(batch.error_file_id)
            assert errors.bytes == len((await client.files.content(batch.error_file_id)).content)
            records = gateway.gateway.records.recent()
            assert len(records) == len(WIRES) + 1
            assert {record.owner for record in records} == {"anyone"}

    run(work())


def test_anthropic_batches_run_on_every_upstream() -> None:
    async def work() -> None:
        async with upstream_server(_echo) as up, serving(config(up)) as gateway, _anthropic(gateway) as client:
            requests: Any = [_request(number, f"{wire}/m") for number, wire in enumerate(WIRES)]
            requests.append(_request(len(WIRES), "openai-chat/m", "broken"))
            batch = await client.messages.batches.create(requests=requests)
            assert (batch.processing_status, batch.request_counts.processing) == ("in_progress", len(requests))
            assert batch.results_url is None
            batch = await _done(client, batch.id)
            assert (batch.request_counts.succeeded, batch.request_counts.errored) == (len(WIRES), 1)
            results: list[Any] = [one async for one in await client.messages.batches.results(batch.id)]
            assert [one.custom_id for one in results] == [request["custom_id"] for request in requests]
            for number, one in enumerate(results[:-1]):
                assert one.result.message.content[0].text == f"row {number}"
            assert results[-1].result.type == "errored"
            assert "broken indeed" in results[-1].result.error.error.message
            listed = await client.messages.batches.list(limit=1)
            assert [one.id for one in listed.data] == [batch.id]
            await client.messages.batches.delete(batch.id)
            with pytest.raises(anthropic.NotFoundError):
                await client.messages.batches.retrieve(batch.id)
            assert (await client.messages.batches.list()).data == []

    run(work())


def _request(number: int, model: str, words: str = "") -> Any:
    messages = [{"role": "user", "content": words or f"number {number}."}]
    return {"custom_id": f"row-{number}", "params": {"model": model, "max_tokens": 50, "messages": messages}}


async def _done(client: AsyncAnthropic, id: str) -> Any:
    while (batch := await client.messages.batches.retrieve(id)).processing_status != "ended":
        await asyncio.sleep(0.05)
    return batch


class _Gate:
    """An upstream that answers the first rows, and the others once it is opened."""

    def __init__(self, first: int) -> None:
        self.first, self.opened = first, asyncio.Event()
        self.started: list[str] = []

    async def __call__(self, request: UpstreamRequest) -> UpstreamResponse:
        if request.method != "POST":  # at start it is asked for its models
            return UpstreamResponse(404)
        self.started.append(str(request.body).partition("number ")[2].partition(".")[0])
        if len(self.started) > self.first:
            await self.opened.wait()
        return await _echo(request)


def test_a_cancelled_batch_keeps_what_is_done() -> None:
    async def work() -> None:
        gate = _Gate(3)
        async with (
            upstream_server(gate) as up,
            serving(config(up, server="batch_rows = 2")) as gateway,
            _openai(gateway) as client,
        ):
            batch = await _submitted(client, _lines(*["gemini/m"] * 10))
            while len(gate.started) < 5:
                await asyncio.sleep(0.02)
            assert (await client.batches.cancel(batch.id)).status == "cancelling"
            await _stopping(gateway, batch.id)
            gate.opened.set()
            batch = await _ended(client, batch.id)
            assert (batch.status, batch.request_counts.completed, len(gate.started)) == ("cancelled", 5, 5)
            assert len(await _results(client, batch.output_file_id)) == 5
            failed = await _results(client, batch.error_file_id)
            assert [row["error"]["code"] for row in failed] == ["batch_cancelled"] * 5
            errors = await client.files.retrieve(batch.error_file_id)
            assert errors.bytes == len((await client.files.content(batch.error_file_id)).content)

    run(work())


async def _stopping(gateway: Running, id: str) -> None:
    """Until the runner has seen that its batch is cancelled."""
    while not gateway.gateway.batch_runner.jobs[id].stops:
        await asyncio.sleep(0.02)


def test_a_cancelled_message_batch_says_which_requests_did_not_run() -> None:
    async def work() -> None:
        gate = _Gate(0)
        async with (
            upstream_server(gate) as up,
            serving(config(up, server="batch_rows = 1")) as gateway,
            _anthropic(gateway) as client,
        ):
            batch = await client.messages.batches.create(requests=[_request(at, "openai-chat/m") for at in range(3)])
            while not gate.started:
                await asyncio.sleep(0.02)
            with pytest.raises(anthropic.BadRequestError, match="in progress"):
                await client.messages.batches.delete(batch.id)
            with pytest.raises(anthropic.BadRequestError, match="in progress"):
                await _unfinished_results(client, batch.id)
            cancelled = await client.messages.batches.cancel(batch.id)
            assert (cancelled.processing_status, cancelled.cancel_initiated_at is not None) == ("canceling", True)
            await _stopping(gateway, batch.id)
            gate.opened.set()
            batch = await _done(client, batch.id)
            counts = batch.request_counts
            assert (counts.processing, counts.succeeded, counts.canceled) == (0, 1, 2)
            results = [one async for one in await client.messages.batches.results(batch.id)]
            assert [one.result.type for one in results] == ["succeeded", "canceled", "canceled"]

    run(work())


async def _unfinished_results(client: AsyncAnthropic, id: str) -> None:
    await client.get(f"/v1/messages/batches/{id}/results", cast_to=object)


def test_wrong_input_is_explained() -> None:
    async def work() -> None:
        async with serving(config("http://127.0.0.1:9", server="max_batch_rows = 3")) as gateway, _openai(gateway) as client:
            good = _lines("gemini/m")
            twice = good + b"\n" + good
            background = good.replace(b'"messages"', b'"background": true, "messages"')
            for data, path, code, line in (
                (b"not JSON", _CHAT, "invalid_json_line", 1),
                (good + b"\n[]", _CHAT, "invalid_json_line", 2),
                (b"", _CHAT, "empty_file", None),
                (twice, _CHAT, "duplicate_custom_id", 2),
                (good, _RESPONSES, "mismatched_endpoint", 1),
                (_lines(*["gemini/m"] * 4), _CHAT, "too_many_tasks", None),
                (good.replace(b"POST", b"GET"), _CHAT, "invalid_method", 1),
                (background, _CHAT, "unsupported_parameter", 1),
            ):
                batch = await _submitted(client, data, path)
                assert batch.status == "failed"
                assert (batch.errors.data[0].code, batch.errors.data[0].line) == (code, line)
            for sent, words in (
                ({"endpoint": "/v1/moderations"}, "endpoint"),
                ({"input_file_id": "file-x"}, "no uploaded file"),
                ({"completion_window": "1h"}, "24h"),
            ):
                given: Any = {"input_file_id": "file-x", "endpoint": _CHAT, "completion_window": "24h", **sent}
                with pytest.raises(openai.BadRequestError, match=words):
                    await client.batches.create(**given)
            with pytest.raises(openai.BadRequestError, match="purpose"):
                await client.files.create(file=("a.pdf", b"x"), purpose="user_data")
            async with _anthropic(gateway) as other:
                for requests in ([], [_request(1, "m"), _request(1, "m")], [_request(at, "m") for at in range(4)]):
                    with pytest.raises(anthropic.BadRequestError):
                        await other.messages.batches.create(requests=requests)
                with pytest.raises(anthropic.NotFoundError, match="only OpenAI's files"):
                    await other.get("/v1/files", cast_to=object)

    run(work())


def test_files_are_listed_read_and_deleted() -> None:
    async def work() -> None:
        async with serving(config("http://127.0.0.1:9")) as gateway, _openai(gateway) as client:
            data = bytes(range(256)) * 5000  # several parts, and every byte
            first = await client.files.create(file=("one.jsonl", data), purpose="batch")
            second = await client.files.create(file=("two.jsonl", b"{}\r\n--x\r\n"), purpose="batch")
            assert (first.bytes, first.filename, first.purpose) == (len(data), "one.jsonl", "batch")
            assert (await client.files.content(first.id)).content == data
            assert (await client.files.content(second.id)).content == b"{}\r\n--x\r\n"
            listed = [file.id async for file in client.files.list(limit=1)]
            assert listed == [second.id, first.id]
            assert (await client.files.delete(first.id)).deleted
            with pytest.raises(openai.NotFoundError):
                await client.files.content(first.id)
            assert [file.id async for file in client.files.list()] == [second.id]
            status, _, _ = await gateway.ask("GET", f"/files/{second.id}")  # without /v1
            assert status == 200

    run(work())


def test_batches_are_listed_page_by_page() -> None:
    async def work() -> None:
        async with (
            upstream_server(_echo) as up,
            serving(config(up)) as gateway,
            _openai(gateway) as client,
            _anthropic(gateway) as other,
        ):
            ids = [(await _submitted(client, _lines("gemini/m"))).id for _ in range(3)]
            assert [batch.id async for batch in client.batches.list(limit=2)] == ids[::-1]
            ids = [(await other.messages.batches.create(requests=[_request(1, "gemini/m")])).id for _ in range(3)]
            assert [batch.id async for batch in other.messages.batches.list(limit=2)] == ids[::-1]
            page = await other.messages.batches.list(limit=1, before_id=ids[0])
            assert ([batch.id for batch in page.data], page.has_more) == ([ids[1]], True)

    run(work())


def test_each_key_has_its_own() -> None:
    async def work() -> None:
        async with (
            upstream_server(_echo) as up,
            serving(config(up, server=_KEYS)) as gateway,
            _openai(gateway) as one,
            _openai(gateway, "key-two-0123456789") as two,
        ):
            batch = await _ended(one, (await _submitted(one, _lines("gemini/m"))).id)
            for refused in (
                two.batches.retrieve(batch.id),
                two.batches.cancel(batch.id),
                two.files.content(batch.output_file_id),
                two.files.delete(batch.input_file_id),
            ):
                with pytest.raises(openai.NotFoundError):
                    await refused
            assert [each async for each in two.batches.list()] == []
            with pytest.raises(openai.BadRequestError, match="no uploaded file"):
                await two.batches.create(input_file_id=batch.input_file_id, endpoint=_CHAT, completion_window="24h")
            assert {record.owner for record in gateway.gateway.records.recent()} == {_owner(gateway)}

    run(work())


def _owner(gateway: Running) -> str:
    return gateway.gateway.live.config.keys[0].owner


def test_limits_and_budgets_count() -> None:
    async def work() -> None:
        limits = f'{_KEYS}\nmax_concurrent = 1\nrate = 50\n[[budget]]\nkey = "*"\ntokens = 40\nperiod = "day"'
        async with upstream_server(_echo) as up, serving(config(up, server=limits)) as gateway, _openai(gateway) as client:
            batch = await _ended(client, (await _submitted(client, _lines(*["gemini/m"] * 6))).id)
            assert (batch.status, batch.request_counts.completed, batch.request_counts.failed) == ("completed", 3, 3)
            failed = await _results(client, batch.error_file_id)
            assert {row["response"]["body"]["error"]["code"] for row in failed} == {"budget_exceeded"}
            records = gateway.gateway.records.recent()
            assert sorted(one.code for one in records) == [""] * 3 + ["budget_exceeded"] * 3  # and none that waited

    run(work())


def test_a_busy_upstream_is_asked_again() -> None:
    async def work() -> None:
        busy = UpstreamResponse(429, {"retry-after": "1"}, [b'{"error":{"message":"busy"}}'])
        async with (
            upstream_server(in_turn(busy, text("Done."))) as up,
            serving(config(up)) as gateway,
            _openai(gateway) as client,
        ):
            batch = await _ended(client, (await _submitted(client, _lines("openai-chat/m"))).id)
            assert (batch.request_counts.completed, len(up.requests)) == (1, 2)

    run(work())


def test_a_killed_gateway_resumes_its_batches(tmp_path: Path) -> None:
    async def work() -> None:
        gate = _Gate(4)
        store = f'store = "{tmp_path}/kept/store.sqlite"\nbatch_rows = 1'
        async with upstream_server(gate) as up:
            async with served(tmp_path, up.url, store) as url, _openai(url) as client, _anthropic(url) as other:
                batch = await _submitted(client, _lines(*["m"] * 4))
                await _ended(client, batch.id)
                batch = await _submitted(client, _lines(*["m"] * 3))
                messages = await other.messages.batches.create(requests=[_request(at, "m") for at in range(3)])
                while len(gate.started) < 6:
                    await asyncio.sleep(0.02)
            assert len(gate.started) == 6
            gate.opened.set()
            async with served(tmp_path, up.url, store) as url, _openai(url) as client, _anthropic(url) as other:
                batch = await _ended(client, batch.id)
                assert (batch.status, batch.request_counts.completed) == ("completed", 3)
                rows = await _results(client, batch.output_file_id)
                assert [row["response"]["body"]["choices"][0]["message"]["content"] for row in rows] == [
                    "row 0",
                    "row 1",
                    "row 2",
                ]
                messages = await _done(other, messages.id)
                assert messages.request_counts.succeeded == 3
        assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o700
        assert {file.stat().st_mode & 0o777 for file in (tmp_path / "kept").iterdir()} == {0o600}

    run(work())


def test_rows_with_a_result_are_not_run_again(tmp_path: Path) -> None:
    async def work() -> None:
        gate = _Gate(2)
        store = f'store = "{tmp_path}/store.sqlite"\nbatch_rows = 1'
        async with upstream_server(gate) as up:
            async with served(tmp_path, up.url, store) as url, _openai(url) as client:
                batch = await _submitted(client, _lines(*["m"] * 5))
                while len(gate.started) < 3:
                    await asyncio.sleep(0.02)
            gate.opened.set()
            async with served(tmp_path, up.url, store) as url, _openai(url) as client:
                batch = await _ended(client, batch.id)
                assert batch.request_counts.completed == 5
        assert gate.started == ["0", "1", "2", "2", "3", "4"]  # only the row in progress ran twice

    run(work())


def test_workers_share_batches_in_a_file(tmp_path: Path) -> None:
    async def work() -> None:
        gate = _Gate(3)
        store = f'store = "{tmp_path}/store.sqlite"\nworkers = 2'
        async with upstream_server(gate) as up, served(tmp_path, up.url, store, ends=signal.SIGTERM) as url:
            async with _openai(url) as client:
                batch = await _submitted(client, _lines(*["m"] * 10))
            await asyncio.sleep(1.5)  # the other worker has looked for batches meanwhile
            gate.opened.set()
            for _ in range(4):  # each on a connection of its own: any worker may answer
                async with _openai(url) as client:
                    batch = await _ended(client, batch.id)
                    assert batch.request_counts.completed == 10
                    assert len(await _results(client, batch.output_file_id)) == 10
            assert sorted(map(int, gate.started)) == list(range(10))

    run(work())


@needs_redis
def test_gateways_share_batches(tmp_path: Path) -> None:
    async def work() -> None:
        gate = _Gate(2)
        async with redis_server(tmp_path) as redis, upstream_server(gate) as up:
            both = config(up, server=f'state = "{redis.url}"\nbatch_rows = 1')
            async with serving(both) as one, serving(both) as other:
                async with _openai(one) as client:
                    batch = await _submitted(client, _lines(*["gemini/m"] * 4))
                while len(gate.started) < 3:
                    await asyncio.sleep(0.02)
                running, second = (one, other) if one.gateway.gate.running else (other, one)
                async with _openai(second) as client:
                    assert (await client.batches.retrieve(batch.id)).status == "in_progress"
                    stopping = asyncio.ensure_future(running.stop())
                    while not second.gateway.gate.running:  # it goes on with the row that was cut off
                        await asyncio.sleep(0.05)
                    gate.opened.set()
                    await stopping
                    batch = await _ended(client, batch.id)
                    assert batch.request_counts.completed == 4
                    assert len(await _results(client, batch.output_file_id)) == 4
                    await second.ask("DELETE", "/toolglot/records")
                    with pytest.raises(openai.NotFoundError):
                        await client.batches.retrieve(batch.id)
                    with pytest.raises(openai.NotFoundError):
                        await client.files.content(batch.input_file_id)
                    assert [one async for one in client.batches.list()] == []

    run(work())


def test_deleted_records_include_batches() -> None:
    async def work() -> None:
        async with upstream_server(_echo) as up, serving(config(up)) as gateway, _openai(gateway) as client:
            batch = await _ended(client, (await _submitted(client, _lines("gemini/m"))).id)
            await gateway.ask("DELETE", "/toolglot/records")
            with pytest.raises(openai.NotFoundError):
                await client.batches.retrieve(batch.id)
            with pytest.raises(openai.NotFoundError):
                await client.files.content(batch.output_file_id)

    run(work())


_FIELD = b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n"


@pytest.mark.parametrize(
    ("media_type", "body"),
    [
        ("application/json", b"{}"),
        ("multipart/form-data", b"--x--\r\n"),
        ("multipart/form-data; boundary=x", b""),
        ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\ncut off"),
        ("multipart/form-data; boundary=x", b"--x\r\n\r\nno name\r\n--x--\r\n"),
        (
            "multipart/form-data; boundary=x",
            _FIELD * 99,
        ),
    ],
)
def test_a_wrong_form_is_rejected(media_type: str, body: bytes) -> None:
    with pytest.raises(CallerError):
        read_form(media_type, body)


def test_rows_may_go_to_endpoints_without_tools() -> None:
    async def work() -> None:
        def play(request: UpstreamRequest) -> UpstreamResponse:
            return whole({"object": "list", "data": [{"embedding": [0.5], "index": 0, "object": "embedding"}], "model": "m"})

        async with upstream_server(play) as up, serving(config(up, "openai-chat")) as gateway, _openai(gateway) as client:
            path: Any = "/v1/embeddings"
            body = {"model": "openai-chat/m", "input": "Hello"}
            data = json.dumps({"custom_id": "one", "method": "POST", "url": path, "body": body}).encode()
            batch = await _ended(client, (await _submitted(client, data, path)).id)
            rows = await _results(client, batch.output_file_id)
            assert rows[0]["response"]["body"]["data"][0]["embedding"] == [0.5]
            assert (up.requests[-1].path, up.requests[-1].body["model"]) == (path, "m")

    run(work())


def test_paths_without_a_version_and_errors_in_their_api() -> None:
    async def work() -> None:
        async with serving(config("http://127.0.0.1:9")) as gateway:
            for path in ("/batches", "/files", "/messages/batches"):
                for version in ("", "/v1"):
                    status, body, _ = await gateway.ask("GET", version + path)
                    assert (status, body["data"]) == (200, [])
            for path in ("/v1/batches/x", "/files/file-x", "/v1/files/file-x/content", "/v1/batches/batch_x"):
                status, body, _ = await gateway.ask("GET", path)
                assert (status, body["error"]["code"]) == (404, "not_found")
            for path in ("/v1/messages/batches/x", "/messages/batches/msgbatch_x/results"):
                status, body, _ = await gateway.ask("GET", path)
                assert (status, body["type"], body["error"]["type"]) == (404, "error", "not_found_error")
            status, body, headers = await gateway.ask("PUT", "/v1/files")
            assert (status, headers["allow"]) == (405, "GET, HEAD, POST")

    run(work())
