"""What an upstream says in its headers of its limits, for clients who know the words: those of the same vendor's API."""

from __future__ import annotations

from collections.abc import Mapping

from toolglot.client.transport import Answer, Limits, Transport
from toolglot.gateway.exchange import Exchange, header_text

_LIMITS = Limits()
_MOST = 32  # such headers


class Noting:
    """A transport for one client's request. The answer that came last is the one that counts, be it an error."""

    def __init__(self, inner: Transport, exchange: Exchange, head: str) -> None:
        self._inner, self._exchange, self._head = inner, exchange, head

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", *, limits: Limits = _LIMITS
    ) -> Answer:
        answer = await self._inner.send(method, url, headers, body, limits=limits)
        found = [(name, value) for name, value in answer.headers.items() if name.startswith(self._head)]
        self._exchange.limits = [(header_text([name]), header_text([value])) for name, value in found[:_MOST]]
        return answer

    async def aclose(self) -> None:
        await self._inner.aclose()
