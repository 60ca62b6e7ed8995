"""What carries a request: HTTP, or a model in this very process. Nothing above knows which."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """Seconds and bytes. None: no limit."""

    connect: float | None = 10.0
    first_byte: float | None = 600.0  # from the request's last byte to the answer's first
    idle: float | None = 120.0  # between two pieces of an answer
    body: int = 64 * 1024 * 1024  # of a whole answer
    head: int = 64 * 1024


class Answer(Protocol):
    """An answer whose head has come. It must be closed; closing early ends the exchange at once."""

    status: int
    headers: Mapping[str, str]  # names in lower case; the last of several wins, but they are joined by ", " where HTTP says so

    def __aiter__(self) -> AsyncIterator[bytes]:
        """The body's pieces as they come."""

    async def read(self) -> bytes:
        """The whole body, within the limit."""

    async def aclose(self) -> None: ...


class Transport(Protocol):
    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", *, limits: Limits = ...
    ) -> Answer:
        """Faults are UpstreamErrors without a status; `.code` is a key of `http.faults.CODES`."""

    async def aclose(self) -> None: ...
