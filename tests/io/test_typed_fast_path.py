"""Common messages, read by types: the same result and the same errors as when read from dicts."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from tests.laws.conversations import CASES, body, the_wire
from toolglot import CallerError
from toolglot.core.messages import Message
from toolglot.io.typed_fast_path import TypedMessages
from toolglot.wires.anthropic import typed_messages as anthropic
from toolglot.wires.openai_chat import typed_messages as chat

WIRES = ("openai-chat", "anthropic")

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
USE = {"type": "tool_use", "id": "u1", "name": "f", "input": {"a": [1.0]}}
RESULT = {"type": "tool_result", "tool_use_id": "u1", "content": [{"type": "text", "text": "x"}], "is_error": True}
PLAIN: dict[str, list[Any]] = {
    "openai-chat": [
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": ""}], "name": "ann"},
        {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "c2"}], "refusal": None},
        {"role": "tool", "tool_call_id": "c2", "content": "two"},
        {"role": "tool", "tool_call_id": "c1", "content": "", "name": "f"},
        {"role": "assistant", "content": "done"},
        {"role": "assistant", "tool_calls": [{"function": {"name": "g", "arguments": ""}, "index": 0}]},
        {"role": "tool", "content": "it"},
    ],
    "anthropic": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "text", "text": ""}, USE]},
        {"role": "user", "content": [RESULT]},
        {"role": "assistant", "content": [{"type": "text", "text": "and"}]},
        {"role": "assistant", "content": "again"},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "u9"}, {"type": "text", "text": "thanks"}]},
    ],
}
ODD: list[Any] = [
    None,
    "",
    "x",
    7,
    True,
    [],
    {},
    ["x"],
    [{}],
    {"type": "text"},
    [{"type": "text", "text": "t", "more": 1}],
    "\x00ü",
]


def both(wire: str, messages: Any) -> None:
    """By types and by dicts: the same messages, or the same error."""
    here = the_wire(wire)
    assert here.read_history is not None
    assert _outcome(here.read_history, msgspec.json.encode(messages)) == _outcome(here.read_messages, messages)


def _outcome(read: Callable[[Any], tuple[Message, ...]], given: Any) -> tuple[Message, ...] | str:
    try:
        return read(given)
    except CallerError as error:
        return str(error)


@pytest.mark.parametrize("wire", WIRES)
def test_every_fixture(wire: str) -> None:
    for case in CASES:
        both(wire, body(case, wire, "request")["messages"])


@pytest.mark.parametrize("wire", WIRES)
def test_a_typed_history_with_an_odd_value_in_every_place(wire: str) -> None:
    both(wire, PLAIN[wire])
    for changed in _changed(PLAIN[wire]):
        both(wire, changed)


@pytest.mark.parametrize(("wire", "shapes"), [("openai-chat", chat.SHAPES), ("anthropic", anthropic.SHAPES)])
def test_a_common_history_is_read_by_types_only(wire: str, shapes: Any) -> None:
    general: list[Any] = []
    typed = TypedMessages(shapes, general.append)
    assert len(typed(msgspec.json.encode(PLAIN[wire])) or ()) == len(PLAIN[wire])
    assert general == []
    typed(msgspec.json.encode([*PLAIN[wire], {"role": "user", "content": "hi", "more": 1}]))
    assert len(general) == 1


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("given", [None, 3, {}, "x", [], [3], [None], [[]]])
def test_values_that_are_not_a_list_of_messages(wire: str, given: Any) -> None:
    both(wire, given)


def _changed(history: list[Any]) -> Iterator[list[Any]]:
    """Each value replaced by each odd one, each key left out, and one added to each object."""
    for path in _places(history):
        for odd in (*ODD, _LEFT_OUT):
            history_copy: Any = copy.deepcopy(history)
            inner = history_copy
            for step in path[:-1]:
                inner = inner[step]
            if odd is _LEFT_OUT:
                inner.pop(path[-1], None) if isinstance(inner, dict) else inner.pop(path[-1])
            else:
                inner[path[-1]] = odd
            yield history_copy


_LEFT_OUT = object()


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(value, dict):
        yield (*path, "new")
        for key, item in value.items():
            yield from _places(item, (*path, key))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _places(item, (*path, at))
