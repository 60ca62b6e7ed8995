"""The messages between the master process and a worker, over a socket pair: a length, then JSON.

The channel closes when either process ends, however it ends.
"""

from __future__ import annotations

import asyncio
import itertools
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

import msgspec

from toolglot.gateway.records import Record
from toolglot.gateway.server import Source

T = TypeVar("T")
_LENGTH = 4  # bytes
_GATHERING = 0.02  # seconds in which records are gathered: each message wakes the master
_MAX_UNSENT = 64 * 1024 * 1024  # bytes; more is dropped


class Message(msgspec.Struct, frozen=True, tag=True):
    pass


# -- to a worker


class Start(Message, frozen=True):
    source: Source


class Reload(Message, frozen=True):
    """`publish`: this worker tells the other gateways with the same shared state."""

    text: str
    publish: bool


class Count(Message, frozen=True):
    """Asks for the requests in progress of an owner; None: of all."""

    id: int
    owner: str | None


class Delete(Message, frozen=True):
    """Asks to delete the records and stored responses of an owner; None: of all. Counted: the responses."""

    id: int
    owner: str | None


class Answer(Message, frozen=True):
    id: int
    value: msgspec.Raw


# -- to the master


class Ready(Message, frozen=True):
    pass


class ReloadRequest(Message, frozen=True):
    """Another gateway with the same shared state has read its configuration."""


class Ended(Message, frozen=True):
    """Requests that ended."""

    records: list[Record]


class Counted(Message, frozen=True):
    id: int
    number: int


class Ask(Message, frozen=True):
    """Asks for a method of the master's `Overview`."""

    id: int
    method: str
    arguments: list[str | None]


_TO_WORKER = msgspec.json.Decoder(Start | Reload | Count | Delete | Answer)
_TO_MASTER = msgspec.json.Decoder(Ready | ReloadRequest | Ended | Counted | Ask)


def receive_start(channel: socket.socket) -> Source:
    """The first message to a worker, before there is an event loop."""
    with channel.makefile("rb", buffering=0) as file:
        data = _read(file, int.from_bytes(_read(file, _LENGTH)))
    return msgspec.json.decode(data, type=Start).source


def _read(file: Any, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = file.read(size - len(data))
        if not more:
            raise EOFError("the master process ended")
        data += more
    return data


class Channel:
    """One end, inside an event loop."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, decoder: msgspec.json.Decoder[Any]) -> None:
        self._reader, self._writer, self._decoder = reader, writer, decoder
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._ids = itertools.count()
        self._records: list[Record] = []  # not sent yet

    @classmethod
    async def to_worker(cls, end: socket.socket) -> Channel:
        return cls(*await asyncio.open_unix_connection(sock=end), _TO_MASTER)

    @classmethod
    async def to_master(cls, end: socket.socket) -> Channel:
        return cls(*await asyncio.open_unix_connection(sock=end), _TO_WORKER)

    def send(self, message: Message) -> None:
        """After the records that were added before."""
        self._send_records()
        self._write(message)

    def add_record(self, record: Record) -> None:
        """Sent soon, with others. Until then its owner may change it."""
        self._records.append(record)
        if len(self._records) == 1:
            asyncio.get_running_loop().call_later(_GATHERING, self._send_records)

    def _send_records(self) -> None:
        if self._records:
            records, self._records = self._records, []
            self._write(Ended(records))

    def _write(self, message: Message) -> None:
        if self._writer.is_closing() or self._writer.transport.get_write_buffer_size() > _MAX_UNSENT:
            return
        data = msgspec.json.encode(message)
        self._writer.write(len(data).to_bytes(_LENGTH) + data)

    async def messages(self) -> AsyncIterator[Any]:
        """Until the other process ends."""
        try:
            while True:
                size = int.from_bytes(await self._reader.readexactly(_LENGTH))
                yield self._decoder.decode(await self._reader.readexactly(size))
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            self._send_records()
            self._writer.close()
            for waiting in self._waiting.values():
                waiting.cancel()

    async def ask(self, question: Callable[[int], Message], seconds: float) -> Any:
        """The value that comes back for the question with this id. Raises TimeoutError, also if the other process ends."""
        id = next(self._ids)
        waiting = self._waiting[id] = asyncio.get_running_loop().create_future()
        try:
            self.send(question(id))
            done, _ = await asyncio.wait([waiting], timeout=seconds)
            if not done or waiting.cancelled():
                raise TimeoutError
            return waiting.result()
        finally:
            del self._waiting[id]

    def answered(self, id: int, value: Any) -> None:
        waiting = self._waiting.get(id)
        if waiting is not None and not waiting.done():
            waiting.set_result(value)
