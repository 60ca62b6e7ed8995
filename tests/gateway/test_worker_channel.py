"""Records go from a worker to the master several at a time, and never after an answer that counts them."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import msgspec

from tests.gateway.running import run
from toolglot.gateway.records import Record
from toolglot.gateway.worker_channel import Answer, Channel, Counted, Ended


@asynccontextmanager
async def _ends() -> AsyncIterator[tuple[Any, Channel]]:
    """What the master receives, and the worker's end."""
    here, there = socket.socketpair()
    master, worker = await Channel.to_worker(here), await Channel.to_master(there)
    async with aclosing(master.messages()) as received:  # type: ignore[type-var]
        yield received, worker
    async for _ in worker.messages():
        pass


def _record(id: str) -> Record:
    return Record(id, "openai-chat", 0.0)


async def _ids(received: Any) -> list[str]:
    message = await anext(received)
    assert isinstance(message, Ended)
    return [record.id for record in message.records]


def test_records_come_together_and_before_an_answer() -> None:
    async def work() -> None:
        async with _ends() as (received, worker):
            for number in range(3):
                worker.add_record(_record(f"req_{number}"))
            worker.send(Counted(0, 5))
            assert await _ids(received) == ["req_0", "req_1", "req_2"]
            assert await anext(received) == Counted(0, 5)

    run(work())


def test_records_come_by_themselves() -> None:
    async def work() -> None:
        async with _ends() as (received, worker):
            for id in ("req_0", "req_1"):
                worker.add_record(_record(id))
                assert await _ids(received) == [id]

    run(work())


def test_the_last_records_of_a_worker_come_too() -> None:
    async def work() -> None:
        here, there = socket.socketpair()
        master, worker = await Channel.to_worker(here), await Channel.to_master(there)
        master.send(Answer(0, msgspec.Raw(b"1")))
        async with aclosing(worker.messages()) as received:  # type: ignore[type-var]
            await anext(received)
            worker.add_record(_record("req_last"))
        ended = [message async for message in master.messages()]
        assert ended == [Ended([_record("req_last")])]

    run(work())


def test_a_worker_whose_master_ended_drops_its_records() -> None:
    async def work() -> None:
        async with _ends() as (received, worker):
            worker.send(Counted(0, 0))
            await anext(received)
        worker.add_record(_record("req_late"))
        worker.send(Counted(0, 0))
        await asyncio.sleep(0)

    run(work())
