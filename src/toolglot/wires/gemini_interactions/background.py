"""How the events of an interaction show it, for one that runs in the background."""

from __future__ import annotations

from toolglot.core.interfaces import BackgroundEvents
from toolglot.errors import UpstreamError
from toolglot.io.request_validation import Body
from toolglot.wires.gemini_interactions.reply import error_fields


def _ended(body: Body, status: str, error: UpstreamError | None) -> Body:
    return {**body, "status": status, **({} if error is None else {"errors": [error_fields(error)]})}


def _end(body: Body, error: UpstreamError | None, number: int) -> list[tuple[str, Body | str]]:
    kind = "error" if error is not None else "interaction.status_update"
    fields = {"error": error_fields(error)} if error is not None else {"interaction_id": body["id"], "status": body["status"]}
    return [(kind, {**fields, "event_type": kind}), ("done", "[DONE]")]


BACKGROUND = BackgroundEvents(
    body="interaction",
    with_body=frozenset({"interaction.created", "interaction.completed"}),
    last=frozenset({"done"}),
    first_status="in_progress",
    resume="last_event_id",
    ended=_ended,
    end=_end,
    event_id="event_id",
)
