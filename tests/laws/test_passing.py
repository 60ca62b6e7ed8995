"""`calls="pass"`: arguments stream before validation. No invalid call is sealed, and all splits agree."""

from __future__ import annotations

import json
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.laws.dialect_cases import ALL, Case, shared_tools
from tests.laws.test_linear_scanning import SIZE, STEADY, clean, pieces
from toolglot import Delta, Extraction, Open, StreamExtractor, extract, fold
from toolglot.core.event_order import first_order_error
from toolglot.core.events import Event
from toolglot.core.messages import ToolCall
from toolglot.dialects import dialect_names, find_dialect
from toolglot.evaluation.counted import lines_run

CUTS = (1, 3, 11)

# They have no marker that shows a call before its end.
WHOLE = {
    "bare_json",
    "call_expression",
    "fenced_json",
    "functionary_v32",
    "name_then_json",
    "pythonic",
    "react",
    "tool_code",
    "xlam",
}


def passed(case: Case, dialect: str, size: int) -> tuple[list[Event], Extraction]:
    extractor = StreamExtractor(
        case.toolset,
        dialect=dialect,
        policy=case.policy,
        calls="pass",
        starts_in_reasoning=case.starts_in_reasoning,
    )
    events = [event for at in range(0, len(case.text), size) for event in extractor.feed(case.text[at : at + size])]
    return events + extractor.close(), extractor.result()


def decoded(found: Extraction) -> list[tuple[str, str, object]]:
    return [(call.id, call.full_name, call.arguments) for call in found.calls]


@for_each(("dialect", "case"), ALL)
def test_every_split_folds_to_the_same(dialect: str, case: Case) -> None:
    _, whole = passed(case, dialect, max(1, len(case.text)))
    for size in CUTS:
        events, result = passed(case, dialect, size)
        assert first_order_error(events) is None
        reply = fold(events)
        assert (reply.calls, reply.text, reply.reasoning) == (result.calls, result.text, result.reasoning)
        assert result == whole


@for_each(("dialect", "case"), ALL)
def test_pass_seals_no_more_calls_than_hold(dialect: str, case: Case) -> None:
    """With hold, calls are repaired; with pass, a call that needs repair is not sealed. So pass gives a subset of hold."""
    held = extract(
        case.text,
        case.toolset,
        dialect=dialect,
        policy=case.policy,
        starts_in_reasoning=case.starts_in_reasoning,
    )
    _, result = passed(case, dialect, 3)
    assert result.text == held.text
    calls = [(name, arguments) for _, name, arguments in decoded(result)]
    wanted = [(name, arguments) for _, name, arguments in decoded(held)]
    assert [call for call in calls if call not in wanted] == []
    if case.kind in {"clean", "parallel"}:
        assert len(calls) == len(wanted) or any(decision.code.startswith("rejected") for decision in result.decisions)


CONTENT = 'def f(x):\n\treturn "<b>" + x["k"]  # \u00fc & {y}\n\nline two\n' * 3


@pytest.mark.parametrize("dialect", sorted(set(dialect_names()) - WHOLE))
@pytest.mark.parametrize("named", [True, False])
def test_arguments_stream_as_they_arrive(dialect: str, named: bool) -> None:
    found = find_dialect(dialect)
    assert found is not None
    arguments = {"path": "a.py", "content": CONTENT}
    text = found.render_calls((ToolCall("c1", "write_file", json.dumps(arguments, ensure_ascii=False)),))
    extractor = StreamExtractor(shared_tools(), dialect=dialect if named else "auto", calls="pass")
    events: list[Event] = []
    early = 0
    for at in range(0, len(text), 4):
        given = extractor.feed(text[at : at + 4])
        early += at + 60 < len(text) and any(isinstance(event, Delta) for event in given)
        events += given
    events += extractor.close()
    opened = [event for event in events if isinstance(event, Open) and event.kind == "call"]
    assert [event.name for event in opened] == ["write_file"]
    assert early > len(CONTENT) / 4 / 2  # most pieces of the text gave a piece of the arguments
    assert [(call.name, call.arguments) for call in extractor.result().calls] == [("write_file", arguments)]


