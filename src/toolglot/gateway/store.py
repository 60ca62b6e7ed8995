"""Responses' conversations: what a response was asked and what it said, so that `previous_response_id` can go on from it.

One row a response, linked to the one before. Each belongs to the key that made it: another key does not find it.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from typing import Any

import msgspec

from toolglot.client.home import at_home, is_homeless
from toolglot.core.messages import Message
from toolglot.errors import CallerError
from toolglot.gateway.config import MEMORY

_MOST = 20_000  # rows; the oldest go first
_LONGEST = 1000  # turns of one conversation
_SWEEP = 100  # rows between two looks at how many there are

_TABLE = """
create table if not exists responses (
  id text not null, owner text not null, previous text, at real not null, said blob not null, body blob not null,
  primary key (owner, id)
) without rowid;
create index if not exists responses_at on responses (at);
"""

_MESSAGES = msgspec.json.Decoder(tuple[Message, ...])
_ENCODER = msgspec.json.Encoder()


def _opened(place: str) -> sqlite3.Connection:
    name = ":memory:"
    if place != MEMORY:
        path = at_home(place)
        if is_homeless(path):
            raise OSError(f"there is no home directory for {place}")
        path.parent.mkdir(parents=True, exist_ok=True)
        name = str(path)
    held = sqlite3.connect(name, check_same_thread=False, isolation_level=None)
    try:
        held.executescript("pragma journal_mode = wal; pragma synchronous = normal;" + _TABLE)
    except sqlite3.Error:
        held.close()
        raise
    return held


class Store:
    """`place`: memory, or a file. Safe from several threads."""

    def __init__(self, place: str = MEMORY) -> None:
        self.in_memory = place == MEMORY
        self._lock = threading.Lock()
        self._added = 0
        try:
            self._held = _opened(place)
        except (OSError, sqlite3.Error) as error:
            raise CallerError(f"{place} can't be used as a store: {error}", "[server] store") from None

    def close(self) -> None:
        with self._lock:
            self._held.close()

    def add(self, id: str, owner: str, previous: str | None, said: tuple[Message, ...], body: bytes) -> None:
        row = (id, owner, previous, time.time(), _ENCODER.encode(said), body)
        with self._lock:
            self._held.execute("insert or replace into responses values (?, ?, ?, ?, ?, ?)", row)
            self._added += 1
            if self._added % _SWEEP == 0:
                self._held.execute(
                    "delete from responses where at <= (select at from responses order by at desc limit 1 offset ?)", (_MOST,)
                )

    def history(self, id: str, owner: str) -> tuple[Message, ...] | None:
        """All that was said up to the end of this response; None where it is not known, or not this owner's."""
        turns: list[tuple[Message, ...]] = []
        next_id: str | None = id
        with self._lock:
            while next_id is not None and len(turns) < _LONGEST:
                row = self._row(next_id, owner)
                if row is None:
                    return None
                next_id, said = row[0], row[1]
                turns.append(_MESSAGES.decode(said))
        return tuple(message for turn in reversed(turns) for message in turn)

    def body(self, id: str, owner: str) -> bytes | None:
        with self._lock:
            row = self._row(id, owner)
        return None if row is None else bytes(row[2])

    def drop(self, id: str, owner: str) -> bool:
        with self._lock:
            return self._held.execute("delete from responses where owner = ? and id = ?", (owner, id)).rowcount > 0

    def _row(self, id: str, owner: str) -> Any:
        found = self._held.execute("select previous, said, body from responses where owner = ? and id = ?", (owner, id))
        return found.fetchone()
