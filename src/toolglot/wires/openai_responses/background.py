"""How the events of a response show it, for one that runs in the background."""

from __future__ import annotations

from toolglot.core.interfaces import BackgroundEvents
from toolglot.errors import UpstreamError
from toolglot.io.request_validation import Body

_TERMINAL = frozenset({"response.completed", "response.failed", "response.incomplete"})


def _ended(body: Body, status: str, error: UpstreamError | None) -> Body:
    detail = None if error is None else {"code": error.code or "server_error", "message": error.message}
    return {**body, "status": status, "error": detail}


def _end(body: Body, error: UpstreamError | None, number: int) -> list[tuple[str, Body | str]]:
    return [("response.failed", {"type": "response.failed", "sequence_number": number, "response": body})]


BACKGROUND = BackgroundEvents(
    body="response",
    with_body=_TERMINAL | {"response.created"},
    last=_TERMINAL,
    first_status="queued",
    resume="starting_after",
    ended=_ended,
    end=_end,
)
