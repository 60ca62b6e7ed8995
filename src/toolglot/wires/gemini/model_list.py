"""The models that a server lists, as Gemini's does."""

from __future__ import annotations

from datetime import datetime

from toolglot.core.interfaces import ServedModels
from toolglot.io.request_validation import Body
from toolglot.wires.gemini.shapes import METHODS


def _write(name: str, _: str, created: datetime) -> Body:
    return {
        "name": f"models/{name}",
        "baseModelId": name,
        "version": "1",
        "displayName": name,
        "supportedGenerationMethods": list(METHODS),
    }


def _page(rows: list[Body], more: bool) -> Body:
    body: Body = {"models": rows}
    if more:
        body["nextPageToken"] = rows[-1]["baseModelId"]
    return body


SERVED = ServedModels(_write, _page, ("pageSize", "pageToken", ""))
