"""The fixtures are correct: checked with the vendors' SDKs, never with our code, because they test our code.

Requests must fit the SDKs' parameter types and leave the SDKs as the very same JSON; replies must fit the SDKs' response
types; streams go through the SDKs' streaming over a transport that answers with the recorded bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from types import GeneratorType
from typing import Any, get_args, get_type_hints

import msgspec
import ollama
import pytest
from anthropic.types import Message
from anthropic.types import MessageCreateParams as AnthropicParams
from google.genai import types as google
from google.genai._gaos.types.interactions import CreateModelInteractionParam, Interaction
from openai.types.chat import ChatCompletion
from openai.types.chat import CompletionCreateParams as ChatParams
from openai.types.responses import Response, ResponseCreateParams
from pydantic import BaseModel, TypeAdapter
from typing_extensions import is_typeddict

from tests.sdk_views import HEAR, OLDER_KEYS, ROOT, SEEN, Body, Seen, arguments, load, recorded
from toolglot.core.messages import ToolCall
from toolglot.core.reply import Reply
from toolglot.core.request import Request

WIRES = ("openai-chat", "openai-responses", "anthropic", "gemini", "gemini-interactions", "ollama")
CASES = sorted(path.name for path in ROOT.iterdir() if path.is_dir())
PAIRS = [(case, wire) for case in CASES for wire in WIRES]
FILES = {"meaning.json"} | {f"{wire}.{kind}" for wire in WIRES for kind in ("request.json", "reply.json", "stream")}
WHOLE_CALLS = ("gemini", "gemini-interactions", "ollama")  # a call cut short is not in a reply there
WANTED = {
    "plain_text",
    "one_call",
    "parallel_calls",
    "text_and_call",
    "reasoning_and_call",
    "multi_turn",
    "error_result",
    "image_in_result",
    "empty_arguments",
    "large_unicode_arguments",
    "forced_choice",
    "forbidden_choice",
    "structured_output",
    "truncated_by_length",
    "truncated_call",
    "refused",
    "options",
    "signed_anthropic",
    "signed_responses",
    "signed_gemini",
    "signed_openrouter",
    "custom_tool",
    "namespaced_tool",
    "server_tool_anthropic",
    "server_tool_responses",
    "server_tool_gemini",
    "server_tool_interactions",
    "signed_interactions",
    "several_results_parts",
}


class Meaning(msgspec.Struct, forbid_unknown_fields=True):
    request: Request
    reply: Reply


@cache
def meaning(case: str) -> Meaning:
    return msgspec.json.decode((ROOT / case / "meaning.json").read_bytes(), type=Meaning)


# -- the files, and the meaning


def test_all_cases_exist() -> None:
    assert set(CASES) >= WANTED


@pytest.mark.parametrize("case", CASES)
def test_a_case_is_complete(case: str) -> None:
    assert {path.name for path in (ROOT / case).iterdir()} == FILES


@pytest.mark.parametrize("case", CASES)
def test_a_meaning_decodes_without_redundancy(case: str) -> None:
    decoded = meaning(case)
    assert json.loads(msgspec.json.encode(decoded)) == load(case, "meaning.json")
    assert decoded.reply.stop is not None
    assert decoded.reply.stop.raw is None
    assert decoded.request.stream == decoded.request.stream_usage


# -- requests


def forbid_more(kind: Any, seen: set[Any]) -> None:
    """TypedDicts accept unknown keys silently: forbid them, in `kind` and all its parts."""
    if is_typeddict(kind) and kind not in seen:
        seen.add(kind)
        kind.__pydantic_config__ = {"extra": "forbid", "arbitrary_types_allowed": True}
        for inner in get_type_hints(kind, include_extras=True).values():
            forbid_more(inner, seen)
    for inner in get_args(kind):
        forbid_more(inner, seen)


@cache
def strictly(kind: Any) -> TypeAdapter[Any]:
    forbid_more(kind, set())
    return TypeAdapter(kind)


def drained(value: Any) -> None:
    """Pydantic checks an Iterable only as it is walked."""
    if isinstance(value, dict):
        for inner in value.values():
            drained(inner)
    elif isinstance(value, list | GeneratorType) or type(value).__name__ == "ValidatorIterator":
        for inner in value:
            drained(inner)


def check_chat_request(body: Body) -> None:
    for message in body["messages"]:
        message.pop("reasoning_details", None)  # OpenRouter's, which OpenAI's types don't know
    drained(strictly(ChatParams).validate_python(body))


def check_responses_request(body: Body) -> None:
    for item in body["input"]:
        if item.get("role") == "assistant":  # the API takes these without, the types do not
            item.update(id="msg_0", status="completed")
    drained(strictly(ResponseCreateParams).validate_python(body))


def check_anthropic_request(body: Body) -> None:
    for key in OLDER_KEYS:
        body.pop(key, None)
    drained(strictly(AnthropicParams).validate_python(body))


def check_gemini_request(body: Body) -> None:
    assert body.pop("model") == "test-model"
    assert body.pop("stream", True) is True
    kinds: dict[str, Any] = {
        "contents": list[google.Content],
        "systemInstruction": google.Content,
        "tools": list[google.Tool],
        "toolConfig": google.ToolConfig,
        "generationConfig": google.GenerateContentConfig,
    }
    for key, value in body.items():
        TypeAdapter(kinds[key]).validate_json(json.dumps(value))


def check_interactions_request(body: Body) -> None:
    drained(strictly(CreateModelInteractionParam).validate_python(body))


def check_ollama_request(body: Body) -> None:
    """Its types silently drop unknown keys: compare the keys with the server's, and the rest with the types."""
    known = {"model", "messages", "stream", "tools", "options", "think", "format"}
    assert body.keys() <= known
    assert isinstance(body["stream"], bool)
    allowed = {"role", "content", "thinking", "images", "tool_calls", "tool_name", "tool_call_id"}
    for message in body["messages"]:
        assert message.keys() <= allowed
        assert isinstance(message["content"], str)
        images = [ollama.Image(value=image) for image in message.get("images", ())]
        ollama.Message.model_validate({**message, "images": images})
    assert body.get("options", {}).keys() <= ollama.Options.model_fields.keys()
    ollama._types.ChatRequest.model_validate(body)


