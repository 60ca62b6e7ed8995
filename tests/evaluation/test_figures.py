"""Each figure twice: as the model wrote it, and as it left."""

from __future__ import annotations

import pytest

from toolglot.core.messages import ToolCall
from toolglot.core.reply import Decision, Usage
from toolglot.core.tools import Tool
from toolglot.evaluation.figures import as_written, figures, judge, quantile
from toolglot.evaluation.kept import Kept
from toolglot.evaluation.questions import ExpectedCall, Loop, Question

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool("weather", "The weather.", SCHEMA)
RIGHT = '{"city": "Oslo"}'
EXPECTED = ((ExpectedCall("weather", {"city": ["Oslo"]}),),)


def question(id: str = "q", *, due: bool = True, loop: bool = False, tags: tuple[str, ...] = ()) -> Question:
    held = Loop({"weather": "rain"}, (("rain",),)) if loop else None
    return Question(id, [{"role": "user", "content": id}], (WEATHER,), EXPECTED if due else (), held, tags)


def made(arguments: str = RIGHT, name: str = "weather", source: str = "native", *fixes: str, sealed: bool = True) -> ToolCall:
    return ToolCall("call_1", name, arguments, source=source, fixes=fixes, sealed=sealed)


def answered(*calls: ToolCall, text: str = "", decisions: tuple[Decision, ...] = ()) -> Kept:
    return Kept("q", "x", calls, text, decisions)


@pytest.mark.parametrize(
    ("way", "source", "counts"),
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
def test_a_call_counts_as_written_in_the_form_that_was_asked_for(way: str, source: str, counts: bool) -> None:
    judged = judge(question(), answered(made(source=source)), way)
    assert judged.left.right
    assert (judged.written.right, judged.written.missing) == (counts, int(not counts))


def test_a_repaired_call_names_its_tool_but_is_not_valid_as_written() -> None:
    judged = judge(question(), answered(made(RIGHT, "weather", "native", "coerced_type")), "native")
    assert (judged.left.valid, judged.left.right) == (True, True)
    assert (judged.written.valid, judged.written.right_tool, judged.written.right_arguments) == (False, True, False)


def test_a_mended_name_was_another_name() -> None:
    judged = judge(question(), answered(made(RIGHT, "weather", "native", "fixed_name")), "native")
    assert (judged.written.right_tool, judged.left.right_tool) == (False, True)


def test_a_refused_call_was_made_and_did_not_leave() -> None:
    refused = Decision("rejected_unknown_tool", "browse: there is no such tool", made("{}", "browse"))
    judged = judge(question(due=False), answered(decisions=(refused,)), "native")
    assert (judged.written.false_call, judged.left.false_call) == (True, False)


def test_what_never_came_to_its_end_is_no_call_for_anyone() -> None:
    cut = Decision("rejected_truncated", "weather: the call was cut short", made('{"ci', sealed=False))
    assert as_written(answered(decisions=(cut,)), "native") == []


def test_other_decisions_about_a_call_do_not_count_it_twice() -> None:
    call = made(RIGHT, "weather", "native", "coerced_type")
    kept = answered(call, decisions=(Decision("coerced_type", "a type", call), Decision("evident_schema", "bad")))
    assert len(as_written(kept, "native")) == 1


def test_a_loop_that_the_layer_brought_about_says_nothing_as_written() -> None:
    loop = question(loop=True)
    assert judge(loop, answered(made(), text="It will rain."), "native").written.final is True
    rescued = judge(loop, answered(made(source="fenced_json"), text="It will rain."), "native")
    assert (rescued.written.final, rescued.left.final) == (False, True)


def test_without_an_answer_nothing_is_right_and_nothing_is_no_false_call() -> None:
    failed = Kept("q", "x", error="503", seconds=9.0)
    rows = [judge(question(due=due, loop=due), failed, "native") for due in (True, False)]
    rows.append(judge(question(due=False), answered(text="Hello."), "native"))
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
    rows = [judge(question(), Kept("q", "x", stop=stop), "native") for stop in ("length", "stop", "length", None)]
    assert figures(rows).cut == 2


def test_tokens_are_averaged_over_those_that_tell() -> None:
    told = [judge(question(), Kept("q", "x", usage=usage), "native") for usage in (Usage(10, 2), Usage(30, 4), None)]
    assert figures(told).tokens == (20.0, 3.0)
    assert figures(told[2:]).tokens is None


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
