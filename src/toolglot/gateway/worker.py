"""A worker process: serves the master's port, sends it the record of each request, and asks it for what all workers did.

Started as `python -m toolglot.gateway.worker LISTENING CHANNEL`, two file descriptors.
"""

from __future__ import annotations

import signal
import socket
import sys
from typing import Any

import msgspec

from toolglot.catalog.user_rows import also_read
from toolglot.errors import CallerError, UpstreamError
from toolglot.gateway.budgets import Period, Spent
from toolglot.gateway.config import read_config
from toolglot.gateway.config_reload import as_running
from toolglot.gateway.discover import DiscoveryRefresh
from toolglot.gateway.overview import Deleted, LiveQuery, Overview
from toolglot.gateway.records import Record
from toolglot.gateway.request_log import set_up_logging
from toolglot.gateway.server import Source, make_gateway, run
from toolglot.gateway.shared_state import RELOAD
from toolglot.gateway.state import Gateway, log
from toolglot.gateway.worker_channel import (
    Answer,
    Ask,
    Channel,
    Count,
    Counted,
    Delete,
    Ended,
    Message,
    Ready,
    Reload,
    ReloadRequest,
    receive_start,
)

_ANSWER_SECONDS = 10.0  # for the master
DELETE_SECONDS = 60.0  # for the master and all workers to delete: it must not look done before it is
USAGE_ERROR = 2  # exit code


class MasterLink:
    """A background job of the gateway."""

    def __init__(self, end: socket.socket, source: Source, gateway: Gateway) -> None:
        self._end, self._source = end, source
        self._channel: Channel | None = None
        self._early: list[Message] = []  # until the channel is open
        gateway.records.observers.append(self._ended)
        gateway.overview = _AllWorkers(gateway, self)

    def _ended(self, record: Record) -> None:
        if self._channel is None:
            self._early.append(Ended([record]))
        else:
            self._channel.add_record(record)

    def _send(self, message: Message) -> None:
        if self._channel is None:
            self._early.append(message)
        else:
            self._channel.send(message)

    async def ask(self, method: str, *arguments: str | None, seconds: float = _ANSWER_SECONDS) -> msgspec.Raw:
        try:
            if self._channel is None:
                raise TimeoutError
            answer: msgspec.Raw = await self._channel.ask(lambda number: Ask(number, method, list(arguments)), seconds)
        except TimeoutError:
            raise UpstreamError("the gateway's master process does not answer", 503, "unavailable", 1.0) from None
        return answer

    async def __call__(self, gateway: Gateway) -> None:
        channel = self._channel = await Channel.to_master(self._end)
        gateway.shared.on_message = self._on_message
        for message in (Ready(), *self._early):
            channel.send(message)
        async for message in channel.messages():
            match message:
                case Reload(text, publish):
                    self._reload(gateway, text)
                    if publish:
                        await gateway.shared.publish(RELOAD)
                case Count(id, owner):
                    channel.send(Counted(id, await gateway.running(owner)))
                case Delete(id, owner):
                    gateway.records.delete(owner)
                    channel.send(Counted(id, await gateway.delete_responses(owner)))
                case Answer(id, value):
                    channel.answered(id, value)
        log.error("the master process ended: this worker finishes its requests and ends too")
        signal.raise_signal(signal.SIGTERM)

    def _on_message(self, message: bytes) -> None:
        if message == RELOAD:
            self._send(ReloadRequest())

    def _reload(self, gateway: Gateway, text: str) -> None:
        try:  # the master has checked the same text
            gateway.use(as_running(read_config(text, str(self._source.path)), gateway.live.config))
        except CallerError as error:
            log.error("a worker can't use the new configuration: %s", error)


class _AllWorkers(Overview):
    """The master's overview."""

    def __init__(self, gateway: Gateway, master: MasterLink) -> None:
        super().__init__(gateway.records, gateway.metrics, gateway.history, gateway)
        self._master, self._shared = master, gateway.shared

    async def metrics(self) -> bytes:
        return msgspec.json.decode(await self._master.ask("metrics"), type=str).encode()

    async def find(self, id: str) -> Record | None:
        here = await super().find(id)
        return here or msgspec.json.decode(await self._master.ask("find", id), type=Record | None)

    async def live(self, query: LiveQuery) -> dict[str, Any]:
        asked = msgspec.json.encode(query).decode()
        return msgspec.json.decode(await self._master.ask("live", asked), type=dict[str, Any])

    async def failed(self) -> dict[str, dict[str, Any]]:
        return msgspec.json.decode(await self._master.ask("failed"), type=dict[str, dict[str, Any]])

    async def usage(self, days: int, owner: str | None) -> list[dict[str, Any]]:
        if not self._shared.is_local:  # it has the counts of all workers and of all gateways
            return await super().usage(days, owner)
        return msgspec.json.decode(await self._master.ask("usage", str(days), owner), type=list[dict[str, Any]])

    async def delete(self, owner: str | None) -> Deleted:
        return msgspec.json.decode(await self._master.ask("delete", owner, seconds=DELETE_SECONDS), type=Deleted)

    async def spent(self, owner: str) -> dict[Period, Spent]:
        if not self._shared.is_local:
            return await super().spent(owner)
        return msgspec.json.decode(await self._master.ask("spent", owner), type=dict[Period, Spent])


def main(listening: int, channel: int) -> None:
    end = socket.socket(fileno=channel)
    source = receive_start(end)
    try:
        if source.path is not None:
            also_read(source.path)
        config = source.config()
        set_up_logging(msgspec.structs.replace(config.server.log_settings, file=""))  # the master writes the file
        gateway = make_gateway(config, source.nonce_secret)
    except CallerError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(USAGE_ERROR)
    if source.path is None:
        gateway.background_jobs.append(DiscoveryRefresh())
    gateway.background_jobs.append(MasterLink(end, source, gateway))
    run(gateway, socket.socket(fileno=listening))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
