"""OpenAI Chat Completions: its words, as tables."""

from __future__ import annotations

from typing import Any

from toolglot.core.reply import Reason, Usage

WIRE = "openai-chat"
FAMILY = "openai"  # keys that both OpenAI wires have under one name and meaning

# key -> field; the last key that is present wins
OPTIONS = {
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "stop": "stop",
    "seed": "seed",
    "random_seed": "seed",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "verbosity": "verbosity",
    "user": "user",
    "parallel_tool_calls": "parallel",
    "stream": "stream",
}
OPTION_KEYS = {
    field: field for field in ("temperature", "top_p", "stop", "presence_penalty", "frequency_penalty", "verbosity", "user")
}

FAMILY_KEYS = frozenset(
    {"metadata", "store", "service_tier", "prompt_cache_key", "prompt_cache_options", "safety_identifier", "moderation"}
)

EFFORT_IN = {"none": "off"}
EFFORT_OUT = {"off": "none"}

REASON_IN: dict[str, Reason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "calls",
    "function_call": "calls",
    "content_filter": "filter",
    "error": "error",
    "eos": "stop",
    "model_length": "length",
}
REASON_OUT: dict[Reason, str] = {
    "stop": "stop",
    "calls": "tool_calls",
    "length": "length",
    "stop_sequence": "stop",
    "filter": "content_filter",
    "pause": "stop",
    "error": "error",
    "other": "stop",
}

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "invalid_request_error",
    422: "invalid_request_error",
    429: "rate_limit_error",
}


def read_usage(held: dict[str, Any]) -> Usage:
    prompt = held.get("prompt_tokens_details")
    completion = held.get("completion_tokens_details")
    prompt = prompt if isinstance(prompt, dict) else {}
    completion = completion if isinstance(completion, dict) else {}
    return Usage(
        count(held.get("prompt_tokens")),
        count(held.get("completion_tokens")),
        count(prompt.get("cached_tokens")),
        count(prompt.get("cache_write_tokens")),
        count(completion.get("reasoning_tokens")),
    )


def write_usage(usage: Usage) -> dict[str, Any]:
    entered, left = usage.input or 0, usage.output or 0
    held: dict[str, Any] = {"prompt_tokens": entered, "completion_tokens": left, "total_tokens": entered + left}
    prompt = _told(cached_tokens=usage.cache_read, cache_write_tokens=usage.cache_write)
    completion = _told(reasoning_tokens=usage.reasoning)
    if prompt:
        held["prompt_tokens_details"] = prompt
    if completion:
        held["completion_tokens_details"] = completion
    return held


def count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _told(**counts: int | None) -> dict[str, int]:
    return {key: value for key, value in counts.items() if value is not None}
