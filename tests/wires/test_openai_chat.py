"""OpenAI Chat's requests: every key is read, and written back; what is misshapen is refused with its place."""

from __future__ import annotations

import copy
import json
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra, Media, Message, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult
from toolglot.core.names import sanitize_names
from toolglot.core.request import Output, Request, Thinking
from toolglot.core.tools import Choice, Tool
from toolglot.errors import CallerError
from toolglot.wires.openai_chat import WIRE

Body = dict[str, Any]

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
WEATHER = {
    "type": "function",
    "function": {"name": "get_weather", "description": "Weather", "parameters": SCHEMA, "strict": True},
}
SQL = {
    "type": "custom",
    "custom": {
        "name": "run_sql",
        "description": "SQL",
        "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /.+/"}},
    },
}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA==", "detail": "auto"}}
CALL_A = {"id": "call_a", "type": "function", "function": {"name": "get_weather", "arguments": '{"city":"Paris"}'}}
CALL_B = {"id": "call_b", "type": "custom", "custom": {"name": "run_sql", "input": "select 1"}}
HISTORY = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "hi"}, PICTURE], "name": "ann"},
    {"role": "assistant", "content": None, "tool_calls": [CALL_A, CALL_B]},
    {"role": "tool", "tool_call_id": "call_a", "content": "18C"},
    {"role": "tool", "tool_call_id": "call_b", "content": "1"},
    {"role": "assistant", "content": "It is 18C."},
]
FULL: Body = {
    "model": "gpt",
    "messages": HISTORY,
    "tools": [WEATHER, SQL],
    "tool_choice": "auto",
    "parallel_tool_calls": False,
    "stream": True,
    "stream_options": {"include_usage": True, "include_obfuscation": False},
    "max_completion_tokens": 100,
    "temperature": 0.5,
    "top_p": 0.9,
    "stop": ["a", "b"],
    "seed": 7,
    "presence_penalty": 0.1,
    "frequency_penalty": -0.1,
    "verbosity": "low",
    "user": "ann",
    "reasoning_effort": "high",
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "n", "description": "d", "schema": SCHEMA, "strict": True},
    },
    "metadata": {"a": "b"},
    "store": False,
    "service_tier": "auto",
    "prompt_cache_key": "k",
    "prompt_cache_options": {"mode": "implicit"},
    "safety_identifier": "s",
    "moderation": {},
    "n": 1,
    "logprobs": True,
    "top_logprobs": 2,
    "logit_bias": {"1": 2},
    "modalities": ["text"],
    "prediction": {"type": "content", "content": "x"},
    "web_search_options": {},
    "unheard_of": {"a": [1]},
}


def again(body: Body, quirks: Quirks | None = None) -> tuple[Body, list[str]]:
    """What is written of what was read, and the notes."""
    kept = copy.deepcopy(body)
    request = WIRE.read_request(body)
    assert body == kept, "reading must not change what it reads"
    assert msgspec.convert(msgspec.to_builtins(request), Request) == request, "a request is of its declared types"
    notes: list[str] = []
    return WIRE.write_request(sanitize_names(request, WIRE.names), notes, quirks or Quirks()), notes


def test_every_key_goes_there_and_back() -> None:
    assert again(FULL) == (FULL, [])


TABLE = tomllib.loads(Path(__file__).with_name("openai_chat_requests.toml").read_text(encoding="utf-8"))
SAME, MENDED, BAD = ({row["name"]: row for row in TABLE[kind]} for kind in ("same", "mended", "bad"))


def body_of(text: str) -> Body:
    return {"model": "m", "messages": [], **json.loads(text)}


@pytest.mark.parametrize("name", SAME)
def test_what_comes_back_as_it_was(name: str) -> None:
    body = body_of(SAME[name]["body"])
    assert again(body) == (body, [])


@pytest.mark.parametrize("name", MENDED)
def test_what_comes_back_in_today_s_form(name: str) -> None:
    row = MENDED[name]
    assert again(body_of(row["body"])) == (body_of(row["written"]), [])


