"""The interface of a transport: HTTP, or a model in this process. The code above does not know which."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextvars import ContextVar
from typing import Protocol

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """Seconds and bytes. None: no limit."""

    connect: float | None = 10.0
    first_byte: float | None = 600.0  # from the last byte of the request to the first of the response
    idle: float | None = 120.0  # between two chunks of a response
    body: int = 64 * 1024 * 1024  # of a whole response
    head: int = 64 * 1024
    queue: float | None = 600.0  # for a free connection
    connections: int | None = None  # to one host at the same time; None: what the transport is set to


# Whose request it is: if all connections to a host are in use, different owners get the next one in turn.
request_owner: ContextVar[str] = ContextVar("request_owner", default="")


class Sent(Protocol):
    """Counts the HTTP requests that one request of a client causes."""

    sent: int
    resent: int  # of these: sent again, because the server had closed a kept connection before it began to respond


request_sent: ContextVar[Sent | None] = ContextVar("request_sent", default=None)


class Answer(Protocol):
    """A response, once its head has arrived. It must be closed; closing it early ends the exchange at once."""

    status: int
    headers: Mapping[str, str]  # names in lower case; repeated ones are joined by ", " where HTTP allows it, else the last wins

    def __aiter__(self) -> AsyncIterator[bytes]:
        """The chunks of the body as they arrive."""

    async def read(self) -> bytes:
        """The whole body, within the limit."""

    async def aclose(self) -> None: ...

    def release(self) -> None:
        """Instead of `aclose`, once the last event was read: the connection is kept, if the body ends soon."""


class Transport(Protocol):
    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", *, limits: Limits = ...
    ) -> Answer:
        """Failures are UpstreamErrors without a status; `.code` is a key of `http.faults.CODES`."""

    async def aclose(self) -> None: ...
