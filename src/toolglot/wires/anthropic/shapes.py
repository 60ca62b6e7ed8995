"""Anthropic Messages: its words, as tables."""

from __future__ import annotations

from typing import Any

from toolglot.core.messages import Extra
from toolglot.core.reply import Reason, Stop, Usage

Body = dict[str, Any]

WIRE = "anthropic"

# key -> field
OPTIONS = {
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "stop_sequences": "stop",
    "stream": "stream",
}
# field -> key; the user's name moves into `metadata` afterwards
OPTION_KEYS = {
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "stop": "stop_sequences",
    "user": "metadata",
}

DEFAULT_MAX_TOKENS = 8192  # the API insists on a number; most callers of other wires give none
LEAST_BUDGET = 1024

EFFORT_OUT = {"minimal": "low"}

REASON_IN: dict[str, Reason] = {
    "end_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "stop_sequence": "stop_sequence",
    "tool_use": "calls",
    "pause_turn": "pause",
    "compaction": "pause",
    "refusal": "filter",
}
REASON_OUT: dict[Reason, str] = {
    "stop": "end_turn",
    "calls": "tool_use",
    "length": "max_tokens",
    "stop_sequence": "stop_sequence",
    "filter": "refusal",
    "pause": "pause_turn",
    "error": "max_tokens",  # there is no word for it; this one says that the reply is not whole
    "other": "end_turn",
}

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}

_USAGE_KEYS = frozenset(
    {
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "output_tokens_details",
    }
)


def stop_words(stop: Stop | None) -> tuple[str, str | None]:
    """stop_reason and stop_sequence; Anthropic's own word, where the reply came from there and it still holds."""
    stop = stop or Stop("other")
    word = stop.raw if stop.raw is not None and REASON_IN.get(stop.raw) == stop.reason else REASON_OUT[stop.reason]
    return word, stop.sequence if stop.reason == "stop_sequence" else None


def read_usage(held: Body) -> Usage | None:
    """Anthropic counts cached tokens beside `input_tokens`, ours is the total."""
    if not held:
        return None
    read, written = count(held.get("cache_read_input_tokens")), count(held.get("cache_creation_input_tokens"))
    told = [number for number in (count(held.get("input_tokens")), read, written) if number is not None]
    details = held.get("output_tokens_details")
    details = details if isinstance(details, dict) else {}
    return Usage(
        sum(told) if told else None,
        count(held.get("output_tokens")),
        read,
        written,
        count(details.get("thinking_tokens")),
        rest_of(held, _USAGE_KEYS),
    )


def join_usage(usage: Body, more: Body) -> None:
    """Later counts are totals and replace earlier ones; a count that is missing, or fell to nothing, does not."""
    for key, value in more.items():
        if value is not None and not (value == 0 and usage.get(key)):
            usage[key] = value


def write_usage(usage: Usage | None) -> Body:
    usage = usage or Usage()
    read, written = usage.cache_read, usage.cache_write
    held: Body = {
        "input_tokens": max(0, (usage.input or 0) - (read or 0) - (written or 0)),
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
        "output_tokens": usage.output or 0,
    }
    if usage.reasoning is not None:
        held["output_tokens_details"] = {"thinking_tokens": usage.reasoning}
    if usage.extra:
        held.update(usage.extra.get(WIRE, {}))
    return held


def count(value: object) -> int | None:
    if type(value) is int:
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None


def rest_of(held: Body, known: frozenset[str]) -> Extra:
    """What an object holds beyond the known keys, to be kept; null counts as absent."""
    if held.keys() <= known:
        return {}
    rest = {key: value for key, value in held.items() if key not in known and value is not None}
    return {WIRE: rest} if rest else {}
