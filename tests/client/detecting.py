"""Detection against a server of the tests, for the tests."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from tests.client.discovery_server import Table, discovery_server
from tests.client.running import DIRECT
from toolglot.catalog.profile import Profile
from toolglot.catalog.providers import Provider, provider
from toolglot.client.detect import ServerAnswers, detect
from toolglot.client.http import HttpTransport


def at(name: str, address: str) -> Provider:
    return msgspec.structs.replace(provider(name), base_url=address)


def detected(name: str, model: str, address: str, **options: Any) -> Profile:
    async def work() -> Profile:
        async with HttpTransport(proxies=DIRECT) as transport:
            return await detect(model, at(name, address), transport, **{"answers": ServerAnswers(), **options})

    return asyncio.run(work())


def profile_from(name: str, model: str, table: Table, end: str = "/v1", **options: Any) -> Profile:
    with discovery_server(table) as server:
        return detected(name, model, server.address + end, **options)


def one_note(known: Profile, *parts: str) -> str:
    found = [note for note in known.notes if all(part in note for part in parts)]
    assert len(found) == 1, known.notes
    return found[0]
