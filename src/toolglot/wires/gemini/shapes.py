"""Google Gemini's generateContent: keys and values as tables."""

from __future__ import annotations

from functools import lru_cache

from toolglot.core.reply import StopReason, Usage
from toolglot.io.reply_values import token_count
from toolglot.io.request_validation import Body, unknown_keys

WIRE = "gemini"
SIGNATURE = "thoughtSignature"
METHODS = ("generateContent", "streamGenerateContent", "countTokens")
# Documented for calls that no Gemini model made: without a signature, Gemini 3 rejects them in the current turn.
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

LEVEL_IN = {"MINIMAL": "minimal", "LOW": "low", "MEDIUM": "medium", "HIGH": "high", "XHIGH": "xhigh"}
LEVEL_OUT = {**{effort: level for level, effort in LEVEL_IN.items()}, "max": "XHIGH"}

REASON_IN: dict[str, StopReason] = {
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
    "LANGUAGE": "filter",
    "MODEL_ARMOR": "filter",
    "ESCALATION": "filter",
    "PUP_LIMITED_DISABLED": "filter",
    "CONTINUATION": "pause",
    "MISSING_THOUGHT_SIGNATURE": "error",
    "NO_IMAGE": "error",
    "IMAGE_OTHER": "error",
    "MALFORMED_FUNCTION_CALL": "error",
    "UNEXPECTED_TOOL_CALL": "error",
    "TOO_MANY_TOOL_CALLS": "error",
    "MALFORMED_RESPONSE": "error",
    "OTHER": "error",
}
REASON_OUT: dict[StopReason, str] = {
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


def camel(obj: Body) -> Body:
    """The same object with its keys in camelCase. Only for the API's keys: never for arguments, schemas or results."""
    for key in obj:
        if "_" in key:
            return {_camel(key): value for key, value in obj.items()}
    return obj


@lru_cache(maxsize=1024)
def _camel(key: str) -> str:
    head, *words = key.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in words) if head else key


# -- usage: the prompt count includes cached tokens; the candidates' excludes thoughts, the prompt's excludes server tools'


def read_usage(obj: Body) -> Usage:
    prompt, tools = token_count(obj.get("promptTokenCount")), token_count(obj.get("toolUsePromptTokenCount"))
    candidates, thoughts = token_count(obj.get("candidatesTokenCount")), token_count(obj.get("thoughtsTokenCount"))
    more = unknown_keys(obj, _COUNTED)
    return Usage(
        _sum(prompt, tools),
        _sum(candidates, thoughts),
        token_count(obj.get("cachedContentTokenCount")),
        reasoning=thoughts,
        extra={WIRE: more} if more else {},
    )


_COUNTED = frozenset(
    {"promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount", "totalTokenCount"}
)


def write_usage(usage: Usage) -> Body:
    fields = usage.extra.get(WIRE, {})
    obj: Body = {}
    if usage.input is not None:
        obj["promptTokenCount"] = max(0, usage.input - (token_count(fields.get("toolUsePromptTokenCount")) or 0))
    if usage.output is not None:
        obj["candidatesTokenCount"] = max(0, usage.output - (usage.reasoning or 0))
    if usage.reasoning is not None:
        obj["thoughtsTokenCount"] = usage.reasoning
    if usage.cache_read is not None:
        obj["cachedContentTokenCount"] = usage.cache_read
    obj["totalTokenCount"] = (usage.input or 0) + (usage.output or 0)
    obj.update(fields)
    return obj


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None and second is None else (first or 0) + (second or 0)
