"""OpenAI Responses: keys and values as tables."""

from __future__ import annotations

from toolglot.core.reply import StopReason, Usage
from toolglot.io.reply_values import token_count
from toolglot.io.request_validation import Body, unknown_keys

WIRE = "openai-responses"


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

# Fields of a response that are read elsewhere, or echo the request.
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
REASON_IN: dict[str, StopReason] = {
    "max_output_tokens": "length",
    "content_filter": "filter",
    "max_messages": "other",
    "steered": "pause",
}
INCOMPLETE_OUT: dict[StopReason, str] = {"length": "max_output_tokens", "filter": "content_filter"}
# statuses other than completed, incomplete and failed
STATUS_IN: dict[str, StopReason] = {"in_progress": "pause", "queued": "pause"}

# Values of `response.error.code` that clients check; for others, the code follows the status.
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
    """The id of an item that has none. Its prefix marks it as generated: the API does not know it."""
    return f"{PREFIXES[kind]}_{_MADE}{response_id.removeprefix('resp_')[:_STEM]}_{index}"


def item_state(item: Body, known: frozenset[str]) -> Body:
    """An item's other keys. An id that `make_id` generated is dropped."""
    fields = unknown_keys(item, known)
    if "id" in fields and (not isinstance(fields["id"], str) or fields["id"].partition("_")[2].startswith(_MADE)):
        del fields["id"]
    if fields.get("status") in ("completed", "in_progress"):
        del fields["status"]
    return fields


def read_usage(obj: Body) -> Usage:
    entered, left = obj.get("input_tokens_details"), obj.get("output_tokens_details")
    entered = entered if isinstance(entered, dict) else {}
    left = left if isinstance(left, dict) else {}
    return Usage(
        token_count(obj.get("input_tokens")),
        token_count(obj.get("output_tokens")),
        token_count(entered.get("cached_tokens")),
        token_count(entered.get("cache_write_tokens")),
        token_count(left.get("reasoning_tokens")),
    )


def write_usage(usage: Usage) -> Body:
    """Every count is required here: an unknown one is 0."""
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
