"""The models that a server lists, as Anthropic does."""

from __future__ import annotations

from datetime import datetime

from toolglot.core.interfaces import ServedModels
from toolglot.io.request_validation import Body


def _write(name: str, _: str, created: datetime) -> Body:
    at = created.isoformat().replace("+00:00", "Z")
    return {"type": "model", "id": name, "display_name": name, "created_at": at}


def _page(rows: list[Body], more: bool) -> Body:
    ends = (rows[0]["id"], rows[-1]["id"]) if rows else (None, None)
    return {"data": rows, "has_more": more, "first_id": ends[0], "last_id": ends[1]}


SERVED = ServedModels(_write, _page, ("limit", "after_id", "before_id"))
