"""What steps ask about all messages is gathered once, and is the same for a plain tuple."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from toolglot.core import conversation
from toolglot.core.conversation import Conversation, contents
from toolglot.core.messages import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult

CALL, RESULT = ToolCall("c1", "look", '{"a": 1}'), ToolResult("c1", "look", (Text("seen"), Media("image"), Opaque("w", {})))
ASKED = Message("user", (Text("hi"), Media("image")))
TURN = (Message("assistant", (Reasoning("hm"), CALL)), Message("tool", (RESULT,)))


def test_parts_are_found_by_kind_also_inside_results() -> None:
    found = contents((ASKED, *TURN))
    assert sorted(found.texts) == sorted(["hi", "hm", "look", '{"a": 1}', "seen"])
    assert found.characters == sum(map(len, found.texts))
    assert (found.calls, found.results) == ([CALL], [RESULT])
    assert (len(found.media), len(found.blocks)) == (2, 1)


@pytest.mark.parametrize(
    ("messages", "is_paired", "is_named"),
    [
        ((), True, True),
        ((ASKED, *TURN, ASKED), True, True),
        ((ASKED, TURN[0]), True, True),  # the result may still follow
        ((TURN[0], ASKED), False, False),
        ((TURN[1],), False, False),
        ((Message("assistant", (CALL, ToolCall("c2", "look"))), TURN[1]), False, True),
        ((TURN[0], Message("tool", (ToolResult("c1"),))), True, False),
    ],
)
def test_pairing(messages: tuple[Message, ...], is_paired: bool, is_named: bool) -> None:
    found = contents(messages)
    assert (found.is_paired, found.is_named) == (is_paired, is_named)


def test_a_conversation_is_walked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    walk = Mock(wraps=conversation._gathered)
    monkeypatch.setattr(conversation, "_gathered", walk)
    messages = Conversation((ASKED, *TURN))
    assert contents(messages) is contents(messages)
    assert walk.call_count == 1
