"""What is known of a batch, and the results of its rows, apart from any API's form."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from toolglot.gateway.shared_state import BETWEEN, Kind

_DAY = 86_400
SECONDS = _DAY  # until a batch expires
BATCHES = Kind("batches", 30 * _DAY, 100_000, 64 * 1024 * 1024)  # batches, files and lists of them, without contents
CONTENTS = Kind("batch_contents", 30 * _DAY, 2_000_000, 1024 * 1024 * 1024)  # parts of files, and results

Outcome = Literal["succeeded", "errored", "canceled", "expired"]
Ending = Literal["", "completed", "failed", "canceled", "expired"]


class Problem(msgspec.Struct, frozen=True):
    """Why an input can't be run."""

    code: str
    message: str
    line: int | None = None
    param: str | None = None


class Batch(msgspec.Struct, kw_only=True):
    id: str
    owner: str
    path: str  # of the endpoint that its rows go to
    created: float
    expires: float
    rows: str  # the id of the contents with its rows
    total: int = 0
    headers: dict[str, str] = {}  # of the request that created it
    metadata: Any = None
    ended: float = 0.0
    ending: Ending = ""
    cancelled: float = 0.0  # when that was requested
    succeeded: int = 0
    errored: int = 0
    output_bytes: int = 0  # of the results in the API's form
    error_bytes: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    problems: tuple[Problem, ...] = ()

    @property
    def key(self) -> str:
        return f"{self.owner}{BETWEEN}{self.id}"

    @property
    def left(self) -> int:
        """Rows without a result."""
        return self.total - self.succeeded - self.errored

    def add(self, result: Result) -> None:
        self.succeeded += result.outcome == "succeeded"
        self.errored += result.outcome == "errored"
        self.input_tokens += result.input
        self.output_tokens += result.output
        if result.outcome == "succeeded":
            self.output_bytes += result.size
        else:
            self.error_bytes += result.size


class Row(msgspec.Struct, frozen=True, array_like=True):
    custom_id: str
    body: msgspec.Raw


class Result(msgspec.Struct, frozen=True):
    """`body`: of the response. Without a result, a row of an ended batch was cancelled or has expired."""

    outcome: Outcome
    status: int = 0
    request_id: str = ""
    body: msgspec.Raw = msgspec.Raw(b"null")
    input: int = 0  # tokens
    output: int = 0
    size: int = 0  # of its line in the API's form


decode_batch = msgspec.json.Decoder(Batch).decode
decode_result = msgspec.json.Decoder(Result).decode
decode_rows = msgspec.json.Decoder(list[Row]).decode
