"""Stored conversations of the APIs that have such (`previous_response_id`, `previous_interaction_id`), and other values.

One row per response, linked to the previous one. A response is only visible to the key that created it.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec

from toolglot.client.user_dirs import at_home, is_homeless, open_private
from toolglot.core.messages import Message
from toolglot.errors import CallerError, UpstreamError
from toolglot.gateway.config import MEMORY
from toolglot.gateway.shared_state import Kind

_MAX_ROWS = 20_000  # the oldest are deleted first
_MAX_BYTES = 256 * 1024 * 1024
MAX_TURNS = 1000  # of one conversation
_CLEANUP_INTERVAL = 100  # rows

_TABLE = """
create table if not exists responses (
  id text not null, owner text not null, previous text, at real not null, messages blob not null, body blob not null,
  primary key (owner, id)
) without rowid;
create index if not exists responses_at on responses (at);
create table if not exists kept (kind text not null, id text not null, at real not null, value blob not null);
create unique index if not exists kept_id on kept (kind, id);
create index if not exists kept_at on kept (kind, at);
"""

_TOTALS = "select total(length(messages) + length(body)), max(at) from responses"
_ONE = "select previous, messages, body from responses where owner = ? and id = ?"
_OLD_COLUMN = "select 1 from pragma_table_info('responses') where name = 'said'"  # its name until November 2026

_KEEP_ROWS = "delete from responses where at <= (select at from responses order by at desc limit 1 offset ?)"
_KEEP_BYTES = """
delete from responses where at <= (
  select max(at) from (select at, sum(length(messages) + length(body)) over (order by at desc) as kept from responses)
  where kept > ?
)
"""

_TRIM_KEPT = """
delete from kept where kind = ?1 and at <= (
  select max(at) from (
    select at, sum(length(value)) over latest as bytes, row_number() over latest as number
    from kept where kind = ?1 window latest as (order by at desc rows unbounded preceding)
  ) where bytes > ?2 or number > ?3
)
"""
_PUT_KEPT = """
insert into kept values (?1, ?2, ?3, ?4) on conflict (kind, id) do update set at = ?3, value = ?4
"""
_DELETE_KEPT = """
delete from kept where (:owner is null or substr(id, 1, length(:owner) + 1) = :owner || char(9))
  and (:before is null or at < :before)
"""
_DELETE = "delete from responses where (:owner is null or owner = :owner) and (:before is null or at < :before)"

decode_messages = msgspec.json.Decoder(tuple[Message, ...]).decode
encode_messages = msgspec.json.Encoder().encode


class Row(msgspec.Struct, frozen=True, array_like=True):
    previous: str | None
    messages: bytes  # JSON
    body: bytes


def _connect(place: str) -> sqlite3.Connection:
    name = ":memory:"
    if place != MEMORY:
        path = at_home(place)
        if is_homeless(path):
            raise OSError(f"no home directory to resolve {place}")
        os.close(open_private(path))  # SQLite gives its other files the same mode
        name = str(path)
    connection = sqlite3.connect(name, check_same_thread=False, isolation_level=None)
    try:
        if connection.execute(_OLD_COLUMN).fetchone():
            connection.execute("alter table responses rename column said to messages")
        connection.executescript("pragma journal_mode = wal; pragma synchronous = normal; pragma secure_delete = on;" + _TABLE)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


class StoreError(UpstreamError):
    """The disk is full or broken, or a response is larger than the store."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"the store of responses: {problem}", 503, "store_failed")


