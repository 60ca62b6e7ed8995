"""Answers of a model that can't be believed, and what its tools gave."""

from __future__ import annotations

from typing import Any

import pytest

from tests.counted import lines_run
from tests.pipeline.answering import stream, text
from tests.pipeline.test_gate import tool
from toolglot.core.events import Fault, Finish
from toolglot.core.fold import fold
from toolglot.core.messages import Message, Text, ToolCall, ToolResult
from toolglot.core.order import first_breach
from toolglot.core.reply import Reply, Stop
from toolglot.core.request import Request
from toolglot.core.tools import Toolset
from toolglot.errors import UpstreamError
from toolglot.pipeline.borne_out import is_borne_out, what_was_given
from toolglot.pipeline.doubting_answers import answers_to
from toolglot.pipeline.fit import fit
from toolglot.pipeline.lately import Lately, lately
from toolglot.pipeline.route import resolve
from toolglot.text.json_text import dumps

TICKET = {"ticket_id": 356, "title": "Login page is slow", "assigned_to": "Fiona Becker", "due": "2025-04-08", "hours": 4630.0}
PARCEL = {"number": "RX7", "status": "in_transit", "location": "Eindhoven", "expected": "Thursday"}


def told(asked: str, *results: Any, is_error: bool = False) -> tuple[Message, ...]:
    calls = tuple(ToolCall(f"c{at}", "get_ticket") for at in range(len(results)))
    given = (held if isinstance(held, str) else dumps(held) for held in results)
    parts = tuple(ToolResult(call.id, "get_ticket", (Text(one),), is_error) for call, one in zip(calls, given, strict=True))
    return Message("user", (Text(asked),)), Message("assistant", calls), Message("tool", parts)


def last(asked: str, *results: Any) -> Lately:
    return lately(told(asked, *results))


@pytest.mark.parametrize(
    ("asked", "result", "answer", "good"),
    [
        ("Who has ticket 356?", TICKET, "Fiona Becker is on it.", True),
        ("Who has ticket 356?", TICKET, "Ticket 356 is about the login page.", False),  # not what was asked for
        ("Who has ticket 356?", TICKET, "Ticket 356 is with Lara Becker.", False),  # nobody knows her
        ("Who has ticket 356?", TICKET, "The ticket 356 is not available.", False),  # nothing of the result
        ("How long does 356 take?", TICKET, "It takes 4,630 hours.", True),
        ("How long does 356 take?", TICKET, "It takes 463.00 hours.", False),
        ("When is it due?", TICKET, "The login page is slow.", False),
        ("When is it due?", TICKET, "It is due on 2025-04-08.", True),
        ("Where is my parcel RX7?", PARCEL, "Parcel RX7 is in transit.", False),
        ("Where is my parcel RX7?", PARCEL, "It is in Eindhoven.", True),
        ("Enrol me and let me know the room.", {"status": "enrolled", "room": "Halden 214"}, "You are enrolled.", False),
        ("Enrol me and let me know the room.", {"status": "enrolled", "room": "Halden 214"}, "In room 214.", True),
        ("Enrol me in the room.", {"status": "enrolled", "room": "Halden 214"}, "You are enrolled.", True),
        ("What does todo.txt say?", "Buy a cake for Winston.", 'It says "Buy a cake".', True),
        ("What does todo.txt say?", "Buy a cake for Winston.", "It says nothing of note.", False),
        ("Is it there?", True, "Yes, it is there.", False),  # which nobody can tell from a yes
        ("Is it there?", {}, "It is there.", True),
    ],
)
def test_an_answer_is_borne_out_by_the_results(asked: str, result: Any, answer: str, good: bool) -> None:
    assert is_borne_out(answer, last(asked, result)) == good


