"""One call's arguments, as they pass."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cutting import SIZES, cut
from toolglot.core.events import Delta
from toolglot.core.fold import fold
from toolglot.core.messages import ToolCall
from toolglot.core.order import first_breach
from toolglot.core.reply import Reply
from toolglot.errors import UpstreamError
from toolglot.reading.blocks import Blocks
from toolglot.reading.open_call import OpenCall

# the arguments as sent -> the calls' arguments, whether each is whole, the decisions' codes
CASES: dict[str, tuple[str, list[tuple[str, bool]], list[str]]] = {
    "an object": ('{"x":1}', [('{"x":1}', True)], []),
    "white space around": (' \n{"x":1}\n ', [('{"x":1}', True)], []),
    "braces in strings": ('{"x":"}{\\"}"}', [('{"x":"}{\\"}"}', True)], []),
    "nothing": ("", [("{}", True)], []),
    "white space": (" \n", [("{}", True)], []),
    "null": ("null", [("{}", True)], []),
    "a string of an object": ('"{\\"x\\":1}"', [('{"x":1}', True)], ["unwrapped_string"]),
    "a string of no object": ('"hello"', [('"hello"', True)], []),
    "a string cut short": ('"{\\"x', [('"{\\"x', False)], []),
    "a list": ("[1]", [("[1]", True)], []),
    "no JSON": ("x=1", [("x=1", True)], []),
    "cut short": ('{"x":', [('{"x":', False)], []),
    "another object": ('{"x":1}{"x":2}', [('{"x":1}', True), ('{"x":2}', True)], ["split_arguments"]),
    "two others": (
        '{"x":1} {"x":2}\n{"x":3}',
        [('{"x":1}', True), ('{"x":2}', True), ('{"x":3}', True)],
        ["split_arguments"] * 2,
    ),
    "the same again": ('{"x":1}{"x":1}', [('{"x":1}', True)], ["merged_repeat"]),
    "the same, spaced otherwise": ('{"x":1}{ "x": 1 }', [('{"x":1}', True)], ["merged_repeat"]),
    "true is not one": ('{"x":1}{"x":true}', [('{"x":1}', True), ('{"x":true}', True)], ["split_arguments"]),
    "something behind": ('{"x":1} and so on', [('{"x":1}and so on', True)], []),
    "half an object behind": ('{"x":1}{"x":', [('{"x":1}{"x":', True)], []),
    "doubled braces": ('{{"x":1}}', [('{{"x":1}}', True)], []),
}


def read(text: str, size: int | None, final: str | None = None) -> Reply:
    blocks = Blocks()
    call = OpenCall(blocks, "f", "id")
    for piece in cut(text, size):
        call.feed(piece)
    call.close(final)
    blocks.finish("calls")
    events = blocks.drain()
    assert first_breach(events) is None
    return fold(events)


def seen(reply: Reply) -> list[tuple[str, bool]]:
    return [(part.arguments_json, part.sealed) for part in reply.parts if isinstance(part, ToolCall)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CASES)
def test_arguments(name: str, size: int | None) -> None:
    text, calls, codes = CASES[name]
    reply = read(text, size)
    assert seen(reply) == calls
    assert sorted(decision.code for decision in reply.decisions) == codes


def test_further_calls_have_ids_of_their_own() -> None:
    ids = [call.id for call in read('{"x":1}{"x":2}{"x":3}', None).calls]
    assert ids == ["id", "f_1", "f_2"]


def test_an_object_streams_and_the_rest_is_held() -> None:
    blocks = Blocks()
    call = OpenCall(blocks, "f", "id")
    blocks.drain()
    steps: list[tuple[str, list[Delta], bool, bool]] = [
        (" ", [], False, False),
        ('{"x', [Delta(0, '{"x')], True, False),
        ('":1}{', [Delta(0, '":1}')], True, True),
        ("}", [], True, True),
    ]
    for piece, out, begun, whole in steps:
        call.feed(piece)
        assert (blocks.drain(), call.begun, call.whole) == (out, begun, whole)


@pytest.mark.parametrize(
    ("streamed", "final", "arguments"),
    [("", '{"x":1}', '{"x":1}'), ('{"x":1}', '{"x":2}', '{"x":1}'), ("", "", "{}"), ("", None, "{}")],
)
def test_the_last_word_counts_where_nothing_streamed(streamed: str, final: str | None, arguments: str) -> None:
    assert seen(read(streamed, None, final)) == [(arguments, True)]


@pytest.mark.parametrize("text", ['{"x":', '{"x":1}', '{"x":1}{"y"', '"{\\"x', "nul", "", '{"x":1} more'])
def test_a_broken_stream_keeps_every_character(text: str) -> None:
    for size in SIZES:
        blocks = Blocks()
        call = OpenCall(blocks, "f", "id")
        call.state({"w": {"s": 1}})
        for piece in cut(text, size):
            call.feed(piece)
        blocks.fault(UpstreamError("gone"))
        call.close()  # too late: nothing more is said
        events = blocks.drain()
        assert first_breach(events) is None
        assert fold(events).parts == (ToolCall("id", "f", text, sealed=False, extra={"w": {"s": 1}}),)


def test_state_is_told_at_the_end() -> None:
    blocks = Blocks()
    call = OpenCall(blocks, "f", "id", namespace="n", custom=True, extra={"w": {"a": 1}})
    call.state({"w": {"b": 2}})
    call.close()
    call.close()
    blocks.finish("calls")
    extra: dict[str, dict[str, Any]] = {"w": {"a": 1, "b": 2}}
    assert fold(blocks.drain()).parts == (ToolCall("id", "f", "{}", "n", custom=True, extra=extra),)


def test_a_flood_of_objects_is_linear_work() -> None:
    reply = read("{}" * 20_000, None)
    assert len(reply.calls) == 1
    assert len(reply.decisions) == 19_999