REQUEST_CHECKS: dict[str, Callable[[Body], None]] = {
    "openai-chat": check_chat_request,
    "openai-responses": check_responses_request,
    "anthropic": check_anthropic_request,
    "gemini": check_gemini_request,
    "gemini-interactions": check_interactions_request,
    "ollama": check_ollama_request,
}


@pytest.mark.parametrize(("case", "wire"), PAIRS)
def test_a_request_fits_the_sdk(case: str, wire: str) -> None:
    REQUEST_CHECKS[wire](load(case, f"{wire}.request.json"))


# -- replies and streams


REPLY_TYPES: dict[str, type[BaseModel]] = {
    "openai-chat": ChatCompletion,
    "openai-responses": Response,
    "anthropic": Message,
    "gemini": google.GenerateContentResponse,
    "gemini-interactions": Interaction,
    "ollama": ollama.ChatResponse,
}
# Each wire's value for each stop reason. A refusal in words ends as any text does at OpenAI; Ollama has no filter.
STOPS: dict[str, dict[str, set[str]]] = {
    "openai-chat": {
        "stop": {"stop"},
        "calls": {"tool_calls", "stop"},
        "length": {"length"},
        "filter": {"content_filter", "stop"},
    },
    "openai-responses": {
        "stop": {"completed"},
        "calls": {"completed"},
        "length": {"max_output_tokens"},
        "filter": {"content_filter", "completed"},
    },
    "anthropic": {"stop": {"end_turn"}, "calls": {"tool_use"}, "length": {"max_tokens"}, "filter": {"refusal"}},
    "gemini": {"stop": {"STOP"}, "calls": {"STOP"}, "length": {"MAX_TOKENS"}, "filter": {"SAFETY"}},
    "gemini-interactions": {
        "stop": {"completed"},
        "calls": {"requires_action"},
        "length": {"incomplete"},
        "filter": {"incomplete"},
    },
    "ollama": {"stop": {"stop"}, "calls": {"stop"}, "length": {"length"}, "filter": {"stop"}},
}


def whole(case: str, wire: str) -> Seen:
    return SEEN[wire](load(case, f"{wire}.reply.json"))


def meant(case: str, wire: str) -> Seen:
    """The meaning, as far as the wire can express it."""
    reply = meaning(case).reply
    calls = [part for part in reply.parts if isinstance(part, ToolCall) and (part.sealed or wire not in WHOLE_CALLS)]
    # of a cut call, Anthropic's whole reply shows no more than that it was begun
    values = [{} if wire == "anthropic" and not call.sealed else arguments(call.arguments_json) for call in calls]
    named = tuple((call.id, call.full_name, value) for call, value in zip(calls, values, strict=True))
    usage = reply.usage
    assert usage is not None
    details = (0, 0) if wire == "ollama" else (usage.cache_read, usage.reasoning)
    tokens = tuple(count or 0 for count in (usage.input, usage.output, *details))
    return Seen(reply.text, named, reply.reasoning, whole(case, wire).stop, tokens)


@pytest.mark.parametrize(("case", "wire"), PAIRS)
def test_a_reply_fits_the_sdk_and_has_the_expected_content(case: str, wire: str) -> None:
    REPLY_TYPES[wire].model_validate_json((ROOT / case / f"{wire}.reply.json").read_bytes())
    assert whole(case, wire) == meant(case, wire)
    stop = meaning(case).reply.stop
    assert stop is not None
    assert whole(case, wire).stop in STOPS[wire][stop.reason]


@pytest.mark.parametrize(("case", "wire"), PAIRS)
def test_a_stream_gives_its_reply_and_the_request_is_what_the_sdk_sends(case: str, wire: str) -> None:
    body = load(case, f"{wire}.request.json")
    sent, final = HEAR[wire](case, body)
    assert {**sent, "stream": True} == {**body, "stream": True}
    assert SEEN[wire](final) == whole(case, wire)


@pytest.mark.parametrize("case", CASES)
def test_streams_have_the_providers_line_endings(case: str) -> None:
    gemini = recorded(case, "gemini")
    assert gemini.count(b"\r\n") == gemini.count(b"\n")
    assert gemini.endswith(b"\r\n\r\n")
    assert recorded(case, "openai-chat").endswith(b"\n\ndata: [DONE]\n\n")
    assert recorded(case, "gemini-interactions").endswith(b"\n\nevent: done\ndata: [DONE]\n\n")
    assert not any(b"\r" in recorded(case, wire) for wire in WIRES if wire != "gemini")


@pytest.mark.parametrize(
    ("wire", "key"), [("openai-responses", "type"), ("anthropic", "type"), ("gemini-interactions", "event_type")]
)
@pytest.mark.parametrize("case", CASES)
def test_events_are_named_as_their_data(case: str, wire: str, key: str) -> None:
    blocks = recorded(case, wire).removesuffix(b"\n\nevent: done\ndata: [DONE]\n\n").removesuffix(b"\n\n").split(b"\n\n")
    for block in blocks:
        event, data = block.split(b"\n")
        assert event == b"event: " + json.loads(data.removeprefix(b"data: "))[key].encode()
