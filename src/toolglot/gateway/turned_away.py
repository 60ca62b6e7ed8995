"""Errors whose answer says more in its head, as HTTP asks for: what is allowed, or spoken, instead."""

from __future__ import annotations

from collections.abc import Collection

from toolglot.errors import UpstreamError


class TurnedAwayError(UpstreamError):
    def __init__(self, message: str, status: int, code: str, *headers: tuple[bytes, bytes]) -> None:
        super().__init__(message, status, code)
        self.headers = headers


def wrong_method(path: str, methods: Collection[str]) -> TurnedAwayError:
    """HEAD goes wherever GET does."""
    allowed = sorted({*methods} | ({"HEAD"} if "GET" in methods else set()))
    told = ", ".join(allowed)
    return TurnedAwayError(f"{path[:200]} takes {told}", 405, "method_not_allowed", (b"allow", told.encode()))


def no_websocket() -> TurnedAwayError:
    return TurnedAwayError(
        "there is no WebSocket here: send POST /v1/responses",
        426,
        "upgrade_required",
        (b"upgrade", b"HTTP/1.1"),
        (b"connection", b"upgrade"),
        (b"connection", b"close"),
    )
