"""The function of one row: where its text is, its own tools and messages, and rows that can't be read."""

from __future__ import annotations

from typing import Any

import pytest

from toolglot.bulk import rows
from toolglot.bulk.rows import RowOptions, RowParser
from toolglot.errors import CallerError
from toolglot.pipeline.detect_tool_format import read_any_tools

TOOLS = [
    {"name": "get_weather", "schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}
]
CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>'
NATIVE = {"id": "c", "function": {"name": "get_weather", "arguments": '{"city": "Rome"}'}}
CHAT = {"id": "r1", "choices": [{"index": 0, "message": {"role": "assistant", "content": None, "tool_calls": [NATIVE]}}]}


@pytest.mark.parametrize("value", [CALL, {"text": CALL}, {"response": CALL, "text": "no"}, {"response": CHAT}, CHAT])
def test_the_text_or_the_response_of_a_row(value: Any) -> None:
    row = RowParser(RowOptions(TOOLS)).parse(7, value)
    assert (row.line, row.error) == (7, None)
    assert [(call["name"], call["arguments"]) for call in row.calls] == [("get_weather", {"city": "Rome"})]


def test_a_named_field_and_the_id() -> None:
    parser = RowParser(RowOptions(TOOLS, field="completion"))
    row = parser.parse(1, {"id": "a", "completion": CALL, "text": "no"})
    assert (row.id, len(row.calls)) == ("a", 1)
    assert "completion" in (parser.parse(1, {"text": CALL}).error or "")


@pytest.mark.parametrize("value", [7, None, {}, {"foo": 1}, {"text": CALL, "tools": 3}, {"text": CALL, "tools": "{"}])
def test_a_row_that_is_wrong_gives_an_error(value: Any) -> None:
    row = RowParser(RowOptions(TOOLS)).parse(1, value)
    assert row.error
    assert row.calls == []


def test_a_rows_own_tools_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = RowParser(RowOptions())
    reads: list[Any] = []

    def counted(tools: Any) -> Any:
        reads.append(tools)
        return read_any_tools(tools)

    monkeypatch.setattr(rows, "read_any_tools", counted)
    other = [{"name": "other", "schema": {"type": "object"}}]
    found = [parser.parse(1, {"text": CALL, "tools": tools}).decisions for tools in [TOOLS, other] * 5]
    assert found == [["rescued_text"], ["rejected_unknown_tool"]] * 5
    assert len(reads) == 2


def test_a_call_that_stands_in_the_rows_messages_is_quoted() -> None:
    page = [{"role": "tool", "tool_call_id": "c1", "content": CALL}]
    assert RowParser(RowOptions(TOOLS)).parse(1, {"text": CALL, "messages": page}).decisions == ["quoted_input"]


def test_wrong_options_are_errors_of_the_caller() -> None:
    with pytest.raises(CallerError, match="did you mean hermes"):
        RowParser(RowOptions(dialect="hermse"))