def test_what_a_request_means() -> None:
    request = WIRE.read_request(FULL)
    grammar = {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"}
    assert request.tools == (
        Tool("get_weather", "Weather", SCHEMA, True),
        Tool("run_sql", "SQL", kind="custom", format=grammar),
        Tool("web_search_options", kind="server", extra={"openai-chat": {}}),
    )
    detail: Extra = {"openai-chat": {"image_url": {"detail": "auto"}}}
    assert request.messages == (
        Message("developer", (Text("Be brief."),)),
        Message("user", (Text("hi"), Media("image", "image/png", "AA==", extra=detail)), "ann"),
        Message(
            "assistant",
            (
                ToolCall("call_a", "get_weather", '{"city":"Paris"}'),
                ToolCall("call_b", "run_sql", '{"input":"select 1"}', custom=True),
            ),
        ),
        Message("tool", (ToolResult("call_a", "get_weather", (Text("18C"),)), ToolResult("call_b", "run_sql", (Text("1"),)))),
        Message("assistant", (Text("It is 18C."),)),
    )
    assert request.output == Output(SCHEMA, "n", "d", True)
    assert request.thinking == Thinking("high")
    assert (request.stream, request.stream_usage, request.parallel, request.max_tokens) == (True, True, False, 100)
    assert set(request.extra) == {"openai", "openai-chat"}
    assert set(request.extra["openai-chat"]) >= {"n", "logprobs", "unheard_of", "stream_options"}


@pytest.mark.parametrize("name", BAD)
def test_what_is_misshapen_is_refused_with_its_place(name: str) -> None:
    where = BAD[name]["where"]
    with pytest.raises(CallerError) as caught:
        WIRE.read_request(body_of(BAD[name]["body"]))
    assert caught.value.where == where
    assert str(caught.value).startswith(f"{where}: ")


def test_arguments_nested_without_end_are_refused() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(CallerError, match="nested too deeply"):
        WIRE.read_messages([{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": deep}}]}])
    while deep:  # taken apart by hand: Python's own way is recursive
        deep = deep["a"]


SIGNED: Extra = {"anthropic": {"signature": "s"}}
CACHED: Extra = {"anthropic": {"cache_control": {}}}


def turn(role: Role, *parts: Part, extra: Extra | None = None) -> Request:
    return Request("m", (Message(role, parts, extra=extra or {}),))


# what this wire has no place for, and how the notes begin
LOST: dict[str, tuple[Request, list[str]]] = {
    "top_k": (Request("m", top_k=3), ["top_k: openai-chat has no such option; left out"]),
    "a budget": (Request("m", thinking=Thinking(budget=5)), ["thinking budget:"]),
    "shown thoughts": (Request("m", thinking=Thinking("low", show=True)), ["thinking shown:"]),
    "another wire's request keys": (Request("m", extra={"gemini": {"x": []}}), ["request: x exists only on gemini"]),
    "a server tool": (Request("m", tools=(Tool("web", kind="server", extra=SIGNED),)), ["tool web: a server tool"]),
    "a choice without tools": (Request("m", choice=Choice("required")), ["tool_choice, parallel:"]),
    "cache_control on a tool": (Request("m", tools=(Tool("f", extra=CACHED),)), ["tool f: cache_control exists only on"]),
    "cache_control on a part": (turn("user", Text("a", extra=CACHED)), ["text: cache_control exists only on"]),
    "reasoning": (turn("assistant", Reasoning("hm")), ["reasoning in the history:"]),
    "signed reasoning": (
        turn("assistant", Reasoning("hm", SIGNED)),
        ["reasoning in the history:", "reasoning: its signature is for anthropic"],
    ),
    "a signed call": (turn("assistant", ToolCall("a", "f", extra=SIGNED)), ["call a: signature exists only on"]),
    "another wire's block": (turn("user", Opaque("gemini", {"type": "code"})), ["a block that only gemini has (code)"]),
    "sound by address": (turn("user", Media("audio", url="u")), ["audio: openai-chat accepts data"]),
    "an error": (turn("tool", ToolResult("a", "f", is_error=True)), ["result a: openai-chat has no error flag"]),
    "another wire's message keys": (turn("user", Text("a"), extra=SIGNED), ["user message: signature exists only on"]),
    "another wire's result keys": (turn("tool", ToolResult("a", extra=SIGNED)), ["result a: signature exists only on"]),
}


@pytest.mark.parametrize("name", LOST)
def test_what_is_lost_is_noted(name: str) -> None:
    request, expected = LOST[name]
    notes: list[str] = []
    WIRE.write_request(request, notes, Quirks())
    assert len(notes) == len(expected)
    assert all(note.startswith(start) for note, start in zip(notes, expected, strict=True))


def test_pictures_in_results_follow_all_results() -> None:
    def text(words: str) -> Body:
        return {"type": "text", "text": words}

    picture = Media("image", "image/png", "AA==")
    results = (ToolResult("a", "f", (Text("see"), picture)), ToolResult("b", "f", (picture,)))
    notes: list[str] = []
    written = WIRE.write_messages((Message("tool", results), Message("user", (Text("so?"),))), notes, Quirks())
    shown = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    told = [text("(image of the result of a)"), shown, text("(image of the result of b)"), shown]
    assert written == [
        {"role": "tool", "tool_call_id": "a", "content": [text("see"), text("(image follows)")]},
        {"role": "tool", "tool_call_id": "b", "content": "(image follows)"},
        {"role": "user", "content": told},
        {"role": "user", "content": "so?"},
    ]
    assert len(notes) == 2


@pytest.mark.parametrize(
    ("mime", "form"), [("audio/mpeg", "mp3"), ("audio/x-wav", "wav"), (None, "wav"), ("audio/flac", "flac")]
)
def test_sound_goes_under_openai_s_word(mime: str | None, form: str) -> None:
    written = WIRE.write_messages((Message("user", (Media("audio", mime, "AA=="),)),), [], Quirks())
    assert written[0]["content"][0]["input_audio"] == {"data": "AA==", "format": form}


def test_an_error_result_says_so() -> None:
    failed = Message("tool", (ToolResult("a", "f", (Text("no"),), is_error=True),))
    assert WIRE.write_messages((failed,), [], Quirks())[0]["content"] == "Error: no"
