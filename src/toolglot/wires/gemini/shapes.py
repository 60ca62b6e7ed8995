"""Google Gemini's generateContent: its words, as tables."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from toolglot.core.reply import Reason, Usage

Body = dict[str, Any]

WIRE = "gemini"
SIGNATURE = "thoughtSignature"
# Documented for calls that no Gemini model made: without some signature, Gemini 3 refuses them in the current turn.
UNSIGNED = "skip_thought_signature_validator"

# key of generationConfig -> field
OPTIONS = {
    "maxOutputTokens": "max_tokens",
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "stopSequences": "stop",
    "seed": "seed",
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
}
OPTION_KEYS = {field: key for key, field in OPTIONS.items()}

LEVEL_IN = {"MINIMAL": "minimal", "LOW": "low", "MEDIUM": "medium", "HIGH": "high"}
LEVEL_OUT = {**{effort: level for level, effort in LEVEL_IN.items()}, "xhigh": "HIGH", "max": "HIGH"}

REASON_IN: dict[str, Reason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "filter",
    "RECITATION": "filter",
    "BLOCKLIST": "filter",
    "PROHIBITED_CONTENT": "filter",
    "SPII": "filter",
    "IMAGE_SAFETY": "filter",
    "IMAGE_PROHIBITED_CONTENT": "filter",
    "IMAGE_RECITATION": "filter",
    "CONTINUATION": "pause",
    "MALFORMED_FUNCTION_CALL": "error",
    "UNEXPECTED_TOOL_CALL": "error",
    "TOO_MANY_TOOL_CALLS": "error",
    "MALFORMED_RESPONSE": "error",
    "OTHER": "error",
}
REASON_OUT: dict[Reason, str] = {
    "stop": "STOP",
    "calls": "STOP",
    "length": "MAX_TOKENS",
    "stop_sequence": "STOP",
    "filter": "SAFETY",
    "pause": "CONTINUATION",
    "error": "OTHER",
    "other": "OTHER",
}

ERROR_WORDS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    408: "DEADLINE_EXCEEDED",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
    529: "UNAVAILABLE",
}
OTHER_ERROR_WORDS = frozenset({"FAILED_PRECONDITION", "OUT_OF_RANGE", "ALREADY_EXISTS", "DATA_LOSS", "UNKNOWN"})


def camel(held: Body) -> Body:
    """The same object with the API's own keys in camelCase; never to be used on arguments, schemas or results."""
    for key in held:
        if "_" in key:
            return {_camel(key): value for key, value in held.items()}
    return held


@lru_cache(maxsize=1024)
def _camel(key: str) -> str:
    head, *words = key.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in words) if head else key


def rest_of(held: Body, known: frozenset[str]) -> Body:
    """What is left beside the known keys; null counts as absent."""
    if held.keys() <= known:
        return {}
    return {key: value for key, value in held.items() if key not in known and value is not None}


def read_time(value: object) -> int | None:
    """`createTime` in seconds since 1970."""
    try:
        return int(datetime.fromisoformat(value).timestamp()) if isinstance(value, str) else None
    except (ValueError, OverflowError):
        return None


def write_time(seconds: int) -> str | None:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return None


# -- usage: cached tokens are within the prompt's; thoughts are beside the candidates', and so are a server tool's prompts


def read_usage(held: Body) -> Usage:
    prompt, tools = count(held.get("promptTokenCount")), count(held.get("toolUsePromptTokenCount"))
    said, thoughts = count(held.get("candidatesTokenCount")), count(held.get("thoughtsTokenCount"))
    more = rest_of(held, _COUNTED)
    return Usage(
        _sum(prompt, tools),
        _sum(said, thoughts),
        count(held.get("cachedContentTokenCount")),
        reasoning=thoughts,
        extra={WIRE: more} if more else {},
    )


_COUNTED = frozenset(
    {"promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount", "totalTokenCount"}
)


def write_usage(usage: Usage) -> Body:
    own = usage.extra.get(WIRE, {})
    held: Body = {}
    if usage.input is not None:
        held["promptTokenCount"] = max(0, usage.input - (count(own.get("toolUsePromptTokenCount")) or 0))
    if usage.output is not None:
        held["candidatesTokenCount"] = max(0, usage.output - (usage.reasoning or 0))
    if usage.reasoning is not None:
        held["thoughtsTokenCount"] = usage.reasoning
    if usage.cache_read is not None:
        held["cachedContentTokenCount"] = usage.cache_read
    held["totalTokenCount"] = (usage.input or 0) + (usage.output or 0)
    held.update(own)
    return held


def count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None and second is None else (first or 0) + (second or 0)
