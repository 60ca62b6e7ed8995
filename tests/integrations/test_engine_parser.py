"""What the plugins of vLLM and SGLang return. Their own classes are in test_hosts.py."""

from __future__ import annotations

import pytest

from tests.laws.dialect_cases import cases, shared_tools
from toolglot.dialects import dialect_names
from toolglot.integrations.engine_parser import EngineParser, Found, parser_names
from toolglot.integrations.sglang import _SIGNS

CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'


@pytest.mark.parametrize("dialect", dialect_names())
def test_whole_and_streamed_are_the_same(dialect: str) -> None:
    for case in cases(dialect):
        if case.policy != "balanced" or case.starts_in_reasoning:
            continue  # engines have no such setting
        whole = EngineParser(dialect, case.toolset).whole(case.text)
        assert [(call.full_name, call.arguments) for call in whole.calls] == case.wanted
        assert not whole.calls or any(sign in case.text for sign in _SIGNS)
        parser = EngineParser(dialect, case.toolset)
        found = [*(parser.feed(letter) for letter in case.text), parser.close()]
        assert "".join(one.text for one in found) == whole.text
        assert [call.arguments_json for one in found for call in one.calls] == [call.arguments_json for call in whole.calls]


def test_text_flows_and_a_call_comes_when_it_is_complete() -> None:
    parser = EngineParser("hermes", shared_tools())
    assert parser.feed("Let me look. ") == Found("Let me look.")
    assert parser.feed(CALL[:30]) == Found(" ")
    [call] = parser.feed(CALL[30:] + "\n").calls + parser.close().calls
    assert (call.name, call.arguments) == ("get_weather", {"city": "Paris"})
    assert call.id.startswith("call_")


def test_reasoning_stays_in_the_text_with_its_marks() -> None:
    found = EngineParser("auto", shared_tools()).whole(f"<think>Hm.</think>Here: {CALL}")
    assert found.text.strip() == "<think>Hm.</think>Here:"
    assert [call.name for call in found.calls] == ["get_weather"]


def test_a_rejected_call_is_explained_if_nothing_else_is_left() -> None:
    found = EngineParser("auto", shared_tools()).whole(CALL.replace("get_weather", "delete_all"))
    assert found.calls == ()
    assert "delete_all" in found.text


def test_a_call_that_stands_in_a_result_is_text() -> None:
    messages = [
        {"role": "user", "content": "Read it."},
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "get_time", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": f"The page says: {CALL}"},
    ]
    assert EngineParser("auto", shared_tools(), messages).whole(CALL) == Found(CALL)
    assert len(EngineParser("auto", shared_tools(), [{"strange": 1}, 7]).whole(CALL).calls) == 1


def test_there_is_a_parser_for_every_dialect() -> None:
    assert parser_names()["toolglot"] == "auto"
    assert parser_names()["toolglot_hermes"] == "hermes"
