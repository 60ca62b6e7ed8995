"""LiteLLM's transformations, as its proxy uses them: between OpenAI Chat and the others. It does not read calls out of text."""

from __future__ import annotations

import asyncio
import datetime
import json
import os
from collections.abc import AsyncIterator
from importlib.metadata import version
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # nothing is fetched

import httpx
import litellm
from litellm.google_genai.adapters.transformation import GoogleGenAIAdapter
from litellm.litellm_core_utils.litellm_logging import Logging
from litellm.litellm_core_utils.streaming_handler import CustomStreamWrapper
from litellm.llms.anthropic.chat.handler import ModelResponseIterator as AnthropicIterator
from litellm.llms.anthropic.pass_through.adapters.streaming_iterator import AnthropicStreamWrapper
from litellm.llms.anthropic.pass_through.adapters.transformation import LiteLLMAnthropicMessagesAdapter
from litellm.llms.gemini.chat.transformation import GoogleAIStudioGeminiConfig
from litellm.llms.vertex_ai.gemini.transformation import transform_request_body
from litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini import ModelResponseIterator as GeminiIterator
from litellm.responses.litellm_completion_transformation.transformation import LiteLLMCompletionResponsesConfig
from litellm.types.utils import ModelResponse
from litellm.utils import get_optional_params
from loop import Body, UnsupportedError, serve
from openai.types.chat import ChatCompletionChunk

litellm.disable_streaming_logging = True
litellm.drop_params = True  # as a proxy between vendors is set up
_CLAUDE, _GEMINI, _GPT = "claude-sonnet-4-5", "gemini-2.5-flash", "gpt-4o"


# -- requests


def chat_to_anthropic(body: Body) -> Body:
    messages, options = _options(body, _CLAUDE, "anthropic")
    return dict(litellm.AnthropicConfig().transform_request(_CLAUDE, messages, options, {}, {}))


def chat_to_gemini(body: Body) -> Body:
    messages, options = _options(body, _GEMINI, "gemini")
    return dict(transform_request_body(messages, _GEMINI, options, "gemini", {}, None))


def _options(body: Body, model: str, provider: str) -> tuple[list[Any], Body]:
    body.pop("model")
    messages = body.pop("messages")
    return messages, get_optional_params(model=model, custom_llm_provider=provider, messages=messages, **body)


def anthropic_to_chat(body: Body) -> Body:
    return dict(LiteLLMAnthropicMessagesAdapter().translate_anthropic_to_openai(body)[0])


def gemini_to_chat(body: Body) -> Body:
    contents, config = body.pop("contents"), body.pop("generationConfig", None)
    return dict(GoogleGenAIAdapter().translate_generate_content_to_completion(_GPT, contents, config, **body))


def responses_to_chat(body: Body) -> Body:
    model, items = body.pop("model"), body.pop("input")
    config = LiteLLMCompletionResponsesConfig
    return dict(config.transform_responses_api_request_to_chat_completion_request(model, items, body, "openai"))


# -- responses


def anthropic_response_to_chat(body: Body) -> Body:
    found = litellm.AnthropicConfig().transform_parsed_response(body, httpx.Response(200), ModelResponse())
    return dict(json.loads(found.model_dump_json()))


def gemini_response_to_chat(body: Body) -> Body:
    turn = GoogleAIStudioGeminiConfig()._transform_google_generate_content_to_openai_model_response
    found = turn(body, ModelResponse(), _GEMINI, _logging(_GEMINI), httpx.Response(200))
    return dict(json.loads(found.model_dump_json()))


def chat_response_to_anthropic(body: Body) -> Body:
    found = LiteLLMAnthropicMessagesAdapter().translate_openai_response_to_anthropic(ModelResponse(**body), {})
    return dict(json.loads(json.dumps(found, default=_plain)))


def chat_response_to_gemini(body: Body) -> Body:
    return dict(GoogleGenAIAdapter().translate_completion_to_generate_content(ModelResponse(**body)))


def chat_response_to_responses(body: Body) -> Body:
    config = LiteLLMCompletionResponsesConfig
    found = config.transform_chat_completion_response_to_responses_api_response("Go on.", {}, ModelResponse(**body))
    return dict(json.loads(found.model_dump_json()))


