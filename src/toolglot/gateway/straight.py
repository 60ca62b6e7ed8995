"""A transport that takes no detours: a redirect is an error, never an address to go to."""

from __future__ import annotations

from collections.abc import Mapping

from toolglot.client.transport import Answer, Limits, Transport
from toolglot.errors import UpstreamError

_LIMITS = Limits()


class Straight:
    def __init__(self, inner: Transport) -> None:
        self._inner = inner

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", *, limits: Limits = _LIMITS
    ) -> Answer:
        answer = await self._inner.send(method, url, headers, body, limits=limits)
        if 300 <= answer.status < 400:
            await answer.aclose()
            raise UpstreamError(
                "the upstream answers with a redirect: write its final address as base_url", 502, "redirected", None, False
            )
        return answer

    async def aclose(self) -> None:
        await self._inner.aclose()