@pytest.mark.parametrize(
    ("asked", "results", "given"),
    [
        ("Who has ticket 356?", [{"ticket_id": 356, "assignedTo": "Fiona"}], "From get_ticket: assigned to: Fiona."),
        ("Ticket 356?", [{"ticket_id": 356}], "From get_ticket: ticket id: 356."),  # all of it was said
        ("What is on?", [[{"title": "Dentist", "at": "9:20"}, {"title": "Lunch"}]], "From get_ticket: Dentist, 9:20; Lunch."),
        ("What is on?", [{"events": ["a", "b"], "more": None}], "From get_ticket: events: a; b."),
        ("What?", ["Rain.", 3], "From get_ticket: Rain. From get_ticket: 3."),
        ("What?", [""], ""),
    ],
)
def test_what_was_given_in_few_words(asked: str, results: list[Any], given: str) -> None:
    assert what_was_given(last(asked, *results)) == given


def test_what_was_given_has_an_end() -> None:
    assert len(what_was_given(last("What?", "long " * 1000))) < 700
    assert what_was_given(last("What?", list(range(20)))).endswith("7; ....")


@pytest.mark.parametrize(("opens", "closes"), [("[", "]"), ('{"a":', "}")])
@pytest.mark.parametrize("depth", [50, 900, 5000])
def test_results_may_be_nested_deeply(opens: str, closes: str, depth: int) -> None:
    deep = last("Where is it?", opens * depth + "17" + closes * depth)
    assert not is_borne_out("I can't tell.", deep)
    assert is_borne_out("It is 17.", deep) or depth > 1000  # which is read as text
    assert "17" in what_was_given(deep) or depth > 50


def test_the_work_grows_with_question_and_results_and_no_faster() -> None:
    def work(size: int) -> int:
        held = last("What is each price? " + "word " * size, [{"price": number} for number in range(size)])
        return lines_run(lambda: is_borne_out(" ".join(map(str, range(size))), held))

    assert work(400) < 2.3 * work(200)


TOOLS = Toolset([tool("get_ticket", "Look up a ticket.", "ticket_id", ticket_id={"type": "integer"})])


def heard(messages: tuple[Message, ...], *words: str, policy: Any = "balanced", end: Any = None) -> Reply:
    plan = fit(Request("m", messages=messages, tools=TOOLS), resolve("local/smollm2"))
    answers = answers_to(plan, policy, "hold", str)
    left = [event for one in stream(text(*words), end=end) for event in answers.feed(one)] + answers.close()
    assert first_breach(left) is None
    return fold(left)


def test_words_that_are_not_borne_out_give_way() -> None:
    asked = told("Who has ticket 356?", TICKET)
    found = heard(asked, "It is ", "with Lara.")
    assert found.text.startswith("From get_ticket: title: Login page is slow; assigned to: Fiona Becker")
    (why,) = found.decisions
    assert (why.code, "It is with Lara." in why.message) == ("grounded_answer", True)
    good = heard(asked, "It is ", "with Fiona.")
    assert (good.text, good.decisions) == ("It is with Fiona.", ())
    assert heard(asked, "It is with Lara.", policy="eager").text == "It is with Lara."


def test_what_finds_no_end_is_cut_short_and_gives_way() -> None:
    asked = told("Who has ticket 356?", TICKET)
    assert fit(Request("m", messages=asked, tools=TOOLS), resolve("local/smollm2")).request.max_tokens == 200
    found = heard(asked, "It is with Lara" + ", Lara" * 50, end=Finish(Stop("length", "length")))
    assert found.stop == Stop("stop", "length")
    assert found.text.startswith("From get_ticket")


def test_where_nothing_was_given_words_are_words() -> None:
    failed = told("Who has ticket 356?", "no such ticket", is_error=True)
    assert heard(failed, "Nobody, says Lara.").text == "Nobody, says Lara."
    assert heard(told("Thanks, that's all!")[:1], "You are welcome, Lara.").text == "You are welcome, Lara."


def test_what_broke_off_is_as_it_was() -> None:
    end = Fault(UpstreamError("cut", 502, "cut"))
    assert heard(told("Who has ticket 356?", TICKET), "It is with La", end=end).text == "It is with La"