def _plain(value: Any) -> Any:
    return value.model_dump() if hasattr(value, "model_dump") else dict(value)


# -- streams


def _logging(model: str) -> Logging:
    log = Logging(
        model=model,
        messages=[{"role": "user", "content": "?"}],
        stream=True,
        call_type="acompletion",
        start_time=datetime.datetime.now(datetime.UTC),
        litellm_call_id="conformance",
        function_id="conformance",
    )
    log.model_call_details["litellm_params"] = {}
    log.optional_params = {}
    return log


async def _lines(text: str) -> AsyncIterator[str]:
    """As httpx's aiter_lines gives them."""
    for line in text.splitlines():
        if line:
            yield line


def _wrapped(stream: Any, model: str, provider: str, log: Logging) -> CustomStreamWrapper:
    return CustomStreamWrapper(stream, model, log, provider, {"include_usage": True})


async def _frames(chunks: CustomStreamWrapper) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        yield f"data: {chunk.model_dump_json(exclude_none=True, exclude_unset=True)}\n\n".encode()


def anthropic_stream_to_chat(text: str) -> AsyncIterator[bytes]:
    chunks = AnthropicIterator(streaming_response=_lines(text), sync_stream=False).__aiter__()
    return _frames(_wrapped(chunks, _CLAUDE, "anthropic", _logging(_CLAUDE)))


def gemini_stream_to_chat(text: str) -> AsyncIterator[bytes]:
    log = _logging(_GEMINI)
    chunks = GeminiIterator(streaming_response=_lines(text), sync_stream=False, logging_obj=log).__aiter__()
    return _frames(_wrapped(chunks, _GEMINI, "gemini", log))


async def _sdk_chunks(text: str) -> AsyncIterator[ChatCompletionChunk]:
    """What OpenAI's SDK, which LiteLLM reads such streams with, makes of each frame."""
    for line in text.split("\n"):
        if line.startswith("data: {"):
            yield ChatCompletionChunk.construct(**json.loads(line[6:]))


def chat_stream_to_anthropic(text: str) -> AsyncIterator[bytes]:
    chunks = _wrapped(_sdk_chunks(text), _GPT, "openai", _logging(_GPT))
    found: AsyncIterator[bytes] = AnthropicStreamWrapper(completion_stream=chunks, model=_GPT).async_anthropic_sse_wrapper()
    return found


async def _joined(frames: AsyncIterator[bytes]) -> str:
    return b"".join([frame async for frame in frames]).decode()


WAYS: dict[tuple[str, str, str], Any] = {
    ("request", "openai-chat", "anthropic"): chat_to_anthropic,
    ("request", "openai-chat", "gemini"): chat_to_gemini,
    ("request", "anthropic", "openai-chat"): anthropic_to_chat,
    ("request", "gemini", "openai-chat"): gemini_to_chat,
    ("request", "openai-responses", "openai-chat"): responses_to_chat,
    ("response", "anthropic", "openai-chat"): anthropic_response_to_chat,
    ("response", "gemini", "openai-chat"): gemini_response_to_chat,
    ("response", "openai-chat", "anthropic"): chat_response_to_anthropic,
    ("response", "openai-chat", "gemini"): chat_response_to_gemini,
    ("response", "openai-chat", "openai-responses"): chat_response_to_responses,
    ("stream", "anthropic", "openai-chat"): anthropic_stream_to_chat,
    ("stream", "gemini", "openai-chat"): gemini_stream_to_chat,
    ("stream", "openai-chat", "anthropic"): chat_stream_to_anthropic,
}
_LOOP = asyncio.new_event_loop()


def convert(given: Body) -> Body:
    way = WAYS.get((given["kind"], given["source"], given["target"]))
    if way is None or given.get("cut"):
        raise UnsupportedError
    found = way(given["body"])
    return {"body": _LOOP.run_until_complete(_joined(found)) if given["kind"] == "stream" else found}


def about(_: Body) -> Body:
    return {"name": "LiteLLM", "version": version("litellm")}


serve({"about": about, "convert": convert})
