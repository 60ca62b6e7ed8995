"""The arguments of one call, as they stream."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cutting import SIZES, cut
from toolglot.core.event_order import first_order_error
from toolglot.core.events import Delta
from toolglot.core.fold import fold
from toolglot.core.messages import ToolCall
from toolglot.core.reply import Reply
from toolglot.errors import UpstreamError
from toolglot.io.block_builder import BlockBuilder
from toolglot.io.streamed_call import StreamedCall

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
    "the same again": ('{"x":1}{"x":1}', [('{"x":1}', True)], ["duplicate_call"]),
    "the same, spaced otherwise": ('{"x":1}{ "x": 1 }', [('{"x":1}', True)], ["duplicate_call"]),
    "true is not one": ('{"x":1}{"x":true}', [('{"x":1}', True), ('{"x":true}', True)], ["split_arguments"]),
    "something behind": ('{"x":1} and so on', [('{"x":1}and so on', True)], []),
    "half an object behind": ('{"x":1}{"x":', [('{"x":1}{"x":', True)], []),
    "doubled braces": ('{{"x":1}}', [('{{"x":1}}', True)], []),
}


def read(text: str, size: int | None, final: str | None = None) -> Reply:
    blocks = BlockBuilder()
    call = StreamedCall(blocks, "f", "id")
    for piece in cut(text, size):
        call.feed(piece)
    call.close(final)
    blocks.finish("calls")
    events = blocks.take_events()
    assert first_order_error(events) is None
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


def test_further_calls_get_new_ids() -> None:
    ids = [call.id for call in read('{"x":1}{"x":2}{"x":3}', None).calls]
    assert ids == ["id", "f_1", "f_2"]


def test_an_object_streams_and_anything_else_is_buffered() -> None:
    blocks = BlockBuilder()
    call = StreamedCall(blocks, "f", "id")
    blocks.take_events()
    steps: list[tuple[str, list[Delta], bool, bool]] = [
        (" ", [], False, False),
        ('{"x', [Delta(0, '{"x')], True, False),
        ('":1}{', [Delta(0, '":1}')], True, True),
        ("}", [], True, True),
    ]
    for piece, out, begun, whole in steps:
        call.feed(piece)
        assert (blocks.take_events(), call.begun, call.whole) == (out, begun, whole)


@pytest.mark.parametrize(
    ("streamed", "final", "arguments"),
    [("", '{"x":1}', '{"x":1}'), ('{"x":1}', '{"x":2}', '{"x":1}'), ("", "", "{}"), ("", None, "{}")],
)
def test_final_arguments_are_used_if_none_streamed(streamed: str, final: str | None, arguments: str) -> None:
    assert seen(read(streamed, None, final)) == [(arguments, True)]


@pytest.mark.parametrize("text", ['{"x":', '{"x":1}', '{"x":1}{"y"', '"{\\"x', "nul", "", '{"x":1} more'])
def test_a_broken_stream_keeps_every_character(text: str) -> None:
    for size in SIZES:
        blocks = BlockBuilder()
        call = StreamedCall(blocks, "f", "id")
        call.add_extra({"w": {"s": 1}})
        for piece in cut(text, size):
            call.feed(piece)
        blocks.fail(UpstreamError("gone"))
        call.close()  # too late: nothing more is emitted
        events = blocks.take_events()
        assert first_order_error(events) is None
        assert fold(events).parts == (ToolCall("id", "f", text, sealed=False, extra={"w": {"s": 1}}),)


def test_extra_is_emitted_at_the_end() -> None:
    blocks = BlockBuilder()
    call = StreamedCall(blocks, "f", "id", namespace="n", custom=True, extra={"w": {"a": 1}})
    call.add_extra({"w": {"b": 2}})
    call.close()
    call.close()
    blocks.finish("calls")
    extra: dict[str, dict[str, Any]] = {"w": {"a": 1, "b": 2}}
    assert fold(blocks.take_events()).parts == (ToolCall("id", "f", "{}", "n", custom=True, extra=extra),)


def test_a_flood_of_objects_is_linear_work() -> None:
    reply = read("{}" * 20_000, None)
    assert len(reply.calls) == 1
    assert len(reply.decisions) == 19_999
