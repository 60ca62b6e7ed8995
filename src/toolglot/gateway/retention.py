"""Deletes records and stored responses after the retention time, and on request."""

from __future__ import annotations

import asyncio
import logging
import time

from toolglot.gateway.background import EVENTS, SNAPSHOTS
from toolglot.gateway.batches.batch import BATCHES, CONTENTS
from toolglot.gateway.overview import Deleted
from toolglot.gateway.records import Records, decode_record
from toolglot.gateway.shared_state import BETWEEN, RECORDS, RESPONSES, SharedState
from toolglot.gateway.store import Store, StoreError

_log = logging.getLogger("toolglot.gateway")
_INTERVAL = 60.0  # seconds; less if the retention time is short
_SHORTEST = 0.01


async def delete_old(seconds: float, records: Records, store: Store | None) -> None:
    """A background job: as long as the server runs."""
    while True:
        before = time.time() - seconds
        records.delete(before=before)
        if store is not None:
            try:
                await asyncio.to_thread(store.delete_all, before=before)
            except StoreError as error:
                _log.error("%s", error)
        await asyncio.sleep(max(_SHORTEST, min(_INTERVAL, seconds / 10)))


async def delete_shared(state: SharedState, owner: str | None) -> Deleted:
    """What all gateways share of an owner; None: of all."""
    records = responses = 0
    for id in await state.names(RESPONSES):
        if owner is None or id.startswith(owner + BETWEEN):
            responses += await state.delete(RESPONSES, id)
    for id in await state.names(RECORDS):
        if owner is None or ((found := await state.get(RECORDS, id)) and decode_record(found).owner == owner):
            records += await state.delete(RECORDS, id)
    for kind in (BATCHES, CONTENTS, SNAPSHOTS, EVENTS):
        for id in await state.names(kind):
            if owner is None or id.startswith(owner + BETWEEN):
                await state.delete(kind, id)
    return Deleted(records, responses)
