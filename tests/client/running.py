"""Running a test's coroutine, with a guard against hanging and a look at what it leaves behind."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from tests.steady_loop import run_steadily
from toolglot.client.http import HttpTransport, Proxies
from toolglot.client.transport import Limits
from toolglot.errors import UpstreamError

GUARD = 300.0
PATIENT = Limits(connect=60.0, first_byte=60.0, idle=60.0)  # both against hanging only
DIRECT = Proxies()


def run(work: Coroutine[Any, Any, None]) -> None:
    async def guarded() -> None:
        before = asyncio.all_tasks()
        await asyncio.wait_for(work, GUARD)
        for _ in range(5):
            await asyncio.sleep(0)
        assert asyncio.all_tasks() - before == set()

    run_steadily(guarded())


async def ask(client: HttpTransport, url: str, body: bytes = b"", limits: Limits = PATIENT) -> bytes:
    async with await client.send("POST", url, {}, body, limits=limits) as answer:
        return await answer.read()


async def fault_of(client: HttpTransport, url: str, body: bytes = b"", limits: Limits = PATIENT) -> UpstreamError:
    with pytest.raises(UpstreamError) as caught:
        await ask(client, url, body, limits)
    return caught.value
