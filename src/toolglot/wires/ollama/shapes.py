"""Ollama's native chat API: its words, as tables."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from toolglot.core.reply import Reason, Stop, Usage

Body = dict[str, Any]

WIRE = "ollama"

# Inside `options`: key -> field. Whatever else stands there (num_ctx, min_p, ...) is Ollama's own.
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

# `think`: any other word is refused by the server.
THINK_OUT: dict[str, bool | str] = {
    "off": False,
    "minimal": "low",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "max",
    "max": "max",
}

REASON_IN: dict[str, Reason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "calls",  # only copies of this API have a word for it
    "load": "other",
    "unload": "other",
    "error": "error",
    "": "error",  # the model's runner went away
}
REASON_OUT: dict[Reason, str] = {
    "stop": "stop",
    "calls": "stop",
    "length": "length",
    "stop_sequence": "stop",
    "filter": "stop",
    "pause": "stop",
    "error": "error",
    "other": "stop",
}
_UNSAID = frozenset({"filter", "pause"})

# Nanoseconds. The server leaves out those that are 0, yet some clients insist on them.
DURATIONS = ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration")
COUNTS = {"prompt_eval_count": "input", "eval_count": "output"}
_LATEST = 253_402_300_799  # the last second of the year 9999


def write_reason(stop: Stop | None, notes: list[str]) -> str:
    if stop is None:
        return "stop"
    if stop.reason == "other" and stop.raw in REASON_IN:  # load, unload
        return stop.raw
    word = REASON_OUT[stop.reason]
    if stop.reason in _UNSAID:
        notes.append(f"stop reason {stop.reason}: ollama has no word for it; it says {word}")
    return word


def write_usage(usage: Usage, notes: list[str]) -> Body:
    """The two counts there are; one that is not known is left out, not 0."""
    lost = [field for field in ("cache_read", "cache_write", "reasoning") if getattr(usage, field) is not None]
    if lost:
        notes.append(f"usage {', '.join(lost)}: ollama counts input and output only; left out")
    counts = ((key, getattr(usage, field)) for key, field in COUNTS.items())
    return {key: value for key, value in counts if value is not None}


def read_time(value: object) -> int | None:
    """RFC 3339, with any fraction, in seconds. Go's zero time and the epoch mean that none was told."""
    if isinstance(value, str):
        try:
            then = datetime.fromisoformat(value)
            value = (then if then.tzinfo else then.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= _LATEST:
        return None
    return int(value)


def write_time(seconds: int | None) -> str:
    known = seconds if seconds is not None and 0 <= seconds <= _LATEST else 0
    return datetime.fromtimestamp(known, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
