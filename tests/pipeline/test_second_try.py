from __future__ import annotations

from typing import Any

import pytest

from tests.pipeline.answering import CITY, PARIS, TOOLS
from toolglot.core.messages import Message, Part, Text, ToolCall, ToolResult
from toolglot.core.reply import Decision
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool, Toolset
from toolglot.pipeline.fit import fit
from toolglot.pipeline.plan import Plan
from toolglot.pipeline.refusals import ADVICE, answer, sentence, told_of
from toolglot.pipeline.route import resolve

QWEN = "llamacpp/qwen2.5-coder-1.5b"
ASKED = Message("user", (Text("What is the weather in Paris?"),))
POEM = Message("user", (Text("Write me a poem about the sea"),))
CALL = ToolCall("c1", "get_weather", '{"town": "Paris"}')


def miswritten(code: str = "rejected_schema", question: Message = ASKED) -> tuple[Message, ...]:
    refused = Decision(code, "get_weather: $.city is missing", CALL)
    return question, Message("assistant", (CALL,)), Message("tool", (answer(refused, CALL),))


def made_up(question: Message = ASKED) -> tuple[Message, ...]:
    refused = Decision("rejected_result", "the reply is an object, made up", ToolCall("", "", sealed=False))
    return question, Message("user", (Text(sentence(refused)),))


def asked(
    messages: tuple[Message, ...], model: str = QWEN, tools: Toolset = TOOLS, choice: Choice | None = None, **how: Any
) -> Plan:
    return fit(Request("m", messages=messages, tools=tools, choice=choice), resolve(model), **how)


def may_say(plan: Plan) -> bool:
    """Whether the schema leaves it to answer in words."""
    assert plan.request.output is not None
    return "'answer'" in str(plan.request.output.schema)


def test_the_first_try_is_by_prompt() -> None:
    assert asked((ASKED,)).way.name == "dialect:tagged"


@pytest.mark.parametrize("code", ["rejected_schema", "rejected_arguments", "rejected_malformed"])
def test_a_call_that_was_miswritten_is_made_again_under_the_schema(code: str) -> None:
    plan = asked(miswritten(code))
    assert (plan.way.name, may_say(plan)) == ("constrained", False)
    assert any("not written as its tool wants it" in note for note in plan.notes)


@pytest.mark.parametrize("code", ["rejected_unknown_tool", "rejected_invented", "rejected_unrelated", "rejected_truncated"])
def test_what_no_schema_would_mend_is_asked_as_before(code: str) -> None:
    assert asked(miswritten(code)).way.name == "dialect:tagged"


def test_a_made_up_result_is_followed_by_a_call() -> None:
    plan = asked(made_up())
    assert (plan.way.name, may_say(plan)) == ("constrained", False)
    assert (plan.choice, plan.conversation) == (None, made_up())  # the caller required nothing: it is doubted as any other


def test_where_no_call_is_due_none_is_forced() -> None:
    assert asked(made_up(POEM)).way.name == "dialect:tagged"
    plan = asked(miswritten(question=POEM))
    assert (plan.way.name, may_say(plan)) == ("constrained", True)


def test_with_a_result_at_hand_none_is_forced() -> None:
    done = ToolCall("c0", "get_time", PARIS)
    seen = Message("assistant", (done,)), Message("tool", (ToolResult("c0", "get_time", (Text("noon"),)),))
    question, *rest = miswritten()
    plan = asked((question, *seen, *rest))
    assert (plan.way.name, may_say(plan)) == ("constrained", True)


def test_the_caller_s_choice_stands() -> None:
    plan = asked(miswritten(), choice=Choice("none"))
    assert plan.request.output is None


def test_results_that_came_since_end_it() -> None:
    since: tuple[Part, ...] = (Text("Then tell me of Rome"),)
    assert asked((*miswritten(), Message("user", since))).way.name == "dialect:tagged"


@pytest.mark.parametrize(
    ("model", "how", "wanted"),
    [
        (QWEN, {"ask": "dialect:tagged"}, "dialect:tagged"),  # the caller's word counts
        (QWEN, {"nonce": "abcd1234"}, "dialect:tagged"),  # it is asked for in a dialect
        ("llamacpp/some-model", {}, "native"),  # what the server makes of its own tools is its own
    ],
)
def test_it_is_left_as_it_is(model: str, how: dict[str, Any], wanted: str) -> None:
    assert asked(miswritten(), model, **how).way.name == wanted


def test_every_code_is_told_by_its_advice() -> None:
    for code in ADVICE:
        told = Message("tool", (answer(Decision(code, "it is wrong", CALL), CALL),))
        assert told_of(told) == {code}


def test_a_tool_s_own_words_are_no_refusal() -> None:
    assert told_of(Message("user", (Text("Make up no value."),))) == frozenset()


def test_a_tool_without_a_schema_can_be_held_to() -> None:
    tools = Toolset([Tool("get_weather", "The weather", CITY), Tool("ping", "Pings", {})])
    assert asked(miswritten(), tools=tools).way.name == "constrained"


def test_without_tools_nothing_is_held_to() -> None:
    assert asked(miswritten(), tools=Toolset([])).request.output is None
    assert asked(made_up(), tools=Toolset([])).request.output is None
