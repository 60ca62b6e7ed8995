"""A small model's calls that nothing speaks for do not leave; everything else does, in order."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest

from tests.pipeline.answering import CALLS, PARIS, ROME, call, codes, plan_for, stream, text
from toolglot.core.events import Event, Fault
from toolglot.core.fold import fold
from toolglot.core.messages import Message, Text, ToolCall, ToolResult
from toolglot.core.order import first_breach
from toolglot.core.reply import Reply, Stop
from toolglot.core.request import Output
from toolglot.core.tools import Choice, Tool, Toolset
from toolglot.errors import UpstreamError
from toolglot.pipeline.doubting_answers import DoubtingAnswers, answers_to
from toolglot.pipeline.plan import Plan
from toolglot.pipeline.refusals import refusals, sentence

SMALL, BIG = "llamacpp/qwen2.5-coder-1.5b", "llamacpp/qwen2.5-coder-32b"
WHERE = (Message("user", (Text("How is the weather where I am?"),)),)
_DAYS: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
WITH_DAYS = Tool("get_weather", "The weather in a city", _DAYS)
IN_PARIS = (Message("user", (Text("How is the weather in Paris?"),)),)


def heard(plan: Plan, *blocks: list[Event], policy: Any = "balanced", calls: Any = "hold", end: Event | None = None) -> Reply:
    numbers = itertools.count()
    answers = answers_to(plan, policy, calls, lambda: f"call_{next(numbers)}")
    left = [event for one in stream(*blocks, end=end) for event in answers.feed(one)] + answers.close()
    assert first_breach(left) is None
    return fold(left)


def small(**request: Any) -> Plan:
    return plan_for(SMALL, ask="native", **{"messages": WHERE, **request})


def test_a_call_that_nothing_speaks_for_is_refused_with_its_reason() -> None:
    found = heard(small(), call(0, "get_weather", PARIS), end=CALLS)
    assert (found.calls, codes(found), found.stop) == ([], ["rejected_invented"], Stop("stop", "tool_calls"))
    (refused,) = refusals(found)
    assert refused.message == "get_weather: city is 'Paris', and nobody has said so; ask the user for it"


def test_text_and_the_other_calls_leave_without_a_gap() -> None:
    plan = small(messages=IN_PARIS)
    blocks = (text("Let me ", "see."), call(1, "get_weather", ROME), call(2, "get_time", PARIS), text("So.", index=3))
    assert [part.text for part in heard(plan, *blocks, end=CALLS).parts if isinstance(part, Text)] == ["Let me see.", "So."]
    said = heard(small(), *blocks, end=CALLS)
    assert ([one.name for one in said.calls], said.text) == ([], "Let me see.So.")
    assert codes(said) == ["rejected_invented"] * 2


def test_calls_from_text_are_doubted_too() -> None:
    written = '~~~tool_call\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n~~~'
    plan = plan_for(SMALL, messages=WHERE)
    assert plan.way.name == "dialect:tagged"
    found = heard(plan, text(*written))
    assert (found.calls, codes(found)) == ([], ["rejected_invented"])
    asked = plan_for(SMALL, messages=IN_PARIS)
    assert [one.arguments for one in heard(asked, text(*written)).calls] == [{"city": "Paris"}]


@pytest.mark.parametrize(
    ("plan", "how"),
    [
        (plan_for(BIG, ask="native", messages=WHERE), {}),
        (small(choice=Choice("required")), {}),
        (small(), {"policy": "eager"}),
        (small(), {"calls": "pass"}),
        (plan_for("local/smollm2", ask="native", messages=WHERE), {}),  # the gate's affair
    ],
    ids=["a larger model", "a call is required", "eager", "pass", "decided by the gate"],
)
def test_where_nothing_is_doubted(plan: Plan, how: dict[str, Any]) -> None:
    assert type(answers_to(plan, how.get("policy", "balanced"), how.get("calls", "hold"), str)) is not DoubtingAnswers
    assert len(heard(plan, call(0, "get_weather", PARIS), end=CALLS, **how).calls) == 1


def test_the_start_of_a_call_that_never_ends_is_refused_once() -> None:
    found = heard(small(messages=IN_PARIS), call(0, "get_weather", '{"city": "Par', sealed=False), end=CALLS)
    assert (found.calls, codes(found)) == ([], ["rejected_truncated"])


def test_what_the_conversation_sets_right_leaves_so_and_says_so() -> None:
    plan = small(messages=IN_PARIS, tools=Toolset([WITH_DAYS]))
    written = '{"city": "Paris", "days": 3}'
    found = heard(plan, call(0, "get_weather", written), end=CALLS)
    (left,) = found.calls
    assert (left.arguments_json, left.raw, left.fixes) == ('{"city":"Paris"}', written, ("dropped_unspoken",))
    assert codes(found) == ["dropped_unspoken"]
    assert found.stop == Stop("calls", "tool_calls")
    kept = heard(plan, call(0, "get_weather", written), end=CALLS, policy="strict")
    assert (kept.calls[0].arguments_json, codes(kept)) == (written, [])
    needed = msgspec.structs.replace(WITH_DAYS, schema={**_DAYS, "minProperties": 2})
    kept = heard(small(messages=plan.request.messages, tools=Toolset([needed])), call(0, "get_weather", written), end=CALLS)
    assert (kept.calls[0].arguments_json, codes(kept)) == (written, [])  # what does not fit the tool is no improvement


def test_calls_that_are_one_once_they_are_set_right_leave_once() -> None:
    plan = small(messages=IN_PARIS, tools=Toolset([WITH_DAYS]))
    made = [*call(0, "get_weather", '{"city": "Paris", "days": 3}'), *call(1, "get_weather", '{"city": "Paris", "days": 4}')]
    found = heard(plan, made, end=CALLS)
    assert [one.arguments for one in found.calls] == [{"city": "Paris"}]
    assert sorted(codes(found)) == ["dropped_unspoken", "merged_repeat"]
    twice = [*call(0, "get_weather", PARIS), *call(1, "get_weather", PARIS)]
    assert len(heard(plan, twice, end=CALLS).calls) == 2  # as its server made them


def test_a_result_in_place_of_a_call_goes_back() -> None:
    found = heard(small(messages=IN_PARIS), text("```json\n", '{"temperature": 21}\n```'))
    assert codes(found) == ["rejected_result"]
    assert (
        "".join(part.text for part in found.parts if isinstance(part, Text)) == '```json\n{"temperature": 21}\n```'
    )  # it was said
    (told,) = refusals(found)
    assert sentence(told).endswith("Call the tools that give it, in the form that you were shown.")
    wanted = small(messages=IN_PARIS, output=Output())
    assert codes(heard(wanted, text('{"temperature": 21}'))) == []


NUMBER = {"type": "number"}
MULTIPLY = Toolset([Tool("multiply", "Product.", {"properties": {"a": NUMBER, "b": NUMBER}, "required": ["a", "b"]})])
PRODUCT = (Message("user", (Text("What is the product of 7 and 8?"),)),)


def test_words_in_place_of_a_call_that_is_due_go_back() -> None:
    plan = small(messages=PRODUCT, tools=MULTIPLY)
    how = "You can use the `multiply` function with 7 and 8."
    found = heard(plan, text(how))
    assert codes(found) == ["rejected_unused"]
    assert found.text == how  # it was said
    (told,) = refusals(found)
    assert "call multiply. Call it" in sentence(told)
    scores = Tool("get_score", "Score of a match.", {"properties": {"day": {"type": "string"}}, "required": ["day"]})
    match = (Message("user", (Text("What was the score of the match on 2024-10-20?"),)),)
    known = small(messages=match, tools=Toolset([scores]))
    assert codes(heard(known, text("On 2024-10-20 it was 2-1."))) == ["rejected_unused"]  # which it can't know
    poem = small(messages=(Message("user", (Text("Write a poem about the 7 seas"),)),), tools=MULTIPLY)
    assert codes(heard(poem, text("O seas!"))) == []
    assert codes(heard(plan, text(how), policy="eager")) == []
    assert codes(heard(small(messages=PRODUCT, tools=MULTIPLY, choice=Choice("none")), text(how))) == []
    again = (*PRODUCT, Message("assistant", (Text(how),)), Message("user", (Text(sentence(told)),)))
    assert codes(heard(small(messages=again, tools=MULTIPLY), text(how))) == []  # it is told once
    refused = ToolCall("c1", "multiply", '{"a": 7, "b": 9}')
    back = Message("tool", (ToolResult("c1", "multiply", (Text("Not run: nobody said 9."),), is_error=True),))
    without = (*PRODUCT, Message("assistant", (refused,)), back)
    assert codes(heard(small(messages=without, tools=MULTIPLY), text(how))) == []  # what was refused it may do without


SEVERAL = (Message("user", (Text("How is the weather in Paris and in Rome?"),)),)


def test_one_of_several_calls_is_told_to_come_with_the_others() -> None:
    found = heard(small(messages=SEVERAL), call(0, "get_weather", PARIS), end=CALLS)
    assert (found.calls, codes(found), found.stop) == ([], ["rejected_incomplete"], Stop("stop", "tool_calls"))
    (refused,) = refusals(found)
    assert 'with it make get_weather with {"city":"Rome"}' in sentence(refused)
    both = (call(0, "get_weather", PARIS), call(1, "get_weather", ROME))
    assert [one.arguments["city"] for one in heard(small(messages=SEVERAL), *both, end=CALLS).calls] == ["Paris", "Rome"]


def test_what_was_told_to_come_with_others_leaves_with_them() -> None:
    first = heard(small(messages=SEVERAL), call(0, "get_weather", PARIS), end=CALLS)
    (refused,) = refusals(first)
    assert refused.call is not None
    told = ToolResult(refused.call.id, "get_weather", (Text(sentence(refused)),), is_error=True)
    again = (*SEVERAL, Message("assistant", (refused.call,)), Message("tool", (told,)))
    found = heard(small(messages=again), text("Sure."), call(1, "get_weather", ROME), end=CALLS)
    assert [one.arguments["city"] for one in found.calls] == ["Rome", "Paris"]
    assert len({one.id for one in found.calls}) == 2
    assert (codes(found), found.stop) == (["rescued_earlier"], Stop("calls", "tool_calls"))


def test_who_wants_one_call_at_a_time_gets_one() -> None:
    found = heard(small(messages=SEVERAL, parallel=False), call(0, "get_weather", PARIS), end=CALLS)
    assert ([one.name for one in found.calls], codes(found)) == (["get_weather"], [])


def test_of_a_reply_that_broke_off_nothing_is_lacking() -> None:
    found = heard(small(messages=SEVERAL), call(0, "get_weather", PARIS), end=Fault(UpstreamError("it broke")))
    assert [one.name for one in found.calls] == ["get_weather"]


def test_of_several_calls_only_those_that_were_said_leave() -> None:
    calls = (call(0, "get_weather", PARIS), call(1, "get_time", '{"city": "Tokyo"}'))
    found = heard(small(messages=IN_PARIS), *calls, end=CALLS)
    assert ([one.name for one in found.calls], codes(found)) == (["get_weather"], ["rejected_invented"])
