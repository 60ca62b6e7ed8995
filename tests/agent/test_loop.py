"""The loop as a state machine: replies and results in, the next step out. No client, no tool, no clock."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest

from toolglot.agent.limits import Limits
from toolglot.agent.loop import AskModel, Done, Interrupted, Loop, RunTools, Step
from toolglot.agent.run import Run
from toolglot.core.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult
from toolglot.core.reply import Decision, Reply, Stop, Usage
from toolglot.core.request import Output, Request
from toolglot.core.tools import Choice, Tool
from toolglot.errors import CallerError, UpstreamError

WEATHER = Tool("get_weather", schema={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})
REQUEST = Request("ollama/m", (Message("user", (Text("Weather?"),)),), (WEATHER,))


def text_answer(text: str, **more: Any) -> Reply:
    return Reply(parts=(Text(text),), stop=Stop("stop"), **more)


def calls(*pairs: tuple[str, str], **more: Any) -> Reply:
    parts = tuple(ToolCall(call_id, "get_weather", f'{{"city":"{city}"}}') for call_id, city in pairs)
    return Reply(parts=parts, stop=Stop("calls"), **more)


def rejects(code: str, call: ToolCall, why: str = "why", *parts: Any) -> Reply:
    return Reply(parts=parts, stop=Stop("stop"), decisions=(Decision(code, f"{call.name}: {why}", call),))


def results(step: Step, text: str = "18C") -> list[ToolResult]:
    assert isinstance(step, RunTools)
    return [ToolResult(call.id, call.name, (Text(text),)) for call in step.calls]


def ended(step: Step) -> Run:
    assert isinstance(step, Done)
    return step.run


def asked(step: Step) -> Request:
    assert isinstance(step, AskModel)
    return step.request


def in_history(run: Run, kind: type) -> list[Any]:
    return [part for message in run.history for part in message.parts if type(part) is kind]


def answered(run: Run) -> None:
    """Every call has exactly one result, in the message behind it."""
    call_ids = Counter(part.id for part in in_history(run, ToolCall))
    results = Counter(part.call_id for part in in_history(run, ToolResult))
    assert call_ids == results
    assert all(count == 1 for count in call_ids.values())
    waiting: set[str] = set()
    for message in run.history:
        if message.role == "tool":
            assert {part.call_id for part in message.parts if isinstance(part, ToolResult)} == waiting
            waiting = set()
        else:
            assert not waiting
            waiting = {part.id for part in message.parts if isinstance(part, ToolCall)}
    assert not waiting


def test_a_question_a_call_an_answer() -> None:
    loop = Loop(REQUEST, id="r1")
    assert asked(loop.next()) == REQUEST
    step = loop.next(calls(("a", "Rome"), ("b", "Paris"), usage=Usage(10, 5)))
    assert isinstance(step, RunTools)
    assert [call.id for call in step.calls] == ["a", "b"]
    request = asked(loop.next(results(step)))
    assert [message.role for message in request.messages] == ["user", "assistant", "tool"]
    run = ended(loop.next(text_answer("Mild.", usage=Usage(20, 3, cache_read=4), notes=("n",))))
    assert (run.id, run.text, run.end, run.turns, run.ok) == ("r1", "Mild.", "finished", 2, True)
    assert [call.id for call in run.calls] == ["a", "b"]
    assert run.usage == Usage(30, 8, cache_read=4)
    assert run.notes == ("n",)
    assert [message["role"] for message in run.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    with pytest.raises(CallerError, match="the run is over"):
        loop.next(text_answer("more"))


def test_thinking_and_its_signatures_stay_in_the_history() -> None:
    thought = Reasoning("hm", {"anthropic": {"signature": "s"}})
    loop = Loop(REQUEST)
    loop.next()
    step = loop.next(Reply(parts=(thought, ToolCall("a", "get_weather", '{"city":"Rome"}'))))
    assert asked(loop.next(results(step))).messages[1].parts[0] == thought


def test_results_are_in_the_calls_order_whatever_order_they_come_in() -> None:
    loop = Loop(REQUEST)
    loop.next()
    step = loop.next(calls(("a", "Rome"), ("b", "Paris")))
    request = asked(loop.next(results(step)[::-1]))
    assert [part.call_id for part in request.messages[-1].parts if isinstance(part, ToolResult)] == ["a", "b"]


REFUSED = {
    "rejected_unknown_tool": (
        ToolCall("x", "launch", "{}"),
        "there is no such tool; there are get_weather",
        ["get_weather", "call it"],
    ),
    "rejected_schema": (ToolCall("x", "get_weather", '{"town":1}'), "city: is required", ["city: is required", "again"]),
    "rejected_truncated": (ToolCall("x", "get_weather", '{"ci', sealed=False), "the call was cut short", ["cut short", '{"ci']),
    "rejected_arguments": (ToolCall("x", "get_weather", "[1]"), "can't be read", ["[1]", "one JSON object"]),
}


@pytest.mark.parametrize("code", REFUSED)
def test_a_refused_call_goes_back_with_the_precise_reason(code: str) -> None:
    call, why, expected = REFUSED[code]
    loop = Loop(REQUEST)
    loop.next()
    request = asked(loop.next(rejects(code, call, why)))
    call_part, result = request.messages[-2].parts[0], request.messages[-1].parts[0]
    assert isinstance(call_part, ToolCall)
    assert isinstance(result, ToolResult)
    assert call_part.arguments is not None  # it can stand in a history, whatever was written
    assert (call_part.id, call_part.name, call_part.sealed) == (result.call_id, call.name, True)
    assert result.is_error
    for words in expected:
        assert words in result.text
    assert ended(loop.next(text_answer("ok"))).decisions[0].code == code


def test_a_call_that_names_no_tool_is_answered_in_words() -> None:
    loop = Loop(REQUEST)
    loop.next()
    bad = ToolCall("", "", sealed=False, written="<tool_call>{")
    request = asked(loop.next(rejects("rejected_malformed", bad, "no JSON", Text("<tool_call>{"))))
    assert [message.role for message in request.messages[1:]] == ["assistant", "user"]
    assert "no JSON" in request.messages[-1].parts[0].text  # type: ignore[union-attr]


def test_good_calls_run_beside_refused_ones_and_all_results_are_one_message() -> None:
    loop = Loop(REQUEST)
    loop.next()
    good, bad = ToolCall("a", "get_weather", '{"city":"Rome"}'), ToolCall("b", "launch", "{}")
    step = loop.next(rejects("rejected_unknown_tool", bad, "no such tool", good))
    assert isinstance(step, RunTools)
    assert step.calls == (good,)
    request = asked(loop.next(results(step)))
    parts = [part for part in request.messages[-1].parts if isinstance(part, ToolResult)]
    assert [(part.call_id, part.is_error) for part in parts] == [("a", False), ("b", True)]


def test_refusals_in_a_row_end_it_and_a_good_call_between_does_not() -> None:
    bad = rejects("rejected_schema", ToolCall("x", "get_weather", "{}"), "city: is required")
    loop = Loop(REQUEST)
    loop.next()
    for number in range(3):
        loop.next(bad)
        loop.next(bad)
        loop.next(results(loop.next(calls((f"g{number}", f"city {number}")))))
    loop.next(bad)
    loop.next(bad)
    run = ended(loop.next(bad))
    assert run.end == "refused"
    assert "city: is required" in run.why
    answered(run)


def test_a_rejected_call_beside_good_ones_does_not_count() -> None:
    good = ToolCall("a", "get_weather", '{"city":"Rome"}')
    bad = rejects("rejected_schema", ToolCall("x", "get_weather", "{}"), "city: is required")
    loop = Loop(REQUEST)
    loop.next()
    for number in range(5):
        both = msgspec.structs.replace(bad, parts=(msgspec.structs.replace(good, arguments_json=f'{{"city":"{number}"}}'),))
        loop.next(results(loop.next(both)))
    assert ended(loop.next(text_answer("Done."))).end == "finished"


def test_one_who_only_repeats_what_it_has_is_asked_for_its_answer() -> None:
    again = rejects("rejected_repeat", ToolCall("x", "get_weather", '{"city":"Rome"}'), "it was just made")
    loop = Loop(REQUEST)
    loop.next()
    loop.next(results(loop.next(calls(("c", "Rome")))))
    loop.next(again)
    loop.next(again)
    assert asked(loop.next(again)).choice == Choice("none")
    run = ended(loop.next(text_answer("18C.")))
    assert (run.end, run.text) == ("refused", "18C.")
    answered(run)


def test_the_same_call_to_the_same_result_is_stopped_the_third_time() -> None:
    loop = Loop(REQUEST)
    loop.next()
    for number in range(2):
        loop.next(results(loop.next(calls((f"c{number}", "Rome")))))
    spaced = Reply(parts=(ToolCall("c9", "get_weather", '{ "city": "Rome" }'),))
    request = asked(loop.next(spaced))  # a last word, without tools
    assert request.choice == Choice("none")
    run = ended(loop.next(text_answer("18C, I think.")))
    assert (run.end, run.text) == ("repeated", "18C, I think.")
    assert "get_weather" in run.why
    assert "third time" in run.why
    assert len(run.calls) == 2
    assert in_history(run, ToolResult)[-1].text.startswith("Not run: get_weather was called")


def test_the_last_word_is_the_last_and_within_the_limits() -> None:
    loop = Loop(REQUEST, Limits(repeats=2))
    loop.next()
    loop.next(results(loop.next(calls(("a", "Rome")))))
    loop.next(calls(("b", "Rome")))
    run = ended(loop.next(calls(("c", "Oslo"))))
    assert (run.end, [call.id for call in run.calls]) == ("repeated", ["a"])
    answered(run)
    loop = Loop(REQUEST, Limits(turns=2, repeats=2))
    loop.next()
    loop.next(results(loop.next(calls(("a", "Rome")))))
    run = ended(loop.next(calls(("b", "Rome"))))
    assert (run.end, run.turns) == ("repeated", 2)


def test_a_call_with_changing_results_does_not_count_as_repeated() -> None:
    loop = Loop(REQUEST)
    step = loop.next()
    for number in range(6):
        step = loop.next(results(loop.next(calls((f"c{number}", "Rome"))), f"{number} %"))
    assert isinstance(step, AskModel)


def test_twins_of_one_reply_count_once() -> None:
    loop = Loop(REQUEST)
    loop.next()
    step = loop.next(calls(*((f"d{number}", "dice") for number in range(5))))
    assert isinstance(step, RunTools)
    assert isinstance(loop.next(results(step)), AskModel)


def test_the_limit_on_turns_leaves_the_last_results_in_the_history() -> None:
    loop = Loop(REQUEST, Limits(turns=2))
    loop.next()
    loop.next(results(loop.next(calls(("a", "Rome")))))
    run = ended(loop.next(results(loop.next(calls(("b", "Paris"))), "21C")))
    assert (run.end, run.turns) == ("turns", 2)
    assert in_history(run, ToolResult)[-1].text == "21C"


def test_the_limits_on_tokens_and_on_time() -> None:
    loop = Loop(REQUEST, Limits(tokens=100))
    loop.next()
    run = ended(loop.next(results(loop.next(calls(("a", "Rome"), usage=Usage(90, 10))))))
    assert run.end == "tokens"
    assert "100 tokens" in run.why
    loop = Loop(REQUEST, Limits(tokens=100))
    loop.next()
    assert "reports no token usage" in ended(loop.next(text_answer("x"))).notes[0]
    loop = Loop(REQUEST, Limits(seconds=5))
    loop.next(now=1000)
    step = loop.next(calls(("a", "Rome")), now=1004)
    assert isinstance(step, RunTools)
    assert ended(loop.next(results(step), now=1005)).end == "time"
    loop = Loop(REQUEST, Limits(seconds=5))
    loop.next(now=1000)
    run = ended(loop.next(calls(("a", "Rome")), now=1006))
    assert (run.end, run.calls) == ("time", ())


def test_what_was_required_is_required_until_a_call_was_made() -> None:
    loop = Loop(Request("m", REQUEST.messages, REQUEST.tools, Choice("required")))
    assert asked(loop.next()).choice == Choice("required")
    bad = rejects("rejected_schema", ToolCall("x", "get_weather", "{}"))
    assert asked(loop.next(bad)).choice == Choice("required")
    assert asked(loop.next(results(loop.next(calls(("a", "Rome")))))).choice is None


def test_where_calls_are_forbidden_a_refused_one_does_not_go_back() -> None:
    loop = Loop(Request("m", REQUEST.messages, REQUEST.tools, Choice("none")))
    loop.next()
    run = ended(loop.next(rejects("rejected_choice", ToolCall("x", "get_weather", "{}"), "forbidden", Text("No."))))
    assert (run.end, run.text) == ("finished", "No.")


def test_ids_that_come_again_are_made_new() -> None:
    loop = Loop(REQUEST)
    loop.next()
    ids = []
    for city in ("Rome", "Paris", "Oslo"):
        step = loop.next(calls(("call_0", city), ("call_0", city + "!")))
        assert isinstance(step, RunTools)
        ids += [call.id for call in step.calls]
        loop.next(results(step))
    assert ids[0] == "call_0"
    assert len(set(ids)) == 6


def test_two_refused_calls_of_one_name_both_get_an_answer() -> None:
    twins = [ToolCall("launch_0", "launch", f'{{"n":{number}}}') for number in range(2)]
    loop = Loop(REQUEST)
    loop.next()
    reply = Reply(decisions=tuple(Decision("rejected_unknown_tool", "launch: no such tool", call) for call in twins))
    results = asked(loop.next(reply)).messages[-1].parts
    assert len({part.call_id for part in results if isinstance(part, ToolResult)}) == 2


def test_a_broken_answer_and_a_broken_step() -> None:
    error = UpstreamError("overloaded", 529)
    loop = Loop(REQUEST)
    loop.next()
    run = ended(loop.next(Reply(parts=(Text("I'll"), ToolCall("a", "get_weather", '{"city":"Rome"}')), error=error)))
    assert (run.end, run.error, run.text, run.calls) == ("failed", error, "I'll", ())
    answered(run)
    loop = Loop(REQUEST)
    loop.next()
    step = loop.next(calls(("a", "Rome"), ("b", "Paris")))
    run = ended(loop.next(Interrupted("stopped", "the user left", results=tuple(results(step)[:1]))))
    assert (run.end, run.why) == ("stopped", "the user left")
    assert [one.text for one in in_history(run, ToolResult)] == ["18C", "Interrupted, maybe half done: the user left."]


def test_a_partial_reply_is_kept_when_the_run_is_stopped() -> None:
    loop = Loop(REQUEST)
    loop.next()
    parts = (
        Text("Let me"),
        ToolCall("a", "get_weather", '{"city":"Rome"}'),
        ToolCall("b", "get_weather", '{"ci', sealed=False),
    )
    run = ended(loop.next(Interrupted("stopped", "the user left", reply=Reply(parts=parts, usage=Usage(3)))))
    assert (run.text, run.usage, run.calls) == ("Let me", Usage(3), ())
    assert [one.text[:7] for one in in_history(run, ToolResult)] == ["Not run", "Not run"]
    answered(run)


def test_a_cut_off_or_empty_answer_is_noted() -> None:
    loop = Loop(REQUEST)
    loop.next()
    run = ended(loop.next(Reply(parts=(Text("It is"),), stop=Stop("length"))))
    assert run.end == "finished"
    assert "cut off" in run.notes[0]


def test_a_pause_is_asked_on() -> None:
    loop = Loop(REQUEST)
    loop.next()
    request = asked(loop.next(Reply(parts=(Text("..."),), stop=Stop("pause"))))
    assert request.messages[-1].role == "assistant"


def test_what_does_not_fit_is_the_callers_error() -> None:
    loop = Loop(REQUEST)
    with pytest.raises(CallerError, match="waits for start"):
        loop.next(text_answer("x"))
    loop.next()
    with pytest.raises(CallerError, match="waits for reply"):
        loop.next([])
    step = loop.next(calls(("a", "Rome")))
    with pytest.raises(CallerError, match="'z' is not one of the calls to run"):
        loop.next([ToolResult("z")])
    with pytest.raises(CallerError, match="expected a ToolResult for each call, got str"):
        loop.next(["18 degrees"])  # type: ignore[list-item]
    with pytest.raises(CallerError, match="'a' already has a result"):
        loop.next(results(step) * 2)
    request = asked(loop.next([]))
    assert "There is no result" in request.messages[-1].parts[0].text  # type: ignore[union-attr]


def test_messages_can_be_passed_in_again() -> None:
    from toolglot.wires import find_wire

    loop = Loop(REQUEST)
    loop.next()
    loop.next(results(loop.next(calls(("a", "Rome")))))
    run = ended(loop.next(text_answer("Mild.")))
    wire = find_wire("openai-chat")
    assert wire is not None
    assert wire.read_messages(run.messages) == run.history


# -- empty replies


@pytest.mark.parametrize("nothing", ["", " \n", "~~`\n\n~~`"])
def test_after_an_empty_reply_the_model_is_asked_once_more(nothing: str) -> None:
    empty = Reply(parts=(Text(nothing),) if nothing else (), stop=Stop("stop"))
    loop = Loop(REQUEST)
    loop.next()
    assert asked(loop.next(empty)).messages[-1].role == "user"
    run = ended(loop.next(text_answer("Mild.")))
    assert (run.text, run.end, run.turns) == ("Mild.", "finished", 2)
    assert "once more" in run.notes[0]
    loop = Loop(REQUEST)
    loop.next()
    loop.next(empty)
    assert (end := ended(loop.next(empty))).end == "finished"
    assert end.turns == 2


@pytest.mark.parametrize(
    "answer", [Reply(parts=(Text("\N{THUMBS UP SIGN}"),)), Reply(parts=(Media("image"),)), Reply(stop=Stop("filter"))]
)
def test_an_answer_without_text_is_not_asked_for_again(answer: Reply) -> None:
    loop = Loop(REQUEST)
    loop.next()
    assert ended(loop.next(answer)).turns == 1


def test_an_empty_object_may_be_what_was_asked_for() -> None:
    loop = Loop(msgspec.structs.replace(REQUEST, output=Output(schema={"type": "object"})))
    loop.next()
    assert ended(loop.next(text_answer("{}"))).text == "{}"


def test_an_empty_reply_in_the_last_turn_ends_the_run() -> None:
    loop = Loop(REQUEST, Limits(turns=1))
    loop.next()
    run = ended(loop.next(Reply(stop=Stop("stop"))))
    assert (run.end, run.notes) == ("finished", ("the model's reply was empty",))


def test_after_tool_results_rejected_calls_end_with_an_answer() -> None:
    bad = rejects("rejected_unknown_tool", ToolCall("x", "look_again", "{}"), "look_again: there is no such tool")
    loop = Loop(REQUEST)
    loop.next()
    loop.next(results(loop.next(calls(("g", "Rome")))))
    loop.next(bad)
    loop.next(bad)
    last = asked(loop.next(bad))
    assert last.choice == Choice("none")
    run = ended(loop.next(text_answer("It is mild in Rome.")))
    assert (run.end, run.text) == ("refused", "It is mild in Rome.")
    assert "there is no such tool" in run.why