class Store:
    """`place`: memory, or a file. `max_bytes`: of all messages and bodies; the oldest are deleted first. Thread-safe."""

    def __init__(self, place: str = MEMORY, max_bytes: int = _MAX_BYTES) -> None:
        self.in_memory = place == MEMORY
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._added = 0
        self._kept: dict[str, tuple[int, int]] = {}  # number and bytes by kind, since the last time that old ones were deleted
        try:
            self._connection = _connect(place)
            self._bytes, self._last = self._totals()
        except (OSError, sqlite3.Error) as error:
            raise CallerError(f"{place} can't be used as a store: {error}", "[server] store") from None

    def _totals(self) -> tuple[int, float]:
        """The bytes, and the time of the newest row."""
        bytes_, last = self._connection.execute(
            "select total(length(messages) + length(body)), max(at) from responses"
        ).fetchone()
        return int(bytes_), last or 0.0

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def add(self, id: str, owner: str, previous: str | None, messages: tuple[Message, ...], body: bytes) -> None:
        stored = encode_messages(messages)
        size = len(stored) + len(body)
        if size > self._max_bytes // 2:
            raise StoreError(f"{size} bytes are too many to store one")
        with self._locked():
            self._last = max(self._last + 1e-6, time.time())  # in the order of insertion, even if the clock is set back
            row = (id, owner, previous, self._last, stored, body)
            self._connection.execute("insert or replace into responses values (?, ?, ?, ?, ?, ?)", row)
            self._added += 1
            self._bytes += size
            if self._bytes > self._max_bytes or self._added % _CLEANUP_INTERVAL == 0:
                self._trim()

    def _trim(self) -> None:
        """Deletes the oldest rows until a tenth of the bytes is free."""
        self._connection.execute(_KEEP_ROWS, (_MAX_ROWS,))
        self._connection.execute(_KEEP_BYTES, (self._max_bytes * 9 // 10,))
        self._bytes, _ = self._totals()

    def history(self, id: str, owner: str) -> tuple[Message, ...] | None:
        """All messages up to and including this response; None if it is unknown or belongs to another owner."""
        turns: list[tuple[Message, ...]] = []
        next_id: str | None = id
        with self._locked():
            while next_id is not None and len(turns) < MAX_TURNS:
                row = self._row(next_id, owner)
                if row is None:
                    return None
                next_id = row.previous
                turns.append(decode_messages(row.messages))
        return tuple(message for turn in reversed(turns) for message in turn)

    def body(self, id: str, owner: str) -> bytes | None:
        row = self.row(id, owner)
        return None if row is None else row.body

    def row(self, id: str, owner: str) -> Row | None:
        with self._locked():
            return self._row(id, owner)

    def delete(self, id: str, owner: str) -> bool:
        with self._locked():
            return self._connection.execute("delete from responses where owner = ? and id = ?", (owner, id)).rowcount > 0

    def delete_all(self, owner: str | None = None, before: float | None = None) -> int:
        """Those of an owner, or from before this time; without both, all. Returns their number."""
        with self._locked():
            which = {"owner": owner, "before": before}
            number = self._connection.execute(_DELETE, which).rowcount
            others = self._connection.execute(_DELETE_KEPT, which).rowcount
            if number or others:
                self._connection.execute("pragma wal_checkpoint(truncate)")  # else they are still in the file beside it
                self._bytes, _ = self._totals()
            return number

    # -- values of other kinds

    def get(self, kind: Kind, id: str) -> bytes | None:
        with self._locked():
            return self._get(kind, id)

    def put(self, kind: Kind, id: str, value: bytes) -> None:
        if len(value) > kind.max_bytes // 2:
            raise StoreError(f"{len(value)} bytes are too many to store one")
        with self._locked():
            self._put(kind, id, value)

    def remove(self, kind: Kind, id: str) -> bool:
        with self._locked():
            return self._connection.execute("delete from kept where kind = ? and id = ?", (kind.name, id)).rowcount > 0

    def update(self, kind: Kind, id: str, change: Callable[[bytes | None], bytes]) -> bytes:
        """Replaces one value by what `change` makes of it; other processes wait."""
        with self._locked():
            self._connection.execute("begin immediate")
            try:
                value = change(self._get(kind, id))
                self._put(kind, id, value)
            except BaseException:
                self._connection.execute("rollback")
                raise
            self._connection.execute("commit")
            return value

    def _get(self, kind: Kind, id: str) -> bytes | None:
        query = "select value from kept where kind = ? and id = ? and at > ?"
        found = self._connection.execute(query, (kind.name, id, time.time() - kind.seconds)).fetchone()
        return None if found is None else bytes(found[0])

    def _put(self, kind: Kind, id: str, value: bytes) -> None:
        self._connection.execute(_PUT_KEPT, (kind.name, id, time.time(), value))
        number, size = self._kept.get(kind.name, (0, 0))
        number, size = number + 1, size + len(value)
        if number >= _CLEANUP_INTERVAL or size > kind.max_bytes // 20:
            self._connection.execute("delete from kept where kind = ? and at < ?", (kind.name, time.time() - kind.seconds))
            self._connection.execute(_TRIM_KEPT, (kind.name, kind.max_bytes, kind.max_items))
            number = size = 0
        self._kept[kind.name] = number, size

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except sqlite3.Error as error:
                raise StoreError(str(error)) from None

    def _row(self, id: str, owner: str) -> Row | None:
        rows = self._connection.execute(
            "select previous, messages, body from responses where owner = ? and id = ?", (owner, id)
        )
        found = rows.fetchone()
        return None if found is None else Row(*found)
