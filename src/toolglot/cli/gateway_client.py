"""What a command asks a running gateway: is one there, which models it has, and what a request for a model would reach."""

from __future__ import annotations

import asyncio
import os
from typing import Any
from urllib.parse import quote

import msgspec

from toolglot.client.http import HttpTransport
from toolglot.client.http.url import parse_url
from toolglot.client.transport import Limits
from toolglot.errors import CallerError, UpstreamError
from toolglot.gateway.checked_model import ModelCheck
from toolglot.io.json_codec import JSON_ERRORS, decode

GATEWAY = "http://127.0.0.1:8484"
KEY_VARIABLE = "TOOLGLOT_KEY"
_LIMITS = Limits(connect=1.0, first_byte=30.0, idle=10.0, body=16 * 1024 * 1024)
_NO_ACCESS = (401, 403)
_REFUSED = "connect_failed"


class GatewayClient:
    """Errors are UpstreamErrors, but a rejected key is a CallerError."""

    def __init__(self, url: str, key: str | None = None) -> None:
        """Without a key, that of the environment is used."""
        try:
            parse_url(url)
        except CallerError as error:
            raise CallerError(error.problem, "--gateway") from None
        self.url = url.rstrip("/")
        self.key = os.environ.get(KEY_VARIABLE, "").strip() if key is None else key

    def is_running(self) -> bool:
        """Whether a gateway of toolglot answers there."""
        try:
            return "upstreams" in self.get("/toolglot/upstreams")
        except UpstreamError:
            return False

    def missing(self) -> UpstreamError:
        return UpstreamError(f"no gateway answers at {self.url}: start it with `toolglot serve`")

    def models(self) -> list[str]:
        return [row["id"] for row in self.get("/v1/models")["data"]]

    def check(self, model: str) -> ModelCheck:
        """Raises if no route matches."""
        return msgspec.convert(self.get(f"/toolglot/check/{quote(model, safe='/:@')}"), ModelCheck)

    def get(self, path: str) -> dict[str, Any]:
        try:
            status, body = asyncio.run(self._get(path))
        except UpstreamError as error:
            raise self.missing() if error.code == _REFUSED else error from None
        if status in _NO_ACCESS:
            problem = "rejects this API key" if self.key else "needs an API key"
            raise CallerError(f"the gateway at {self.url} {problem}: set {KEY_VARIABLE}", "--gateway")
        if status != 200 or not isinstance(body, dict):
            raise UpstreamError(_message(body) or f"{self.url}{path} answers with status {status}", status)
        return body

    async def _get(self, path: str) -> tuple[int, Any]:
        """Status and body; None if it is not JSON."""
        transport = HttpTransport()
        try:
            headers = {"authorization": f"Bearer {self.key}"} if self.key else {}
            answer = await transport.send("GET", self.url + path, headers, limits=_LIMITS)
            try:
                body = await answer.read()
            finally:
                await answer.aclose()
        finally:
            await transport.aclose()
        try:
            return answer.status, decode(body)
        except JSON_ERRORS:
            return answer.status, None


def _message(body: Any) -> str:
    """Of an error in OpenAI's format."""
    error = body.get("error") if isinstance(body, dict) else None
    return str(error.get("message", "")) if isinstance(error, dict) else ""
