"""Tool calls that bend OpenAI Chat's rules, and what they mean all the same."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.wires.chat_pieces import PARTIAL, chunk, read, stream
from toolglot.core.messages import Text, ToolCall
from toolglot.wires.openai_chat import WIRE


class Vector(msgspec.Struct):
    name: str
    deltas: list[str]
    calls: list[tuple[str, str, str]]
    finish: str = "tool_calls"
    finish_is_null: bool = False
    reason: str = "calls"
    codes: list[str] = []
    cut: list[tuple[str, str, str]] = []

    @property
    def word(self) -> str | None:
        return None if self.finish_is_null else self.finish


TABLE = tomllib.loads(Path(__file__).with_name("openai_chat_vectors.toml").read_text(encoding="utf-8"))
VECTORS = {vector.name: vector for vector in msgspec.convert(TABLE["vector"], list[Vector])}


@pytest.mark.parametrize("name", VECTORS)
def test_vectors(name: str) -> None:
    vector = VECTORS[name]
    chunks = [chunk({"tool_calls": json.loads(delta)}) for delta in vector.deltas]
    reply = read(stream(*chunks, chunk({}, finish_reason=vector.word)))
    cut_short = [part for part in reply.parts if isinstance(part, ToolCall) and not part.sealed]
    assert [(call.id, call.name, call.arguments_json) for call in reply.calls] == vector.calls
    assert [(call.id, call.name, call.arguments_json) for call in cut_short] == vector.cut
    assert reply.stop is not None
    assert reply.stop.reason == vector.reason
    assert [decision.code for decision in reply.decisions] == vector.codes


@pytest.mark.parametrize("name", [name for name, vector in VECTORS.items() if len(vector.deltas) == 1])
def test_whole_replies_bend_the_rules_alike(name: str) -> None:
    vector = VECTORS[name]
    message = {"role": "assistant", "content": None, "tool_calls": json.loads(vector.deltas[0])}
    reply = WIRE.read_reply({"choices": [{"message": message, "finish_reason": vector.word}]}, None)
    assert [(call.id, call.name, call.arguments_json) for call in reply.calls] == vector.calls
    assert reply.stop is not None
    assert reply.stop.reason == vector.reason


def test_vector_13_leaves_a_note() -> None:
    assert read(stream(chunk({"tool_calls": []}, finish_reason="tool_calls"))).notes


def test_vector_14_a_broken_stream_keeps_what_came() -> None:
    reply = read(stream(*PARTIAL, done=False))
    assert reply.error is not None
    assert reply.error.code == "stream_truncated"
    assert reply.error.retryable
    assert reply.parts == (Text("Let me"), ToolCall("a", "f", '{"x":', sealed=False))


SIGNATURE: dict[str, Any] = {"extra_content": {"google": {"thought_signature": "s"}}}


def gemini_call(id: str, index: int = 0, **more: Any) -> dict[str, Any]:
    return {"index": index, "id": id, "function": {"name": "f", "arguments": "{}"}, **more}


LATE = {
    "with the call": [[gemini_call("a", **SIGNATURE)]],
    "behind it": [[gemini_call("a")], [{"index": 0, **SIGNATURE}]],
    "behind the next": [[gemini_call("a"), gemini_call("b", 1)], [{"index": 0, **SIGNATURE}]],
    "by id": [[gemini_call("a")], [gemini_call("b")], [{"id": "a", **SIGNATURE}]],
}


@pytest.mark.parametrize("name", LATE)
def test_vector_15_state_belongs_to_its_call(name: str) -> None:
    reply = read(stream(*(chunk({"tool_calls": calls}) for calls in LATE[name]), chunk({}, finish_reason="stop")))
    first = reply.calls[0]
    assert (first.id, first.extra) == ("a", {"openai-chat": SIGNATURE})
    assert all(call.extra == {} for call in reply.calls[1:])


def test_state_behind_the_finish_reason() -> None:
    late = chunk({"tool_calls": [{"index": 0, **SIGNATURE}]})
    reply = read(stream(chunk({"tool_calls": [gemini_call("a")]}), chunk({}, finish_reason="stop"), late))
    assert reply.calls[0].extra == {"openai-chat": SIGNATURE}


def test_what_comes_for_a_closed_call_is_told() -> None:
    head = {"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}
    tail = [{"index": 0, "function": {"arguments": "{}"}}]
    chunks = [chunk({"tool_calls": calls}) for calls in ([head], tail, [gemini_call("b", 1)], tail)]
    reply = read(stream(*chunks, chunk({}, finish_reason="tool_calls")))
    assert [call.arguments_json for call in reply.calls] == ["{}", "{}"]
    assert "left out: {}" in reply.notes[0]


LEGACY = [chunk({"function_call": {"name": "f", "arguments": ""}}), chunk({"function_call": {"arguments": '{"x":1}'}})]


def test_the_function_call_of_old() -> None:
    reply = read(stream(*LEGACY, chunk({}, finish_reason="function_call")))
    assert [(call.id, call.name, call.arguments_json) for call in reply.calls] == [("f_0", "f", '{"x":1}')]
    whole = {
        "message": {"content": None, "function_call": {"name": "f", "arguments": '{"x":1}'}},
        "finish_reason": "function_call",
    }
    assert WIRE.read_reply({"choices": [whole]}, None).calls == reply.calls


def test_both_forms_at_once_are_one_call() -> None:
    delta = {"tool_calls": [gemini_call("a")], "function_call": {"name": "f", "arguments": "{}"}}
    assert [call.id for call in read(stream(chunk(delta, finish_reason="tool_calls"))).calls] == ["a"]


def test_custom_calls_come_in_pieces() -> None:
    head = {"index": 0, "id": "a", "type": "custom", "custom": {"name": "sql", "input": ""}}
    pieces = ['select "x', '\\y"', " \u20ac"]
    chunks = [chunk({"tool_calls": [{"index": 0, "custom": {"input": piece}}]}) for piece in pieces]
    reply = read(stream(chunk({"tool_calls": [head]}), *chunks, chunk({}, finish_reason="tool_calls")))
    assert reply.calls == [ToolCall("a", "sql", reply.calls[0].arguments_json, custom=True)]
    assert reply.calls[0].arguments == {"input": "".join(pieces)}
    cut_short = read(stream(chunk({"tool_calls": [head]}), *chunks, chunk({}, finish_reason="length")))
    assert cut_short.calls == []
    assert len(cut_short.parts) == 1
