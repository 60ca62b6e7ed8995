"""Gemini Interactions: keys and values as tables. Source: google-genai SDK 3.3, types of API revision 2026-05-20."""

from __future__ import annotations

from toolglot.core.reply import Stop, StopReason, Usage
from toolglot.io.reply_values import token_count
from toolglot.io.request_validation import Body, unknown_keys

WIRE = "gemini-interactions"

# key of generation_config -> field
OPTIONS = {
    "max_output_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "stop_sequences": "stop",
    "seed": "seed",
}
OPTION_KEYS = {field: key for key, field in OPTIONS.items()}

# effort -> thinking_level
LEVELS = {
    "off": "minimal",
    "minimal": "minimal",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "xhigh",
    "max": "xhigh",
}

STATUS_IN: dict[str, StopReason] = {
    "completed": "stop",
    "requires_action": "calls",
    "incomplete": "length",
    "budget_exceeded": "length",
    "requires_continuation": "pause",
    "in_progress": "pause",
    "queued": "pause",
    "failed": "error",
    "cancelled": "other",
}
# There is one status for every early end.
STATUS_OUT: dict[StopReason, str] = {
    "stop": "completed",
    "stop_sequence": "completed",
    "calls": "requires_action",
    "length": "incomplete",
    "filter": "incomplete",
    "pause": "requires_continuation",
    "error": "failed",
    "other": "incomplete",
}

# `error.code` is a word here, not a number
ERROR_CODES = {
    400: "invalid_request",
    401: "unauthenticated",
    403: "permission_denied",
    404: "not_found",
    408: "deadline_exceeded",
    409: "aborted",
    413: "invalid_request",
    422: "invalid_request",
    429: "resource_exhausted",
    499: "cancelled",
    501: "unimplemented",
    503: "unavailable",
    504: "deadline_exceeded",
    529: "unavailable",
}


def write_status(stop: Stop) -> str:
    """The original value, if it came from this API and still applies."""
    raw = stop.raw
    return raw if raw is not None and STATUS_IN.get(raw) == stop.reason else STATUS_OUT[stop.reason]


# -- usage: the input excludes what server tools read, the output excludes thoughts

_COUNTED = frozenset(
    {"total_input_tokens", "total_output_tokens", "total_thought_tokens", "total_cached_tokens", "total_tokens"}
)
_TOOL_USE = "total_tool_use_tokens"


def read_usage(obj: Body) -> Usage:
    entered, tools = token_count(obj.get("total_input_tokens")), token_count(obj.get(_TOOL_USE))
    left, thoughts = token_count(obj.get("total_output_tokens")), token_count(obj.get("total_thought_tokens"))
    more = unknown_keys(obj, _COUNTED if tools else _COUNTED | {_TOOL_USE})
    return Usage(
        _sum(entered, tools),
        _sum(left, thoughts),
        token_count(obj.get("total_cached_tokens")),
        reasoning=thoughts,
        extra={WIRE: more} if more else {},
    )


def write_usage(usage: Usage) -> Body:
    fields = usage.extra.get(WIRE, {})
    entered, left, thoughts = usage.input or 0, usage.output or 0, usage.reasoning or 0
    return {
        "total_tokens": entered + left,
        "total_input_tokens": max(0, entered - (token_count(fields.get(_TOOL_USE)) or 0)),
        "total_cached_tokens": usage.cache_read or 0,
        "total_output_tokens": max(0, left - thoughts),
        "total_thought_tokens": thoughts,
        "total_tool_use_tokens": 0,
        **fields,
    }


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None and second is None else (first or 0) + (second or 0)
