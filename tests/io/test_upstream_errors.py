"""Error bodies and headers of all providers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.errors import UpstreamError
from toolglot.io.upstream_errors import STATUS_OF_WORD, find_error, parse_duration, read_error

DATE = {"Date": "Sun, 15 Nov 2026 10:00:00 GMT"}


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"Retry-After-Ms": "1500", "Retry-After": "9"}, 1.5),
        ({"retry-after": "20"}, 20.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"retry-after": "37s"}, 37.0),
        ({"retry-after": "Sun, 15 Nov 2026 10:00:30 GMT", **DATE}, 30.0),
        ({"retry-after": "Sun, 15 Nov 2026 09:00:00 GMT", **DATE}, 0.0),
        ({"retry-after": "Sun, 15 Nov 2026 10:00:30 GMT"}, None),
        ({"retry-after": "Sun, 15 Nov 2026 10:00:30", **DATE}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon", **DATE}, None),
        ({"retry-after": "", "retry-after-ms": "x"}, None),
    ],
)
def test_wait_from_headers(headers: dict[str, str], seconds: float | None) -> None:
    assert read_error(429, headers, b"").retry_after == seconds


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        ({"error": {"details": [{"@type": "x"}, {"retryDelay": "37s"}]}}, 37.0),
        ({"error": {"details": [{"retryDelay": "1.5s"}]}}, 1.5),
        ({"error": {"details": [{"retryDelay": 5}, 7, {"retryDelay": "9s"}]}}, 5.0),
        ({"error": {"details": [{"retryDelay": "later"}, {"retryDelay": "9s"}]}}, 9.0),
        ({"error": {"message": "x", "retryAfterMs": 2500}}, 2.5),
        ({"error": {"message": "x", "retry_after_ms": "2500"}}, 2.5),
        ({"error": {"message": "x", "retry_after": 3}}, 3.0),
        ({"error": {"message": "x", "retryAfter": "3s"}}, 3.0),
        ({"error": {"message": "x", "metadata": {"retry_after": 4}}}, 4.0),
        ({"error": {"message": "x", "metadata": {"retryAfterMs": 400}}}, 0.4),
        ({"error": {"message": "x"}, "retryAfterMs": 100}, 0.1),
        ({"error": "slow down", "retry_after": 6}, 6.0),
        ({"message": "slow down", "retryAfterMs": 300}, 0.3),
        ({"error": {"message": "x", "retry_after": True}}, None),
        ({"error": {"message": "x", "details": "y"}}, None),
    ],
)
def test_wait_from_the_body(body: dict[str, Any], seconds: float | None) -> None:
    error = read_error(429, {}, json.dumps(body).encode())
    assert error.retry_after == pytest.approx(seconds)
    assert read_error(429, {"retry-after": "1"}, json.dumps(body).encode()).retry_after == 1.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("37s", 37.0),
        ("6m0s", 360.0),
        ("12ms", 0.012),
        ("1h30m", 5400.0),
        ("1.5s", 1.5),
        ("", None),
        ("37", None),
        ("s37s", None),
    ],
)
def test_durations(text: str, seconds: float | None) -> None:
    assert parse_duration(text) == seconds


# HTTP status, body -> status, code, message, whether to retry
BODIES: dict[str, tuple[int | None, Any, tuple[int | None, str | None, str, bool]]] = {
    "OpenAI": (
        401,
        {"error": {"message": "bad key", "type": "invalid_request_error", "param": None, "code": "invalid_api_key"}},
        (401, "invalid_api_key", "bad key", False),
    ),
    "OpenAI, out of money": (
        429,
        {"error": {"message": "pay", "type": "insufficient_quota", "code": "insufficient_quota"}},
        (429, "insufficient_quota", "pay", False),
    ),
    "OpenAI, out of money by its type": (
        429,
        {"error": {"message": "pay", "type": "insufficient_quota", "code": "x"}},
        (429, "x", "pay", False),
    ),
    "Anthropic": (
        None,
        {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
        (529, "overloaded_error", "busy", True),
    ),
    "Gemini": (
        None,
        {"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}},
        (429, "RESOURCE_EXHAUSTED", "slow", True),
    ),
    "Gemini in a list": (
        400,
        [{"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}}],
        (400, "INVALID_ARGUMENT", "no", False),
    ),
    "OpenRouter under 200": (
        200,
        {"error": {"code": 502, "message": "down", "metadata": {"error_type": "provider_unavailable"}}},
        (502, "provider_unavailable", "down", True),
    ),
    "Ollama": (404, {"error": "model not found"}, (404, None, "model not found", False)),
    "Responses": (
        None,
        {"type": "error", "code": "server_error", "message": "oops", "sequence_number": 3},
        (500, "server_error", "oops", True),
    ),
    "vLLM of old": (
        None,
        {"object": "error", "message": "no", "type": "BadRequestError", "code": 400},
        (400, "BadRequestError", "no", False),
    ),
    "FastAPI": (404, {"detail": "Not Found"}, (404, None, "Not Found", False)),
    "FastAPI's list": (
        422,
        {"detail": [{"loc": ["body", "model"], "msg": "Field required"}]},
        (422, None, '[{"loc":["body","model"],"msg":"Field required"}]', False),
    ),
    "a bare message": (500, {"message": "oops"}, (500, None, "oops", True)),
    "a message that is no text": (500, {"error": {"message": {"a": 1}}}, (500, None, '{"a":1}', True)),
    "a word alone": (None, {"error": "rate_limit_exceeded"}, (429, None, "rate_limit_exceeded", True)),
    "a number as text": (None, {"error": {"message": "x", "code": "503"}}, (503, None, "x", True)),
    "a code that is no status": (None, {"error": {"message": "x", "code": 7}}, (None, "7", "x", True)),
    "an empty error": (500, {"error": {}}, (500, None, '{"error": {}}', True)),
    "true": (None, {"error": True}, (None, None, "true", True)),
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies(name: str) -> None:
    status, body, expected = BODIES[name]
    error = read_error(status, {}, json.dumps(body).encode())
    assert (error.status, error.code, error.message, error.retryable) == expected


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"upstream connect error", "upstream connect error"),
        (b"<html><h1>502</h1></html>\n", "<html><h1>502</h1></html>"),
        (b"", "HTTP status 502"),
        (b"{}", "HTTP status 502"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b'"just a string"', "just a string"),
        (b"[]", "[]"),
        (b"[[" * 50_000, "[" * 2000),
    ],
)
def test_bodies_without_an_error_object_are_shown(body: bytes, message: str) -> None:
    error = read_error(502, {}, body)
    assert (error.status, error.message) == (502, message)


@pytest.mark.parametrize(("word", "status"), sorted(STATUS_OF_WORD.items()))
def test_error_types_map_to_a_status(word: str, status: int) -> None:
    for spelling in (word, word.upper()):
        for key in ("type", "code", "status"):
            error = find_error({"error": {"message": "x", key: spelling}})
            assert error is not None
            assert (error.status, error.code) == (status, spelling)


@pytest.mark.parametrize(("header", "again"), [("true", True), ("False", False), ("perhaps", None)])
def test_x_should_retry_is_respected(header: str, again: bool | None) -> None:
    for status in (400, 503):
        error = read_error(status, {"X-Should-Retry": header}, b"")
        assert error.retryable == (status == 503 if again is None else again)


@pytest.mark.parametrize("chunk", [{}, {"error": None}, {"error": ""}, {"error": {}}, {"choices": []}, {"type": "message"}])
def test_no_error(chunk: dict[str, Any]) -> None:
    assert find_error(chunk) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "code", "status", "type", "details", "retryDelay", "metadata", "retry_after"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(
    st.none() | st.integers(100, 599),
    st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms", "date", "x-should-retry"]), st.text(max_size=30)),
    JSON,
)
def test_any_body_gives_an_error(status: int | None, headers: dict[str, str], body: Any) -> None:
    error = read_error(status, headers, json.dumps(body).encode())
    assert isinstance(error, UpstreamError)
    assert error.retry_after is None or error.retry_after >= 0
    assert isinstance(error.message, str)
    assert error.message
    assert error.status is None or 400 <= error.status < 600
