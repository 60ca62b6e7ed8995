"""Gemini's wire: arguments in pieces, as Vertex streams them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.wires.gemini_pieces import Body, chunk, stream_of
from toolglot.core.event_order import first_order_error
from toolglot.core.fold import fold
from toolglot.core.messages import ToolCall
from toolglot.core.reply import Stop


def call_part(**function: Any) -> Body:
    return chunk({"functionCall": function})


def test_arguments_in_pieces_are_put_together() -> None:
    events = stream_of(
        call_part(name="write", id="w", willContinue=True),
        call_part(partialArgs=[{"jsonPath": "$.path", "stringValue": "a.t", "willContinue": True}], willContinue=True),
        call_part(partialArgs=[{"jsonPath": "$.path", "stringValue": "xt"}], willContinue=True),
        call_part(
            partialArgs=[
                {"jsonPath": "$.lines[0].n", "numberValue": 1},
                {"jsonPath": "$.lines[0]['b c']", "boolValue": False},
                {"jsonPath": "$.lines[1]", "nullValue": None},
                {"jsonPath": '$["x.y"]', "nullValue": "NULL_VALUE"},
            ],
            willContinue=True,
        ),
        call_part(),
        call_part(name="g", partialArgs=[{"jsonPath": "$.a", "stringValue": "1"}]),
        chunk(finishReason="STOP"),
    )
    assert first_order_error(events) is None
    reply = fold(events)
    assert [(call.id, call.arguments) for call in reply.calls] == [
        ("w", {"path": "a.txt", "lines": [{"n": 1, "b c": False}, None], "x.y": None}),
        ("g_1", {"a": "1"}),
    ]
    assert reply.stop == Stop("calls", "STOP")


@pytest.mark.parametrize(
    ("end", "reason"),
    [(chunk(finishReason="MAX_TOKENS"), "length"), ({"error": {"message": "x"}}, "error"), (None, "error")],
)
def test_a_call_in_pieces_that_is_cut_short_is_not_run(end: Body | None, reason: str) -> None:
    piece = {"jsonPath": "$.path", "stringValue": "/et", "willContinue": True}
    events = stream_of(call_part(name="rm", partialArgs=[piece], willContinue=True), *([end] if end else []))
    assert first_order_error(events) is None
    reply = fold(events)
    assert reply.calls == []
    (part,) = reply.parts
    assert isinstance(part, ToolCall)
    assert (part.sealed, part.arguments) == (False, {"path": "/et"})
    assert reply.stop is not None
    assert reply.stop.reason == reason


def test_a_call_that_would_have_gone_on_is_not_run_though_its_last_value_was_whole() -> None:
    piece = {"jsonPath": "$.path", "stringValue": "/etc"}
    reply = fold(stream_of(call_part(name="rm", partialArgs=[piece], willContinue=True), chunk(finishReason="MAX_TOKENS")))
    assert reply.calls == []


def test_paths_that_make_no_sense_do_no_harm() -> None:
    pieces = [
        {"jsonPath": path, "stringValue": "x"} for path in ("", "$", "$.a[99999999999]", "$.a[5]", "$.a.b", "$.a[0].c", "[[[")
    ]
    (call,) = fold(stream_of(call_part(name="f", partialArgs=[*pieces, {"jsonPath": 5}, 5]), chunk(finishReason="STOP"))).calls
    assert "a" in call.arguments
