"""OpenAI Responses: its words, as tables."""

from __future__ import annotations

from typing import Any

from toolglot.core.reply import Reason, Usage

WIRE = "openai-responses"

Body = dict[str, Any]

# key -> field
OPTIONS = {
    "max_output_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "user": "user",
    "parallel_tool_calls": "parallel",
    "stream": "stream",
}
OPTION_KEYS = {"max_tokens": "max_output_tokens", "temperature": "temperature", "top_p": "top_p", "user": "user"}

# A response's fields that say nothing new: they are read elsewhere, or echo the request.
# fmt: off
ECHOES = frozenset({
    "access_programs", "background", "completed_at", "created_at", "error", "frequency_penalty", "id", "image",
    "incomplete_details", "instructions", "max_output_tokens", "max_tool_calls", "metadata", "model", "object",
    "output", "output_text", "parallel_tool_calls", "presence_penalty", "previous_response_id", "prompt",
    "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "reasoning", "safety_identifier", "status",
    "store", "temperature", "text", "tool_choice", "tools", "top_k", "top_logprobs", "top_p", "truncation", "usage",
    "user",
})
# fmt: on

# `incomplete_details.reason`
REASON_IN: dict[str, Reason] = {
    "max_output_tokens": "length",
    "content_filter": "filter",
    "max_messages": "other",
    "steered": "pause",
}
INCOMPLETE_OUT: dict[Reason, str] = {"length": "max_output_tokens", "filter": "content_filter"}
# statuses other than completed, incomplete and failed
STATUS_IN: dict[str, Reason] = {"in_progress": "pause", "queued": "pause"}

# Words of `response.error.code` that clients look for; all else is told by the status.
# fmt: off
ERROR_CODES = frozenset({
    "server_error", "rate_limit_exceeded", "invalid_prompt", "bio_policy", "vector_store_timeout", "invalid_image",
    "context_length_exceeded", "insufficient_quota", "server_is_overloaded", "slow_down",
    "image_content_policy_violation",
})
# fmt: on
ERROR_CODE_OF_STATUS = {400: "invalid_prompt", 429: "rate_limit_exceeded"}

PREFIXES = {"text": "msg", "reasoning": "rs", "call": "fc", "custom": "ctc", "media": "ig"}
_MADE = "tg_"
_STEM = 40


def make_id(kind: str, response_id: str, index: int) -> str:
    """An item's id where it has none of its own. It says so, for nobody but us may refer to it."""
    return f"{PREFIXES[kind]}_{_MADE}{response_id.removeprefix('resp_')[:_STEM]}_{index}"


def item_state(item: Body, known: frozenset[str]) -> Body:
    """What an item says beside its `known` keys. An id that `make_id` made means nothing and is dropped."""
    if item.keys() <= known:
        return {}
    own = {key: value for key, value in item.items() if key not in known and value is not None}
    if "id" in own and (not isinstance(own["id"], str) or own["id"].partition("_")[2].startswith(_MADE)):
        del own["id"]
    if own.get("status") in ("completed", "in_progress"):
        del own["status"]
    return own


def read_usage(held: Body) -> Usage:
    entered, left = held.get("input_tokens_details"), held.get("output_tokens_details")
    entered = entered if isinstance(entered, dict) else {}
    left = left if isinstance(left, dict) else {}
    return Usage(
        count(held.get("input_tokens")),
        count(held.get("output_tokens")),
        count(entered.get("cached_tokens")),
        count(entered.get("cache_write_tokens")),
        count(left.get("reasoning_tokens")),
    )


def write_usage(usage: Usage) -> Body:
    """Every count is required here: what was not told is 0."""
    entered, left = usage.input or 0, usage.output or 0
    return {
        "input_tokens": entered,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read or 0,
            "cache_write_tokens": usage.cache_write or 0,
        },
        "output_tokens": left,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning or 0},
        "total_tokens": entered + left,
    }


def count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
