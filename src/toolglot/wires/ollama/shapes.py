"""Ollama's native chat API: keys and values as tables."""

from __future__ import annotations

from toolglot.core.reply import Stop, StopReason, Usage
from toolglot.io.reply_values import token_count
from toolglot.io.request_validation import Body

WIRE = "ollama"

# Inside `options`: key -> field. Other keys (num_ctx, min_p, ...) exist only on Ollama.
OPTIONS = {
    "num_predict": "max_tokens",
    "temperature": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
    "seed": "seed",
    "stop": "stop",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
}
OPTION_KEYS = {field: key for key, field in OPTIONS.items()}

# `think`: the server rejects any other value.
THINK_OUT: dict[str, bool | str] = {
    "off": False,
    "minimal": "low",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "max",
    "max": "max",
}

REASON_IN: dict[str, StopReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "calls",  # only compatible servers send this
    "load": "other",
    "unload": "other",
    "error": "error",
    "": "error",  # the model runner stopped
}
REASON_OUT: dict[StopReason, str] = {
    "stop": "stop",
    "calls": "stop",
    "length": "length",
    "stop_sequence": "stop",
    "filter": "stop",
    "pause": "stop",
    "error": "error",
    "other": "stop",
}
_NOT_EXPRESSIBLE = frozenset({"filter", "pause"})

# Nanoseconds. The server leaves out zeros, but some clients require the keys.
DURATIONS = ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration")
COUNTS = {"prompt_eval_count": "input", "eval_count": "output"}


def write_reason(stop: Stop | None, notes: list[str]) -> str:
    if stop is None:
        return "stop"
    if stop.reason == "other" and stop.raw in REASON_IN:  # load, unload
        return stop.raw
    word = REASON_OUT[stop.reason]
    if stop.reason in _NOT_EXPRESSIBLE:
        notes.append(f"stop reason {stop.reason}: ollama has no value for it; written as {word}")
    return word


def read_usage(obj: Body) -> Usage:
    return Usage(token_count(obj.get("prompt_eval_count")), token_count(obj.get("eval_count")))


def write_usage(usage: Usage, notes: list[str]) -> Body:
    """The two counts of this API; an unknown one is left out, not written as 0."""
    lost = [field for field in ("cache_read", "cache_write", "reasoning") if getattr(usage, field) is not None]
    if lost:
        notes.append(f"usage {', '.join(lost)}: ollama reports only input and output; left out")
    counts = ((key, getattr(usage, field)) for key, field in COUNTS.items())
    return {key: value for key, value in counts if value is not None}
