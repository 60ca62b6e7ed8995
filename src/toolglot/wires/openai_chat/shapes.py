"""OpenAI Chat Completions: keys and values as tables."""

from __future__ import annotations

from typing import Any

from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra
from toolglot.core.reply import Stop, StopReason, Usage
from toolglot.io.cache_marks import as_breakpoint
from toolglot.io.reply_values import token_count
from toolglot.io.request_validation import wire_extra
from toolglot.wires.openai_common import FAMILY

WIRE = "openai-chat"

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

REASON_IN: dict[str, StopReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "calls",
    "function_call": "calls",
    "content_filter": "filter",
    "error": "error",
    # values of other APIs, which proxies pass on
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop_sequence",
    "tool_use": "calls",
    "tool_call": "calls",
    "max_tokens": "length",
    "model_length": "length",
    "safety": "filter",
    "refusal": "filter",
}
REASON_OUT: dict[StopReason, str] = {
    "stop": "stop",
    "calls": "tool_calls",
    "length": "length",
    "stop_sequence": "stop",
    "filter": "content_filter",
    "pause": "stop",
    "error": "error",
    "other": "stop",
}


def finish_reason(stop: Stop | None, *, refused: bool, uses_functions: bool = False) -> str:
    """OpenAI's finish_reason. A refusal in the `refusal` field ends with `stop`."""
    reason: StopReason = stop.reason if stop else "other"
    if uses_functions and reason == "calls":
        return "function_call"
    return "stop" if refused and reason == "filter" else REASON_OUT[reason]


_TOTALS = frozenset({"prompt_tokens", "completion_tokens", "total_tokens"})
_DETAILS = {
    "prompt_tokens_details": frozenset({"cached_tokens", "cache_write_tokens"}),
    "completion_tokens_details": frozenset({"reasoning_tokens"}),
}


def chat_extra(extra: Extra, where: str, notes: list[str], quirks: Quirks) -> dict[str, Any]:
    """The fields of `extra` for this wire, and Anthropic's cache_control if the server accepts it."""
    extra = as_breakpoint(extra, WIRE, quirks)
    cache = extra.get("anthropic", {}).get("cache_control") if quirks.cache_control else None
    if cache is None:
        return wire_extra(extra, WIRE, where, notes, FAMILY)
    rest = {key: value for key, value in extra["anthropic"].items() if key != "cache_control"}
    return {"cache_control": cache, **wire_extra({**extra, "anthropic": rest}, WIRE, where, notes, FAMILY)}


def read_usage(obj: dict[str, Any]) -> Usage:
    if obj.keys() <= _TOTALS:  # nothing but totals
        return Usage(token_count(obj.get("prompt_tokens")), token_count(obj.get("completion_tokens")))
    prompt, completion = ((found if isinstance(found := obj.get(key), dict) else {}) for key in _DETAILS)
    entered, left = token_count(obj.get("prompt_tokens")), token_count(obj.get("completion_tokens"))
    reasoning = token_count(completion.get("reasoning_tokens"))
    if reasoning and obj.get("total_tokens") == (entered or 0) + (left or 0) + reasoning:
        left = (left or 0) + reasoning  # as xAI counts: beside the completion, not in it
    cached, written = token_count(prompt.get("cached_tokens")), token_count(prompt.get("cache_write_tokens"))
    return Usage(entered, left, cached, written, reasoning, _more_usage(obj))


def _more_usage(obj: dict[str, Any]) -> Extra:
    """Other counts of a provider: audio, predictions, the price."""
    more: dict[str, Any] = {}
    for key, value in obj.items():
        known = _DETAILS.get(key)
        if known is not None and isinstance(value, dict):
            value = {name: number for name, number in value.items() if name not in known and number is not None}
        if key not in _TOTALS and value not in (None, {}):
            more[key] = value
    return {WIRE: more} if more else {}


def write_usage(usage: Usage) -> dict[str, Any]:
    entered, left = usage.input or 0, usage.output or 0
    obj: dict[str, Any] = {"prompt_tokens": entered, "completion_tokens": left, "total_tokens": entered + left}
    if usage.cache_read is not None or usage.cache_write is not None:
        obj["prompt_tokens_details"] = _without_none(cached_tokens=usage.cache_read, cache_write_tokens=usage.cache_write)
    if usage.reasoning is not None:
        obj["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning}
    if not usage.extra:
        return obj
    for key, value in usage.extra.get(WIRE, {}).items():
        obj[key] = {**obj.get(key, {}), **value} if key in _DETAILS and isinstance(value, dict) else value
    return obj


def _without_none(**counts: int | None) -> dict[str, int]:
    return {key: value for key, value in counts.items() if value is not None}
