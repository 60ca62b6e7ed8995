"""The options of a request, as types: an editor completes them, and a type checker finds a misspelt one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from toolglot.core.tools import Choice

ToolChoice = str | Mapping[str, Any] | Choice | None  # auto, none, required, a tool's name, or any API's own form
ResponseSchema = dict[str, Any] | bool | None  # a JSON Schema, or True for JSON mode without one


class ModelOptions(TypedDict, total=False):
    """Named as in OpenAI's Chat API, and translated for other APIs. `extra_body` has fields that are not listed here."""

    temperature: float | None
    top_p: float | None
    top_k: int | None
    max_tokens: int | None
    max_completion_tokens: int | None
    stop: str | Sequence[str] | None
    seed: int | None
    presence_penalty: float | None
    frequency_penalty: float | None
    logit_bias: Mapping[str, float] | None
    logprobs: bool | None
    top_logprobs: int | None
    reasoning_effort: str | None
    verbosity: str | None
    parallel_tool_calls: bool | None
    response_format: Mapping[str, Any] | None
    service_tier: str | None
    prompt_cache_key: str | None
    safety_identifier: str | None
    metadata: Mapping[str, str] | None
    store: bool | None
    user: str | None
    extra_body: Mapping[str, Any] | None


class RequestOptions(ModelOptions, total=False):
    """With what every API has in a form of its own."""

    tool_choice: ToolChoice
    response_schema: ResponseSchema


class RunOptions(RequestOptions, total=False):
    """With how toolglot asks: see `prepare`."""

    ask: str
    nonce: str | None
    larger_context: bool


class SendOptions(RunOptions, total=False):
    """With the API that is used, and how often a rejected call goes back to the model."""

    wire: str | None
    call_retries: int | None
