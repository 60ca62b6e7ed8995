"""Reads the rows of a new batch, and says what is wrong with them."""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.gateway.batches.batch import Problem, Row
from toolglot.io.json_codec import JSON_ERRORS

_MAX_ID = 512  # characters
_MAX_PROBLEMS = 20


class _Line(msgspec.Struct):
    custom_id: str
    method: str
    url: str
    body: dict[str, msgspec.Raw]


_LINE = msgspec.json.Decoder(_Line)
_ENCODER = msgspec.json.Encoder()


def read_lines(data: bytes, path: str, max_rows: int) -> tuple[list[Row], list[Problem]]:
    """The rows of an OpenAI input file. `path`: of the endpoint that all of them must name."""
    rows: list[Row] = []
    problems: list[Problem] = []
    seen: set[str] = set()
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = _LINE.decode(line)
        except JSON_ERRORS as error:
            problem: Problem | None = Problem("invalid_json_line", f"This line is not usable: {error}", number)
        else:
            problem = _problem(row, path, number, seen)
            seen.add(row.custom_id)
            rows.append(Row(row.custom_id, _without_stream(row.body)))
        if problem is not None:
            problems.append(problem)
        if len(rows) > max_rows:
            problems = [Problem("too_many_tasks", f"The file has more than {max_rows} requests")]
        if len(problems) >= _MAX_PROBLEMS or len(rows) > max_rows:
            return rows, problems
    if not rows and not problems:
        problems = [Problem("empty_file", "The file has no requests")]
    return rows, problems


def _problem(row: _Line, path: str, number: int, seen: set[str]) -> Problem | None:
    if not 0 < len(row.custom_id) <= _MAX_ID:
        return Problem("invalid_custom_id", f"custom_id must have 1 to {_MAX_ID} characters", number, "custom_id")
    if row.custom_id in seen:
        return Problem("duplicate_custom_id", "The custom_id is used by an earlier line", number, "custom_id")
    if row.method.upper() != "POST":
        return Problem("invalid_method", "The method must be POST", number, "method")
    if f"/v1{row.url.removeprefix('/v1')}" != path:
        return Problem("mismatched_endpoint", f"The url must be the batch's endpoint, {path}", number, "url")
    return _unsupported(row.body, number)


def _unsupported(body: dict[str, msgspec.Raw], number: int | None) -> Problem | None:
    if bytes(body.get("background", b"null")) == b"true":
        return Problem("unsupported_parameter", "background is not supported in a batch", number, "background")
    return None


def _without_stream(body: dict[str, msgspec.Raw]) -> msgspec.Raw:
    """The results of a batch are whole responses."""
    if "stream" in body:
        body = {name: value for name, value in body.items() if name not in ("stream", "stream_options")}
    return msgspec.Raw(_ENCODER.encode(body))


class _Request(msgspec.Struct):
    custom_id: str
    params: dict[str, msgspec.Raw]


class _Requests(msgspec.Struct):
    requests: list[_Request]


_REQUESTS = msgspec.json.Decoder(_Requests)


def read_requests(body: bytes, max_rows: int) -> list[Row]:
    """The rows of an Anthropic batch. Raises ValueError with what is wrong."""
    try:
        requests = _REQUESTS.decode(body).requests
    except JSON_ERRORS as error:
        raise ValueError(f"the body is not usable: {error}") from None
    if not 0 < len(requests) <= max_rows:
        raise ValueError(f"requests: there must be 1 to {max_rows}")
    seen: set[Any] = set()
    for number, request in enumerate(requests):
        if not 0 < len(request.custom_id) <= _MAX_ID or request.custom_id in seen:
            raise ValueError(f"requests.{number}.custom_id: must be unique, with 1 to {_MAX_ID} characters")
        seen.add(request.custom_id)
    return [Row(request.custom_id, _without_stream(request.params)) for request in requests]
