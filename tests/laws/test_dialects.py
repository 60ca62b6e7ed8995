"""The laws for every dialect: it has fixtures, they are right in every split, nothing is lost, and calls round trip."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.laws.dialect_cases import ALL, KINDS, NEEDED, Case, cases, shared_tools
from toolglot import Extraction, StreamExtractor, extract, fold
from toolglot.core.event_order import first_order_error
from toolglot.core.messages import ToolCall
from toolglot.dialects import dialect_names, find_dialect

CUTS = (1, 2, 3, 5, 11)


def parsed(case: Case, dialect: str, size: int | None = None) -> Extraction:
    extractor = StreamExtractor(
        case.toolset,
        dialect=dialect,
        policy=case.policy,  # type: ignore[arg-type]
        starts_in_reasoning=case.starts_in_reasoning,
    )
    size = size or max(1, len(case.text))
    for at in range(0, len(case.text), size):
        extractor.feed(case.text[at : at + size])
    extractor.close()
    return extractor.result()


def calls(found: Extraction) -> list[tuple[str, object]]:
    return [(call.full_name, call.arguments) for call in found.calls]


@pytest.mark.parametrize("dialect", dialect_names())
def test_every_dialect_has_its_fixtures(dialect: str) -> None:
    kinds = {case.kind for case in cases(dialect)}
    assert kinds <= set(KINDS)
    assert kinds >= NEEDED


@for_each(("dialect", "case"), ALL)
def test_calls_are_parsed_with_the_dialect_configured(dialect: str, case: Case) -> None:
    found = parsed(case, dialect)
    assert calls(found) == case.wanted
    if case.content is not None:
        assert found.text.split() == case.content.split()
    if case.reasoning is not None:  # a call inside reasoning stays part of the reasoning
        assert found.reasoning.strip().startswith(case.reasoning.strip())
    if case.ids is not None:
        assert [call.id for call in found.calls] == case.ids
    if case.kind == "truncated" and not case.wanted:
        assert found.decisions


@for_each(("dialect", "case"), [pair for pair in ALL if pair[1].policy != "strict"])
def test_calls_are_parsed_without_the_dialect_configured(dialect: str, case: Case) -> None:
    assert calls(parsed(case, "auto")) == case.wanted


@for_each(("dialect", "case"), ALL)
def test_any_split_gives_the_same(dialect: str, case: Case) -> None:
    whole = parsed(case, dialect)
    for size in CUTS:
        assert parsed(case, dialect, size) == whole


@for_each(("dialect", "case"), ALL)
def test_events_are_in_order_and_fold_to_the_result(dialect: str, case: Case) -> None:
    extractor = StreamExtractor(case.toolset, dialect=dialect, starts_in_reasoning=case.starts_in_reasoning)
    events = [*extractor.feed(case.text), *extractor.close()]
    assert first_order_error(events) is None
    reply, result = fold(events), extractor.result()
    assert (reply.calls, reply.text, reply.reasoning) == (result.calls, result.text, result.reasoning)


CALLS = (
    ToolCall("get_weather_0", "get_weather", '{"city":"Zürich","days":3}'),
    ToolCall("get_time_1", "get_time", "{}"),
    ToolCall(
        "search_2",
        "search",
        '{"query":"a \\"b\\" <c> & {d}\\nnext, line","limit":-2,"tags":["x","y z"],"exact":true,'
        '"filters":{"k":[1,2.5],"n":null}}',
    ),
)


@pytest.mark.parametrize("dialect", dialect_names())
@pytest.mark.parametrize("count", [1, 2, 3])
def test_rendered_calls_are_parsed_back(dialect: str, count: int) -> None:
    found = find_dialect(dialect)
    assert found is not None
    text = found.render_calls(CALLS[:count])
    read = extract(text, shared_tools(), dialect=dialect, policy="eager")
    assert calls(read) == [(call.name, call.arguments) for call in CALLS[:count]]


@pytest.mark.parametrize("dialect", dialect_names())
def test_the_prompt_names_every_tool(dialect: str) -> None:
    found = find_dialect(dialect)
    assert found is not None
    prompt = found.render_tools(tuple(shared_tools()))
    for tool in shared_tools():
        assert tool.name in prompt


@settings(max_examples=400)
@given(st.sampled_from(ALL), st.data())
def test_damaged_text_never_raises_and_all_splits_agree(pair: tuple[str, Case], data: st.DataObject) -> None:
    dialect, case = pair
    text = case.text
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, max(0, len(text) - 1)))
        size = data.draw(st.integers(0, 8))
        text = (
            text[:at]
            + data.draw(st.sampled_from(["", '"', "}", "{", "<", "\\", "\n", "'", "</", "``", text[:9]]))
            + text[at + size :]
        )
    cuts = sorted({0, len(text), *data.draw(st.lists(st.integers(0, max(0, len(text))), max_size=5))})
    for named in (dialect, "auto"):
        whole = extract(text, case.toolset, dialect=named)
        extractor = StreamExtractor(case.toolset, dialect=named)
        events = [event for a, b in pairwise(cuts) for event in extractor.feed(text[a:b])] + extractor.close()
        assert first_order_error(events) is None
        assert extractor.result() == whole
