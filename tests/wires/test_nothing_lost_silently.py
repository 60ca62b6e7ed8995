"""What an API has and another has not arrives all the same, or is a note."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolglot import convert, fold, read_stream
from toolglot.core.reply import Reply

ASK = [{"role": "user", "content": "x"}]


def converted(body: dict[str, Any], source: str, target: str, kind: str = "request") -> tuple[Any, str]:
    notes: list[str] = []
    return convert(body, source, target, kind=kind, notes=notes), "; ".join(notes)


def responses(*events: tuple[str, dict[str, Any]]) -> Reply:
    head = {"response": {"id": "r", "model": "m", "status": "in_progress", "output": []}}
    end = {"response": {"id": "r", "model": "m", "status": "completed", "output": []}}
    every = [("response.created", head), *events, ("response.completed", end)]
    data = "".join(f"event: {kind}\ndata: {json.dumps({'type': kind, **body})}\n\n" for kind, body in every)
    return fold(list(read_stream([data], "openai-responses")))


def test_the_second_choice() -> None:
    _, notes = converted({"model": "m", "n": 2, "messages": ASK}, "openai-chat", "anthropic")
    assert "n exists only on openai-chat" in notes
    choices = [{"index": at, "message": {"content": "a"}, "finish_reason": "stop"} for at in (0, 1)]
    _, notes = converted({"choices": choices}, "openai-chat", "anthropic", "response")
    assert "several choices" in notes


def test_reasoning_beside_its_details() -> None:
    details = [{"type": "reasoning.encrypted", "data": "zz"}]
    turn = {"role": "assistant", "content": "y", "reasoning_content": "why", "reasoning_details": details}
    body = {"model": "m", "messages": [*ASK, turn]}
    kept, _ = converted(body, "openai-chat", "vllm")
    assert kept["messages"][1]["reasoning"] == "why"
    _, notes = converted(body, "openai-chat", "openai-chat")
    assert "reasoning in the history" in notes
    same = {**turn, "reasoning_details": [{"type": "reasoning.text", "text": "why"}]}
    assert converted({"model": "m", "messages": [*ASK, same]}, "openai-chat", "openai-chat")[1] == ""


@pytest.mark.parametrize(("level", "effort"), [("XHIGH", "xhigh"), ("HIGH", "high"), ("new_level", "new_level")])
def test_a_thinking_level(level: str, effort: str) -> None:
    config = {"thinkingConfig": {"thinkingLevel": level}}
    body = {"model": "m", "contents": [{"role": "user", "parts": [{"text": "x"}]}], "generationConfig": config}
    assert converted(body, "gemini", "openai-chat")[0]["reasoning_effort"] == effort
    again, notes = converted(body, "gemini", "gemini")
    assert again.get("generationConfig") == body["generationConfig"] or "no such level" in notes


@pytest.mark.parametrize(
    ("reason", "chat"),
    [
        ("LANGUAGE", "content_filter"),
        ("MODEL_ARMOR", "content_filter"),
        ("ESCALATION", "content_filter"),
        ("MISSING_THOUGHT_SIGNATURE", "error"),
        ("NO_IMAGE", "error"),
    ],
)
def test_every_finish_reason_of_gemini(reason: str, chat: str) -> None:
    body = {"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": reason}]}
    same, _ = converted(body, "gemini", "gemini", "response")
    assert same["candidates"][0]["finishReason"] == reason
    other, _ = converted(body, "gemini", "openai-chat", "response")
    assert other["choices"][0]["finish_reason"] != "stop" or chat == "error"


def test_interleaved_calls_leave_in_the_order_of_their_opening() -> None:
    def item(at: int, **more: str) -> dict[str, Any]:
        call = {"type": "function_call", "id": f"f{at}", "call_id": f"c{at}", "name": f"t{at}", "arguments": "", **more}
        return {"output_index": at, "item": call}

    events = [("response.output_item.added", item(at)) for at in (0, 1, 2)]
    for at in (2, 1, 0):
        events.append(("response.function_call_arguments.delta", {"output_index": at, "item_id": f"f{at}", "delta": "{}"}))
        events.append(("response.output_item.done", item(at, arguments="{}")))
    assert [call.name for call in responses(*events).calls] == ["t0", "t1", "t2"]
