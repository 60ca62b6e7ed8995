"""Recorded contents and stored responses are deleted on request, and after the retention time."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

from tests.gateway.running import Running, config, run, serving
from tests.gateway.scripts import in_turn, text
from tests.gateway.upstream_server import upstream_server
from toolglot.gateway.budgets import Spending
from toolglot.gateway.metrics import Metrics
from toolglot.gateway.overview import Deleted, Overview
from toolglot.gateway.page.history import History
from toolglot.gateway.records import Record, Records
from toolglot.gateway.retention import delete_old, delete_shared
from toolglot.gateway.shared_state import RECORDS, LocalState, kept_for
from toolglot.gateway.shared_store import SharedStore
from toolglot.gateway.store import Store

ADA, BOB, OPS = "key-ada-0123456789", "key-bob-0123456789", "key-ops-0123456789"
SERVER = f'record = true\nkeys = ["{ADA}", "{BOB}"]\nadmin_keys = ["{OPS}"]\n'
SECRET = "Timbuktu"


async def ask(gateway: Running, key: str) -> dict[str, Any]:
    body = {"model": "openai-chat/m", "input": f"I live in {SECRET}."}
    status, response, _ = await gateway.ask("POST", "/v1/responses", body, authorization=f"Bearer {key}")
    assert status == 200
    found: dict[str, Any] = response
    return found


async def delete(gateway: Running, key: str, query: str = "") -> dict[str, int]:
    status, found, _ = await gateway.ask("DELETE", f"/toolglot/records{query}", authorization=f"Bearer {key}")
    assert status == 200
    deleted: dict[str, int] = found["deleted"]
    return deleted


async def has(gateway: Running, path: str, key: str) -> bool:
    return (await gateway.ask("GET", path, authorization=f"Bearer {key}"))[0] == 200


def test_a_key_deletes_its_own_and_an_admin_key_all(tmp_path: Path) -> None:
    async def work() -> None:
        server = f'{SERVER}store = "{tmp_path}/store.db"'
        async with upstream_server(in_turn(text("hi"))) as up, serving(config(up, "openai-chat", server=server)) as gateway:
            ada, bob = await ask(gateway, ADA), await ask(gateway, BOB)
            await ask(gateway, BOB)
            assert SECRET in contents(tmp_path)
            assert await delete(gateway, ADA) == {"records": 1, "responses": 1}
            assert not await has(gateway, f"/v1/responses/{ada['id']}", ADA)
            assert await has(gateway, f"/v1/responses/{bob['id']}", BOB)
            _, live, _ = await gateway.ask("GET", "/toolglot/live", authorization=f"Bearer {OPS}")
            owners = {row["owner"] for row in live["rows"]}
            assert await delete(gateway, BOB, "?owner=someone") == {"records": 2, "responses": 2}  # its own, whatever it says
            await ask(gateway, ADA)
            await ask(gateway, BOB)
            assert await delete(gateway, OPS, f"?owner={owners.pop().replace(' ', '%20')}") == {"records": 1, "responses": 1}
            assert await delete(gateway, OPS) == {"records": 1, "responses": 1}
            assert SECRET not in contents(tmp_path)
            assert (await gateway.ask("DELETE", "/toolglot/records"))[0] == 401

    run(work())


def contents(folder: Path) -> str:
    """Of all files of the store."""
    return "".join(file.read_bytes().decode("latin-1") for file in folder.iterdir())


def test_what_is_old_is_deleted(tmp_path: Path) -> None:
    async def work() -> None:
        records, store = Records(), Store(str(tmp_path / "store.db"))
        records.add(Record("old", "anthropic", 0.0))
        records.add(Record("new", "anthropic", 4e9))
        store.add("resp_1", "ada", None, (), SECRET.encode())
        job = asyncio.ensure_future(delete_old(1e-3, records, store))
        while store.row("resp_1", "ada") is not None or records.find("old") is not None:
            await asyncio.sleep(0.01)
        assert records.find("new") is not None
        job.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await job
        assert SECRET not in contents(tmp_path)
        store.close()

    run(work())


def test_a_gateway_deletes_what_is_old() -> None:
    async def work() -> None:
        server = "retention = 0.001"
        async with upstream_server(in_turn(text("hi"))) as up, serving(config(up, "openai-chat", server=server)) as gateway:
            body = {"model": "openai-chat/m", "input": "Hello"}
            _, response, _ = await gateway.ask("POST", "/v1/responses", body)
            while (await gateway.ask("GET", f"/v1/responses/{response['id']}"))[0] == 200:
                await asyncio.sleep(0.01)
            while (await gateway.ask("GET", "/toolglot/live"))[1]["rows"]:
                await asyncio.sleep(0.01)

    run(work())


def test_a_record_that_a_worker_has_just_sent_is_deleted_too() -> None:
    records = Records()

    class Workers:
        """What a worker sent before its answer, the master gets before it."""

        spending = Spending()

        async def running(self, owner: str | None) -> int:
            return 0

        async def report_usage(self, days: int, owner: str | None) -> list[dict[str, Any]]:
            return []

        async def delete_responses(self, owner: str | None) -> int:
            records.add(records.begin("req_last", "openai-chat"))
            return 1

    overview = Overview(records, Metrics(), History(), Workers())
    assert asyncio.run(overview.delete(None)) == Deleted(1, 1)
    assert records.recent() == []


def test_redis_deletes_by_itself() -> None:
    assert kept_for(RECORDS, 3600.0).seconds == 3600
    assert kept_for(RECORDS, 1e9) == kept_for(RECORDS, 0) == RECORDS


def test_an_owner_whose_name_begins_like_another_one_has_only_its_own() -> None:
    async def work() -> None:
        state, store = LocalState(), Store()
        shared = SharedStore(state, store)
        await shared.add("resp_1", "key 0123456789abcdef", None, (), b"{}")
        assert await shared.body("0123456789abcdef resp_1", "key") is None
        assert await delete_shared(state, "key") == Deleted(0, 0)
        assert await shared.body("resp_1", "key 0123456789abcdef") == b"{}"
        assert await delete_shared(state, "key 0123456789abcdef") == Deleted(0, 1)

    run(work())


def test_the_retention_time_may_be_any_number() -> None:
    assert kept_for(RECORDS, float("inf")) == RECORDS
    assert kept_for(RECORDS, 1e-9).seconds == 1
