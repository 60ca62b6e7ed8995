"""Error bodies of all wires, compatible servers and proxies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from toolglot.errors import UpstreamError
from toolglot.io.json_codec import JSON_ERRORS, decode_lenient, preview

# The status for an error type, where the number is missing (an error inside a stream comes with HTTP 200).
STATUS_OF_WORD = {
    "invalid_request_error": 400,
    "invalid_argument": 400,
    "failed_precondition": 400,
    "context_length_exceeded": 400,
    "content_policy_violation": 400,
    "invalid_prompt": 400,
    "authentication_error": 401,
    "unauthenticated": 401,
    "unauthorized": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "permission_error": 403,
    "permission_denied": 403,
    "not_found_error": 404,
    "not_found": 404,
    "model_not_found": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "resource_exhausted": 429,
    "api_error": 500,
    "server_error": 500,
    "internal": 500,
    "internal_server_error": 500,
    "provider_unavailable": 502,
    "unavailable": 503,
    "provider_overloaded": 503,
    "timeout_error": 504,
    "deadline_exceeded": 504,
    "overloaded_error": 529,
}
_FINAL_WORDS = frozenset({"insufficient_quota", "billing_error"})
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)", re.ASCII)
_DURATIONS = re.compile(rf"(?:{_DURATION.pattern})+", re.ASCII)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def read_error(status: int | None, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    """An HTTP error response. The retry time is taken from the headers first, then from the body."""
    try:
        value = decode_lenient(body)
    except JSON_ERRORS:
        value = None
    if isinstance(value, list) and value:
        value = value[0]
    error = find_error(value) if isinstance(value, dict) else None  # Gemini wraps it in a list when it streams
    if error is None:
        text = body[:2000].decode("utf-8", "replace").strip() if value != {} else ""
        wait = _wait_from_body({}, value) if isinstance(value, dict) else None
        error = UpstreamError(_plain(value) or text or f"HTTP status {status}", None, retry_after=wait)
    lowered = {key.lower(): value for key, value in headers.items()}
    wait = _wait_from_headers(lowered)
    should = {"true": True, "false": False}.get(lowered.get("x-should-retry", "").lower(), error.should_retry)
    return UpstreamError(
        error.message,
        status if status is not None and status >= 400 else error.status,
        error.code,
        wait if wait is not None else error.retry_after,
        should,
    )


def find_error(chunk: dict[str, Any]) -> UpstreamError | None:
    """The error that a body or a stream's chunk reports, or None."""
    error = chunk.get("error")
    if not error:
        if chunk.get("type") != "error" and chunk.get("object") != "error":
            return None
        error = chunk
    if isinstance(error, dict):
        return _from_object(error, chunk)
    message = _as_text(error)
    status = _first_number(chunk.get("status"), chunk.get("code")) or STATUS_OF_WORD.get(message.lower())
    return UpstreamError(message, status, str(chunk.get("code") or "") or None, _wait_from_body({}, chunk))


def _from_object(error: dict[str, Any], chunk: dict[str, Any]) -> UpstreamError:
    code = _first_word(error.get("code"), error.get("status"), error.get("type"), _metadata(error).get("error_type"))
    status = _first_number(error.get("code"), error.get("status"), chunk.get("status"))
    words = [word.lower() for word in (code, error.get("type"), error.get("status")) if isinstance(word, str)]
    if status is None:
        status = next((STATUS_OF_WORD[word] for word in words if word in STATUS_OF_WORD), None)
    message = error.get("message") or error.get("detail") or error.get("error") or code or "the provider reports an error"
    wait = _wait_from_body(error, chunk)
    return UpstreamError(_as_text(message), status, code, wait, None if _FINAL_WORDS.isdisjoint(words) else False)


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else preview(value, 2000)


def _metadata(error: dict[str, Any]) -> dict[str, Any]:
    obj = error.get("metadata")
    return obj if isinstance(obj, dict) else {}


def _plain(value: object) -> str:
    """Bodies without `error`: FastAPI's detail, a bare message."""
    if isinstance(value, dict):
        for key in ("message", "detail"):
            if value.get(key):
                return _as_text(value[key])
    return value if isinstance(value, str) else ""


def _first_word(*candidates: object) -> str | None:
    words = (word for word in candidates if isinstance(word, str) and word and not word.isdigit())
    return next(words, None) or next((str(number) for number in candidates if isinstance(number, int)), None)


def _first_number(*candidates: object) -> int | None:
    for candidate in candidates:
        number = int(candidate) if isinstance(candidate, str) and candidate.isdecimal() and len(candidate) < 6 else candidate
        if isinstance(number, int) and not isinstance(number, bool) and 400 <= number < 600:
            return number
    return None


def _wait_from_headers(headers: Mapping[str, str]) -> float | None:
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if not value:
        return None
    seconds = _seconds(value)
    return seconds if seconds is not None else _until(value, headers.get("date"))


def _until(value: str, now: str | None) -> float | None:
    """A date as seconds from the response's Date header: no clock is read here."""
    try:
        then = parsedate_to_datetime(value)
        return max(0.0, (then - parsedate_to_datetime(now)).total_seconds()) if now else None
    except (ValueError, TypeError):
        return None


def _wait_from_body(error: dict[str, Any], chunk: dict[str, Any]) -> float | None:
    for obj in (error, _metadata(error), chunk):
        for key, scale in (("retryAfterMs", 0.001), ("retry_after_ms", 0.001), ("retry_after", 1.0), ("retryAfter", 1.0)):
            wait = _seconds(obj.get(key), scale)
            if wait is not None:
                return wait
    details = error.get("details")
    for detail in details if isinstance(details, list) else ():
        wait = _seconds(detail.get("retryDelay")) if isinstance(detail, dict) else None
        if wait is not None:
            return wait
    return None


def parse_duration(text: str) -> float | None:
    """`37s`, `6m0s`, `12ms` in seconds."""
    if not _DURATIONS.fullmatch(text.strip()):
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in _DURATION.findall(text))


def _seconds(value: object, scale: float = 1.0) -> float | None:
    """A number in the given unit, or text that names its unit."""
    number = _number(value)
    if number is not None:
        return number * scale
    return parse_duration(value) if isinstance(value, str) else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number < 1e9 else None
