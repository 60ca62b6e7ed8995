"""LiteLLM over the same bytes. Runs in a separate environment and prints its timings as JSON.

The transformation functions alone: no router, no logging, no cost tracking, no HTTP, and of a stream nothing behind its
last chunk. JSON is coded as its proxy does: orjson reads what a client sent, `json` writes what a provider gets.
"""

from __future__ import annotations

import asyncio
import datetime
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from importlib.metadata import version
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # no fetching in the background

import httpx
import litellm
import orjson
from litellm.google_genai.adapters.transformation import GoogleGenAIAdapter
from litellm.litellm_core_utils.litellm_logging import Logging
from litellm.litellm_core_utils.streaming_handler import CustomStreamWrapper
from litellm.llms.anthropic.chat.handler import ModelResponseIterator as AnthropicIterator
from litellm.llms.gemini.chat.transformation import GoogleAIStudioGeminiConfig
from litellm.llms.vertex_ai.gemini.transformation import transform_request_body
from litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini import ModelResponseIterator as GeminiIterator
from litellm.types.utils import ModelResponse
from litellm.utils import get_optional_params
from openai.types.chat import ChatCompletionChunk

import essence
import payloads
from payloads import ANTHROPIC_MODEL, GEMINI_MODEL
from toolglot.speed import as_chat
from toolglot.speed.as_chat import CHAT_MODEL
from toolglot.speed.conversation import REPLY_CALLS, REPLY_TEXT, TOOLS
from toolglot.speed.timing import CALIBRATION, Case, measure

try:  # it moved, once out of its experiments
    from litellm.llms.anthropic.pass_through.adapters.streaming_iterator import AnthropicStreamWrapper
    from litellm.llms.anthropic.pass_through.adapters.transformation import LiteLLMAnthropicMessagesAdapter
except ImportError:
    from litellm.llms.anthropic.experimental_pass_through.adapters.streaming_iterator import AnthropicStreamWrapper
    from litellm.llms.anthropic.experimental_pass_through.adapters.transformation import LiteLLMAnthropicMessagesAdapter

Body = dict[str, Any]

litellm.disable_streaming_logging = True
_LOOP = asyncio.new_event_loop()


def dumps(value: Any) -> bytes:
    return json.dumps(value).encode()


# -- requests


def chat_to_anthropic(data: bytes, *, whole_path: bool = False) -> bytes:
    body = orjson.loads(data)
    del body["model"]
    messages = body.pop("messages")
    config = litellm.AnthropicConfig()
    if whole_path:
        options = get_optional_params(model=ANTHROPIC_MODEL, custom_llm_provider="anthropic", messages=messages, **body)
    else:
        options = config.map_openai_params(body, {}, ANTHROPIC_MODEL, False)
    return dumps(config.transform_request(ANTHROPIC_MODEL, messages, options, {}, {}))


def chat_to_gemini(data: bytes, *, whole_path: bool = False) -> bytes:
    body = orjson.loads(data)
    del body["model"]
    messages = body.pop("messages")
    if whole_path:
        options = get_optional_params(model=GEMINI_MODEL, custom_llm_provider="gemini", messages=messages, **body)
    else:
        options = GoogleAIStudioGeminiConfig().map_openai_params(body, {}, GEMINI_MODEL, False)
    return dumps(transform_request_body(messages, GEMINI_MODEL, options, "gemini", {}, None))


def anthropic_to_chat(data: bytes) -> bytes:
    return dumps(LiteLLMAnthropicMessagesAdapter().translate_anthropic_to_openai(orjson.loads(data))[0])


def gemini_to_chat(data: bytes) -> bytes:
    body = orjson.loads(data)
    contents, config = body.pop("contents"), body.pop("generationConfig")
    return dumps(GoogleGenAIAdapter().translate_generate_content_to_completion(CHAT_MODEL, contents, config, **body))


# -- whole replies


def anthropic_reply_to_chat(data: bytes, raw: httpx.Response) -> bytes:
    reply = litellm.AnthropicConfig().transform_parsed_response(json.loads(data), raw, ModelResponse())
    return reply.model_dump_json(exclude_none=True).encode()


def gemini_reply_to_chat(data: bytes, raw: httpx.Response, log: Logging) -> bytes:
    turn = GoogleAIStudioGeminiConfig()._transform_google_generate_content_to_openai_model_response
    return turn(json.loads(data), ModelResponse(), GEMINI_MODEL, log, raw).model_dump_json(exclude_none=True).encode()


# -- streams, as the proxy passes them on


def _logging(model: str) -> Logging:
    log = Logging(
        model=model,
        messages=[{"role": "user", "content": "?"}],
        stream=True,
        call_type="acompletion",
        start_time=datetime.datetime.now(datetime.UTC),
        litellm_call_id="bench",
        function_id="bench",
    )
    log.model_call_details["litellm_params"] = {}
    log.optional_params = {}
    return log


async def _lines(pieces: list[bytes]) -> AsyncIterator[str]:
    """As httpx's aiter_lines gives them."""
    for piece in pieces:
        for line in piece.decode().splitlines():
            if line:
                yield line