@pytest.mark.parametrize("dialect", dialect_names())
def test_clean_calls_pass_complete_and_in_order(dialect: str) -> None:
    """None of them needs repair, so none is rejected; one without arguments keeps its position."""
    found = find_dialect(dialect)
    assert found is not None
    wanted: list[tuple[str, dict[str, object]]] = [
        ("get_time", {}),
        (
            "search",
            {"query": 'a "b"\n', "limit": 3, "tags": ["x", "y's"], "exact": True, "filters": {"k": [None, {"m": -1.5}]}},
        ),
        ("write_file", {"path": "", "content": CONTENT}),
        ("run.command", {"cmd": "ls \\d+", "env": {"A": "x"}}),
    ]
    text = found.render_calls(tuple(ToolCall(f"c{at}", name, json.dumps(value)) for at, (name, value) in enumerate(wanted)))
    for size in (*CUTS, len(text)):
        extractor = StreamExtractor(shared_tools(), dialect=dialect, calls="pass")
        for at in range(0, len(text), size):
            extractor.feed(text[at : at + size])
        extractor.close()
        assert [(call.name, call.arguments) for call in extractor.result().calls] == wanted


@pytest.mark.parametrize("dialect", sorted(set(dialect_names()) - WHOLE))
def test_streaming_a_call_twice_as_long_is_twice_the_work(dialect: str) -> None:
    def job(text: str) -> None:
        extractor = StreamExtractor(shared_tools(), dialect=dialect, calls="pass")
        for piece in pieces(text, 4):
            extractor.feed(piece)

    lines = [lines_run(partial(job, clean(dialect, SIZE * times))) for times in (1, 2, 4)]
    assert lines[1] <= STEADY * lines[0]
    assert lines[2] <= STEADY * lines[1]


HERMES = '<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


@pytest.mark.parametrize(
    ("text", "code", "stop"),
    [
        (HERMES.format(name="get_weather", arguments='{"city": 1.5, "x": {}}'), "rejected_schema", "stop"),
        (HERMES.format(name="get_weather", arguments='{"city": "Bern", "days": "2"}'), "rejected_schema", "stop"),
        ('<tool_call>\n{"name": "get_weather", "arguments": {"city": "Ber', "rejected_truncated", "length"),
        ('<tool_call>\n{"name": "get_weather", "arguments": {"city": Bern}}</tool_call>', "rejected_arguments", "stop"),
    ],
)
def test_an_invalid_call_is_rejected_at_its_end(text: str, code: str, stop: str) -> None:
    extractor = StreamExtractor(shared_tools(), calls="pass")
    events = [event for at in range(0, len(text), 5) for event in extractor.feed(text[at : at + 5])] + extractor.close()
    reply = fold(events)
    assert any(isinstance(event, Open) and event.name == "get_weather" for event in events)
    assert reply.calls == []
    assert [decision.code for decision in reply.decisions if decision.code.startswith("rejected")] == [code]
    assert reply.stop is not None
    assert reply.stop.reason == stop


def test_a_call_to_an_unknown_tool_is_not_streamed() -> None:
    extractor = StreamExtractor(shared_tools(), calls="pass")
    events = extractor.feed(HERMES.format(name="launch", arguments='{"city": "Bern"}')) + extractor.close()
    assert not any(isinstance(event, Open) and event.kind == "call" for event in events)
    assert [decision.code for decision in extractor.result().decisions] == ["rejected_unknown_tool"]


def test_a_quoted_call_is_not_streamed() -> None:
    text = (
        "You would write it as\n```xml\n"
        + HERMES.format(name="get_weather", arguments='{"city": "Bern"}')
        + "\n```\nin a prompt."
    )
    extractor = StreamExtractor(shared_tools(), calls="pass")
    assert not any(isinstance(event, Open) and event.kind == "call" for event in extractor.feed(text) + extractor.close())
    assert extractor.result().text == text


@settings(max_examples=300)
@given(st.sampled_from(ALL), st.data())
def test_damaged_text_never_raises_and_all_splits_agree(pair: tuple[str, Case], data: st.DataObject) -> None:
    dialect, case = pair
    at = data.draw(st.integers(0, max(0, len(case.text) - 1)))
    put = data.draw(st.sampled_from(["", '"', "}", "{", "<", "\\", "\n", "'", "</", "``", case.text[:9]]))
    text = case.text[:at] + put + case.text[at + data.draw(st.integers(0, 8)) :]
    cuts = sorted({0, len(text), *data.draw(st.lists(st.integers(0, max(0, len(text))), max_size=5))})
    whole = StreamExtractor(case.toolset, dialect=dialect, calls="pass")
    whole.feed(text)
    whole.close()
    extractor = StreamExtractor(case.toolset, dialect=dialect, calls="pass")
    events = [event for a, b in pairwise(cuts) for event in extractor.feed(text[a:b])] + extractor.close()
    assert first_order_error(events) is None
    assert extractor.result() == whole.result()
