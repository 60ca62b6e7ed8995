"""Each figure twice: as the model wrote it, and as it left."""

from __future__ import annotations

import pytest

from toolglot.core.messages import ToolCall
from toolglot.core.reply import Decision, Usage
from toolglot.core.tools import Tool
from toolglot.evaluation.figures import as_written, figures, judge, quantile
from toolglot.evaluation.questions import ExpectedCall, Loop, Question
from toolglot.evaluation.saved_answers import SavedAnswer

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool("weather", "The weather.", SCHEMA)
RIGHT = '{"city": "Oslo"}'
EXPECTED = ((ExpectedCall("weather", {"city": ["Oslo"]}),),)


def question(id: str = "q", *, expects_call: bool = True, loop: bool = False, tags: tuple[str, ...] = ()) -> Question:
    loop_data = Loop({"weather": "rain"}, (("rain",),)) if loop else None
    return Question(id, [{"role": "user", "content": id}], (WEATHER,), EXPECTED if expects_call else (), loop_data, tags)


def tool_call(
    arguments: str = RIGHT, name: str = "weather", source: str = "native", *fixes: str, sealed: bool = True
) -> ToolCall:
    return ToolCall("call_1", name, arguments, source=source, fixes=fixes, sealed=sealed)


def answered(*calls: ToolCall, text: str = "", decisions: tuple[Decision, ...] = ()) -> SavedAnswer:
    return SavedAnswer("q", "x", calls, text, decisions)


@pytest.mark.parametrize(
    ("tool_mode", "source", "counts"),
    [
        ("native", "native", True),
        ("native", "fenced_json", False),
        ("native", "bare_json", False),
        ("dialect:hermes", "hermes", True),
        ("dialect:hermes", "native", True),
        ("dialect:hermes", "fenced_json", False),
        ("constrained", "bare_json", True),
        ("constrained", "hermes", False),
    ],
)
def test_a_call_counts_as_written_in_the_requested_format(tool_mode: str, source: str, counts: bool) -> None:
    judged = judge(question(), answered(tool_call(source=source)), tool_mode)
    assert judged.left.right
    assert (judged.written.right, judged.written.missing) == (counts, int(not counts))


def test_a_repaired_call_names_its_tool_but_is_not_valid_as_written() -> None:
    judged = judge(question(), answered(tool_call(RIGHT, "weather", "native", "coerced_type")), "native")
    assert (judged.left.valid, judged.left.right) == (True, True)
    assert (judged.written.valid, judged.written.right_tool, judged.written.right_arguments) == (False, True, False)


def test_a_repaired_name_counts_as_another_name() -> None:
    judged = judge(question(), answered(tool_call(RIGHT, "weather", "native", "fixed_name")), "native")
    assert (judged.written.right_tool, judged.left.right_tool) == (False, True)


def test_a_rejected_call_counts_as_written_only() -> None:
    rejected = Decision("rejected_unknown_tool", "browse: there is no such tool", tool_call("{}", "browse"))
    judged = judge(question(expects_call=False), answered(decisions=(rejected,)), "native")
    assert (judged.written.false_call, judged.left.false_call) == (True, False)


def test_an_incomplete_call_is_not_a_call() -> None:
    cut = Decision("rejected_truncated", "weather: the call was cut short", tool_call('{"ci', sealed=False))
    assert as_written(answered(decisions=(cut,)), "native") == []


def test_other_decisions_about_a_call_do_not_count_it_twice() -> None:
    call = tool_call(RIGHT, "weather", "native", "coerced_type")
    kept = answered(call, decisions=(Decision("coerced_type", "a type", call), Decision("repaired_schema", "bad")))
    assert len(as_written(kept, "native")) == 1


def test_a_loop_with_recovered_calls_has_no_final_text_as_written() -> None:
    loop = question(loop=True)
    assert judge(loop, answered(tool_call(), text="It will rain."), "native").written.final is True
    rescued = judge(loop, answered(tool_call(source="fenced_json"), text="It will rain."), "native")
    assert (rescued.written.final, rescued.left.final) == (False, True)


def test_without_an_answer_no_measure_is_right() -> None:
    failed = SavedAnswer("q", "x", error="503", seconds=9.0)
    rows = [judge(question(expects_call=expects_call, loop=expects_call), failed, "native") for expects_call in (True, False)]
    rows.append(judge(question(expects_call=False), answered(text="Hello."), "native"))
    found = figures(rows)
    overall = {name: (rate.hits, rate.of) for name, rate in found.left.overall.items()}
    assert overall == {
        "valid": (0, 1),
        "right_tool": (0, 1),
        "right_arguments": (0, 1),
        "false_calls": (0, 1),
        "final": (0, 1),
        "right": (1, 3),
    }
    assert len(found.unanswered) == 2
    assert found.median is not None
    assert found.median.value == 0.0  # the failures' seconds are no latency


def test_answers_that_were_cut_short_are_counted() -> None:
    rows = [judge(question(), SavedAnswer("q", "x", stop=stop), "native") for stop in ("length", "stop", "length", None)]
    assert figures(rows).cut == 2


def test_tokens_are_averaged_over_the_answers_that_report_them() -> None:
    all_rows = [judge(question(), SavedAnswer("q", "x", usage=usage), "native") for usage in (Usage(10, 2), Usage(30, 4), None)]
    assert figures(all_rows).tokens == (20.0, 3.0)
    assert figures(all_rows[2:]).tokens is None


def test_quantiles_are_values_that_occurred_and_have_intervals() -> None:
    ordered = [float(value) for value in range(1, 101)]
    median, high = quantile(ordered, 0.5), quantile(ordered, 0.9)
    assert median is not None
    assert high is not None
    assert (median.value, high.value) == (50.0, 90.0)
    assert (median.low, median.high) == (40.0, 61.0)
    assert high.low < 90 < high.high <= 100
    single = quantile([3.0], 0.9)
    assert single is not None
    assert (single.value, single.low, single.high) == (3.0, 3.0, 3.0)
    assert quantile([], 0.5) is None