def _wrapped(stream: Any, model: str, provider: str, log: Logging) -> CustomStreamWrapper:
    return CustomStreamWrapper(stream, model, log, provider, {"include_usage": True})


async def anthropic_stream_to_chat(pieces: list[bytes]) -> AsyncIterator[bytes]:
    chunks = AnthropicIterator(streaming_response=_lines(pieces), sync_stream=False).__aiter__()
    async for chunk in _wrapped(chunks, ANTHROPIC_MODEL, "anthropic", _logging(ANTHROPIC_MODEL)):
        yield _frame(chunk)


async def gemini_stream_to_chat(pieces: list[bytes]) -> AsyncIterator[bytes]:
    log = _logging(GEMINI_MODEL)
    chunks = GeminiIterator(streaming_response=_lines(pieces), sync_stream=False, logging_obj=log).__aiter__()
    async for chunk in _wrapped(chunks, GEMINI_MODEL, "gemini", log):
        yield _frame(chunk)


def _frame(chunk: Any) -> bytes:
    return f"data: {chunk.model_dump_json(exclude_none=True, exclude_unset=True)}\n\n".encode()


async def _sdk_chunks(pieces: list[bytes]) -> AsyncIterator[ChatCompletionChunk]:
    """What OpenAI's SDK, which LiteLLM reads such streams with, makes of each frame."""
    for piece in pieces:
        if not piece.startswith(b"data: [DONE]"):
            yield ChatCompletionChunk.construct(**json.loads(piece[6:]))


def chat_stream_to_anthropic(pieces: list[bytes]) -> AsyncIterator[bytes]:
    chunks = _wrapped(_sdk_chunks(pieces), CHAT_MODEL, "openai", _logging(CHAT_MODEL))
    wrapper: AsyncIterator[bytes] = AnthropicStreamWrapper(
        completion_stream=chunks, model=CHAT_MODEL
    ).async_anthropic_sse_wrapper()
    return wrapper


Stream = Callable[[list[bytes]], AsyncIterator[bytes]]


def _run(stream: Stream, pieces: list[bytes], limit: int | None = None) -> list[bytes]:
    """`limit`: stop at so many frames, before what LiteLLM does at the end of a stream."""

    async def take() -> list[bytes]:
        found: list[bytes] = []
        frames = stream(pieces)
        async for frame in frames:
            found.append(frame)
            if len(found) == limit:
                break
        return found

    return _LOOP.run_until_complete(take())


def _stream_case(name: str, wire: str, stream: Stream, pieces: list[bytes]) -> Case:
    out = _run(stream, pieces)
    content = essence.of_stream(wire, b"".join(out))
    if content["text"] != REPLY_TEXT or len(content["calls"]) != len(REPLY_CALLS):
        raise AssertionError(f"{name}: LiteLLM did not translate the whole stream")
    return Case(name, lambda: _run(stream, pieces, len(out)), len(pieces))


# -- all of it


def _request_case(name: str, run: Callable[[], bytes]) -> Case:
    out = run()
    missing = [tool for tool, _, _ in TOOLS if tool.encode() not in out]
    if missing:
        raise AssertionError(f"{name}: LiteLLM left out {missing}")
    return Case(name, run)


def cases() -> list[Case]:
    chat, anthropic, gemini = as_chat.chat_request(), payloads.anthropic_request(), payloads.gemini_request()
    replies = payloads.anthropic_reply(), payloads.gemini_reply()
    raw, log = httpx.Response(200), _logging(GEMINI_MODEL)
    return [
        _request_case("request openai-chat > anthropic", lambda: chat_to_anthropic(chat)),
        _request_case("request openai-chat > gemini", lambda: chat_to_gemini(chat)),
        _request_case("request anthropic > openai-chat", lambda: anthropic_to_chat(anthropic)),
        _request_case("request gemini > openai-chat", lambda: gemini_to_chat(gemini)),
        Case("reply anthropic > openai-chat", lambda: anthropic_reply_to_chat(replies[0], raw)),
        Case("reply gemini > openai-chat", lambda: gemini_reply_to_chat(replies[1], raw, log)),
        _stream_case("chunk anthropic > openai-chat", "openai-chat", anthropic_stream_to_chat, payloads.anthropic_stream()),
        _stream_case("chunk gemini > openai-chat", "openai-chat", gemini_stream_to_chat, payloads.gemini_stream()),
        _stream_case("chunk openai-chat > anthropic", "anthropic", chat_stream_to_anthropic, as_chat.chat_stream()),
        _request_case(
            "request openai-chat > anthropic, by get_optional_params", lambda: chat_to_anthropic(chat, whole_path=True)
        ),
        _request_case("request openai-chat > gemini, by get_optional_params", lambda: chat_to_gemini(chat, whole_path=True)),
    ]


def main() -> None:
    rounds, seconds = int(sys.argv[1]), float(sys.argv[2])
    timings = measure(cases(), rounds, seconds)
    figures = {name: {"us": timing.us, "loops": timing.loops} for name, timing in timings.items()}
    print(json.dumps({"version": version("litellm"), CALIBRATION: figures.pop(CALIBRATION)["us"], "cases": figures}))


if __name__ == "__main__":
    main()
