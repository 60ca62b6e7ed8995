"""Where batches, their rows and results, and uploaded files are kept: small values, bounded per key."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from toolglot.errors import UpstreamError
from toolglot.gateway.batches.batch import BATCHES, CONTENTS, Batch, Result, decode_batch, decode_result
from toolglot.gateway.kept_values import Values
from toolglot.gateway.shared_state import BETWEEN, kept_for
from toolglot.io.json_codec import encode

_PART = 512 * 1024  # bytes
_MAX_LISTED = 1000  # batches or files of one key; older ones are still found by their id
_UNFINISHED = "* unfinished"
_CANCEL = " cancel"

_Listed = list[tuple[str, int]]  # id and bytes, in the order of creation
_LISTED = msgspec.json.Decoder(_Listed)
_NAMES = msgspec.json.Decoder(list[tuple[str, str]])


class StoredFile(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    owner: str
    size: int
    created: float
    name: str
    purpose: str
    batch: str = ""  # whose results it contains
    errors: bool = False  # those of failed rows


_FILE = msgspec.json.Decoder(StoredFile)


class BatchStore:
    """`max_bytes`: of the files and rows of one key, and of everything; `seconds`: to keep it, 0: a month."""

    def __init__(self, values: Values, max_bytes: int, seconds: float) -> None:
        self._values, self._max_bytes = values, max_bytes
        self._kind = kept_for(BATCHES, seconds)
        self._contents = msgspec.structs.replace(kept_for(CONTENTS, seconds), max_bytes=max_bytes)

    # -- batches

    async def add(self, batch: Batch, listed: str, size: int = 0) -> None:
        await self._list(batch.owner, listed, batch.id, size)
        await self.save(batch)
        if not batch.ended:
            await self._values.update(self._kind, _UNFINISHED, lambda old: _with(old, (batch.owner, batch.id)))

    async def save(self, batch: Batch) -> None:
        await self._values.put(self._kind, batch.key, encode(batch))

    async def find(self, owner: str, id: str) -> Batch | None:
        found = await self._values.get(self._kind, f"{owner}{BETWEEN}{id}")
        if found is None:
            return None
        batch = decode_batch(found)
        cancelled = await self._values.get(self._kind, batch.key + _CANCEL)
        batch.cancelled = batch.cancelled or float(cancelled or 0)
        return batch

    async def cancel(self, batch: Batch, at: float) -> None:
        """Apart from the batch itself, which only its runner writes."""
        await self._values.put(self._kind, batch.key + _CANCEL, repr(at).encode())

    async def finish(self, batch: Batch) -> None:
        await self.save(batch)
        await self.forget_unfinished(batch.owner, batch.id)

    async def unfinished(self) -> list[tuple[str, str]]:
        """Owner and id of all batches that are not ended."""
        found = await self._values.get(self._kind, _UNFINISHED)
        return [] if found is None else _NAMES.decode(found)

    async def forget_unfinished(self, owner: str, id: str) -> None:
        await self._values.update(self._kind, _UNFINISHED, lambda old: _without(old, (owner, id)))

    async def delete(self, batch: Batch, listed: str) -> None:
        for number in range(batch.total):
            await self._values.delete(self._contents, f"{batch.key} r{number}")
        if batch.rows == batch.id:
            await self.delete_contents(batch.owner, batch.rows)
        for name in (batch.key, batch.key + _CANCEL):
            await self._values.delete(self._kind, name)
        await self._unlist(batch.owner, listed, batch.id)

    # -- results

    async def put_result(self, batch: Batch, number: int, result: Result) -> None:
        await self._values.put(self._contents, f"{batch.key} r{number}", encode(result))

    async def result(self, batch: Batch, number: int) -> Result | None:
        found = await self._values.get(self._contents, f"{batch.key} r{number}")
        return None if found is None else decode_result(found)

    # -- contents

    async def put_contents(self, owner: str, id: str, data: bytes) -> None:
        for at in range(0, max(1, len(data)), _PART):
            await self._values.put(self._contents, f"{owner}{BETWEEN}{id} p{at // _PART}", data[at : at + _PART])

    async def parts(self, owner: str, id: str, size: int) -> AsyncIterator[bytes]:
        for number in range((max(1, size) + _PART - 1) // _PART):
            part = await self._values.get(self._contents, f"{owner}{BETWEEN}{id} p{number}")
            if part is None:
                raise UpstreamError(
                    f"the contents of {id} were deleted: the store was full, or they were old", 404, "not_found"
                )
            yield part

    async def contents(self, owner: str, id: str) -> bytes:
        """Until a part is missing; b"" if all are."""
        parts: list[bytes] = []
        while (part := await self._values.get(self._contents, f"{owner}{BETWEEN}{id} p{len(parts)}")) is not None:
            parts.append(part)
        return b"".join(parts)

    async def delete_contents(self, owner: str, id: str) -> None:
        number = 0
        while await self._values.delete(self._contents, f"{owner}{BETWEEN}{id} p{number}"):
            number += 1

    # -- files

    async def add_file(self, file: StoredFile, data: bytes | None = None) -> None:
        await self._list(file.owner, "files", file.id, file.size if data is not None else 0)
        if data is not None:
            await self.put_contents(file.owner, file.id, data)
        await self._values.put(self._kind, f"{file.owner}{BETWEEN}{file.id}", encode(file))

    async def file(self, owner: str, id: str) -> StoredFile | None:
        found = await self._values.get(self._kind, f"{owner}{BETWEEN}{id}") if id.startswith("file-") else None
        return None if found is None else _FILE.decode(found)

    async def delete_file(self, file: StoredFile) -> None:
        await self.delete_contents(file.owner, file.id)
        await self._values.delete(self._kind, f"{file.owner}{BETWEEN}{file.id}")
        await self._unlist(file.owner, "files", file.id)

    # -- lists

    async def listed(self, owner: str, name: str) -> list[str]:
        """The ids of an owner's batches or files, newest first."""
        found = await self._values.get(self._kind, f"{owner}{BETWEEN}list {name}")
        return [] if found is None else [id for id, _ in reversed(_LISTED.decode(found))]

    async def _list(self, owner: str, name: str, id: str, size: int) -> None:
        def change(old: bytes | None) -> bytes:
            rows: _Listed = [] if old is None else _LISTED.decode(old)
            if size + sum(used for _, used in rows) > self._max_bytes // 2:
                problem = f"the {name} of this key would need more than {self._max_bytes // 2} bytes: delete some"
                raise UpstreamError(problem, 413, "storage_full", should_retry=False)
            return encode([*rows, (id, size)][-_MAX_LISTED:])

        await self._values.update(self._kind, f"{owner}{BETWEEN}list {name}", change)

    async def _unlist(self, owner: str, name: str, id: str) -> None:
        def change(old: bytes | None) -> bytes:
            return encode([row for row in ([] if old is None else _LISTED.decode(old)) if row[0] != id])

        await self._values.update(self._kind, f"{owner}{BETWEEN}list {name}", change)


def _with(old: bytes | None, name: tuple[str, str]) -> bytes:
    return encode([*([] if old is None else _NAMES.decode(old)), name])


def _without(old: bytes | None, name: tuple[str, str]) -> bytes:
    return encode([each for each in ([] if old is None else _NAMES.decode(old)) if each != name])
