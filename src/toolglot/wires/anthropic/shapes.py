"""Anthropic Messages: keys and values as tables."""

from __future__ import annotations

from toolglot.core.messages import Extra
from toolglot.core.reply import Stop, StopReason, Usage
from toolglot.io.reply_values import token_count
from toolglot.io.request_validation import Body, unknown_extra

WIRE = "anthropic"

# fmt: off
# type of a toolset -> the names of its calls (SDK 2.10)
_POINTER = (
    "double_click", "hold_key", "key", "left_click", "left_click_drag", "left_mouse_down", "left_mouse_up", "middle_click",
    "mouse_move", "right_click", "screenshot", "scroll", "triple_click", "type", "wait", "zoom",
)
TOOLSETS = {
    "computer_toolset_20260801": (*_POINTER, "cursor_position"),
    "browser_toolset_20260801": (
        *_POINTER, "close_tab", "file_upload", "find", "form_input", "get_page_text", "hover", "javascript_exec", "list_tabs",
        "navigate", "new_tab", "read_console", "read_network", "read_page", "scroll_to", "switch_tab",
    ),
}
# fmt: on

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

DEFAULT_MAX_TOKENS = 8192  # the API requires a number; most callers of other wires send none
LEAST_BUDGET = 1024

EFFORT_OUT = {"minimal": "low"}

REASON_IN: dict[str, StopReason] = {
    "end_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "stop_sequence": "stop_sequence",
    "tool_use": "calls",
    "pause_turn": "pause",
    "compaction": "pause",
    "refusal": "filter",
}
REASON_OUT: dict[StopReason, str] = {
    "stop": "end_turn",
    "calls": "tool_use",
    "length": "max_tokens",
    "stop_sequence": "stop_sequence",
    "filter": "refusal",
    "pause": "pause_turn",
    "error": "max_tokens",  # there is no such value; this one means that the reply is incomplete
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

# what a whole reply has even where there is nothing to say
_EMPTY_USAGE: Body = dict.fromkeys(
    ("cache_creation", "inference_geo", "output_tokens_details", "server_tool_use", "service_tier")
)

DIRECT = {"type": "direct"}  # the caller of a call that no program made; replies must name it
_CALL = frozenset({"type", "id", "name", "input"})
_MODELS_CALL = _CALL | {"caller"}

_USAGE_KEYS = frozenset(
    {
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "output_tokens_details",
    }
)


def stop_fields(stop: Stop | None) -> tuple[str, str | None]:
    """stop_reason and stop_sequence; the original value, if it came from Anthropic and still applies."""
    stop = stop or Stop("other")
    word = stop.raw if stop.raw is not None and REASON_IN.get(stop.raw) == stop.reason else REASON_OUT[stop.reason]
    return word, stop.sequence if stop.reason == "stop_sequence" else None


def read_usage(obj: Body) -> Usage:
    """Anthropic excludes cached tokens from `input_tokens`; ours is the total."""
    read, written = token_count(obj.get("cache_read_input_tokens")), token_count(obj.get("cache_creation_input_tokens"))
    counts = [number for number in (token_count(obj.get("input_tokens")), read, written) if number is not None]
    details = obj.get("output_tokens_details")
    details = details if isinstance(details, dict) else {}
    lifetimes = obj.get("cache_creation")
    lifetimes = lifetimes if isinstance(lifetimes, dict) else {}
    return Usage(
        sum(counts) if counts else None,
        token_count(obj.get("output_tokens")),
        read,
        written,
        token_count(details.get("thinking_tokens")),
        rest_of(obj, _USAGE_KEYS),
        token_count(lifetimes.get("ephemeral_1h_input_tokens")),
    )


def write_usage(usage: Usage | None) -> Body:
    usage = usage or Usage()
    read, written = usage.cache_read, usage.cache_write
    obj: Body = {
        "input_tokens": max(0, (usage.input or 0) - (read or 0) - (written or 0)),
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
        "output_tokens": usage.output or 0,
    }
    if usage.reasoning is not None:
        obj["output_tokens_details"] = {"thinking_tokens": usage.reasoning}
    if usage.extra:
        obj.update(usage.extra.get(WIRE, {}))
    return obj


def write_whole_usage(usage: Usage | None) -> Body:
    return {**_EMPTY_USAGE, **write_usage(usage)}


def call_rest(obj: Body) -> Extra:
    """The other fields of a tool_use. That the model itself made the call is what every API means without saying it."""
    return rest_of(obj, _MODELS_CALL if obj.get("caller") == DIRECT else _CALL)


def rest_of(obj: Body, known: frozenset[str]) -> Extra:
    return unknown_extra(obj, known, WIRE)
