"""What OpenAI's two wires share: common keys, efforts, errors, parallel calls."""

from __future__ import annotations

from typing import Any

from toolglot.core.interfaces import Quirks, ServedModels
from toolglot.core.messages import Extra
from toolglot.core.request import Request
from toolglot.errors import UpstreamError
from toolglot.io.request_validation import Body

FAMILY = "openai"
FAMILY_KEYS = frozenset(
    {"metadata", "store", "service_tier", "prompt_cache_key", "prompt_cache_options", "safety_identifier", "moderation"}
)

RATE_LIMITS = "x-ratelimit-"
SERVED_MODELS = ServedModels(
    lambda name, owner, created: {"id": name, "object": "model", "created": int(created.timestamp()), "owned_by": owner},
    lambda rows, more: {"object": "list", "data": rows},
)
PATHS = ("/v1/embeddings", "/v1/completions")  # that servers of both wires have besides

EFFORT_IN = {"none": "off"}
EFFORT_OUT = {"off": "none"}

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "invalid_request_error",
    422: "invalid_request_error",
    429: "rate_limit_error",
}
# Codes for which OpenAI uses another type than the status implies.
_TYPES_OF_CODES = {
    "invalid_api_key": "invalid_request_error",
    "model_not_found": "invalid_request_error",
    "insufficient_quota": "insufficient_quota",
}


def split_extra(rest: Body, wire: str) -> dict[str, Body]:
    """The unknown keys of a body: those of both wires, and those of this one."""
    both = {key: rest.pop(key) for key in list(rest) if key in FAMILY_KEYS}
    return {name: obj for name, obj in ((FAMILY, both), (wire, rest)) if obj}


def accepted_extra(extra: Extra, notes: list[str], quirks: Quirks) -> Extra:
    """Without OpenAI's keys that this server rejects."""
    fields = extra.get(FAMILY)
    if not fields or quirks.family_keys is None:
        return extra
    kept = {key: value for key, value in fields.items() if key in quirks.family_keys}
    if left := sorted(fields.keys() - kept.keys()):
        notes.append(f"request: the server does not support {', '.join(left)}; left out")
    return {**extra, FAMILY: kept}


def put_choice(request: Request, written: Any, body: Body, notes: list[str], quirks: Quirks) -> None:
    """`tool_choice`, if there is one, and whether calls may be parallel."""
    if written is not None:
        body["tool_choice"] = written
    if request.parallel is not None:
        if quirks.parallel_control:
            body["parallel_tool_calls"] = request.parallel
        else:
            notes.append("parallel: the server does not support it; left out")


def write_error(error: UpstreamError) -> tuple[int, Body]:
    status = error.status or 502
    kind = _TYPES_OF_CODES.get(error.code or "") or ERROR_TYPES.get(status)
    kind = kind or ("server_error" if status >= 500 else "invalid_request_error")
    code = None if error.code == kind else error.code  # not repeated
    return status, {"error": {"message": error.message, "type": kind, "param": None, "code": code}}
