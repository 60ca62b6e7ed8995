"""One line of the results of a batch, in the form of its API."""

from __future__ import annotations

from typing import Any

from toolglot.gateway.batches.batch import Batch, Result
from toolglot.io.json_codec import encode

_WITHOUT = {
    "canceled": ("batch_cancelled", "This request was not executed because the batch was cancelled."),
    "expired": ("batch_expired", "This request could not be executed before the completion window expired."),
}
ANTHROPIC_PATH = "/v1/messages"


def result_line(batch: Batch, number: int, custom_id: str, result: Result) -> bytes:
    form = _anthropic if batch.path == ANTHROPIC_PATH else _openai
    return encode(form(batch, number, custom_id, result)) + b"\n"


def without_result(batch: Batch) -> Result:
    """Of a row of an ended batch that has none."""
    return Result("canceled" if batch.ending == "canceled" else "expired")


def _openai(batch: Batch, number: int, custom_id: str, result: Result) -> dict[str, Any]:
    response = error = None
    if result.outcome in _WITHOUT:
        code, message = _WITHOUT[result.outcome]
        error = {"code": code, "message": message}
    else:
        response = {"status_code": result.status, "request_id": result.request_id, "body": result.body}
    id = f"batch_req_{batch.id.removeprefix('batch_')}_{number}"
    return {"id": id, "custom_id": custom_id, "response": response, "error": error}


def _anthropic(batch: Batch, number: int, custom_id: str, result: Result) -> dict[str, Any]:
    given: dict[str, Any] = {"type": result.outcome}
    if result.outcome == "succeeded":
        given["message"] = result.body
    elif result.outcome == "errored":
        given["error"] = result.body
    return {"custom_id": custom_id, "result": given}
