"""Chooses the transport by address: HTTP, or the model in this process."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import Any

from toolglot.client import weights
from toolglot.client.embedded import SCHEME, Embedded
from toolglot.client.http import HttpTransport
from toolglot.client.transport import Answer, Limits, Transport

_LIMITS = Limits()


class Transports:
    """A Transport for every address. The one of the embedded model is created on first use."""

    def __init__(self, http: Transport | None = None, progress: weights.Progress | None = weights.on_stderr) -> None:
        self._http: Transport = HttpTransport() if http is None else http
        self._progress = progress
        self._embedded: Embedded | None = None

    def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", *, limits: Limits = _LIMITS
    ) -> Coroutine[Any, Any, Answer]:
        transport = self._http
        if url.startswith(f"{SCHEME}:"):
            if self._embedded is None:
                self._embedded = Embedded(self._http, self._progress)
            transport = self._embedded
        return transport.send(method, url, headers, body, limits=limits)

    async def aclose(self) -> None:
        await self._http.aclose()
