"""An answer without a word is asked for once more; whatever is an answer is not."""

from __future__ import annotations

import msgspec
import pytest

from tests.agent.test_loop import REQUEST, asked, calls, ended, refuses, results, says
from toolglot.agent.limits import Limits
from toolglot.agent.loop import Loop
from toolglot.core.messages import Media, Text, ToolCall
from toolglot.core.reply import Decision, Reply, Stop
from toolglot.core.request import Output
from toolglot.core.tools import Choice


@pytest.mark.parametrize("nothing", ["", " \n", "~~`\n\n~~`"])
def test_an_answer_without_a_word_is_asked_for_once_more(nothing: str) -> None:
    empty = Reply(parts=(Text(nothing),) if nothing else (), stop=Stop("stop"))
    loop = Loop(REQUEST)
    loop.next()
    assert asked(loop.next(empty)).messages[-1].role == "user"
    run = ended(loop.next(says("Mild.")))
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
def test_what_is_an_answer_is_not_asked_for_again(answer: Reply) -> None:
    loop = Loop(REQUEST)
    loop.next()
    assert ended(loop.next(answer)).turns == 1


def test_an_empty_object_may_be_what_was_asked_for() -> None:
    loop = Loop(msgspec.structs.replace(REQUEST, output=Output(schema={"type": "object"})))
    loop.next()
    assert ended(loop.next(says("{}"))).text == "{}"


def test_the_last_turn_is_the_last_even_without_a_word() -> None:
    loop = Loop(REQUEST, Limits(turns=1))
    loop.next()
    run = ended(loop.next(Reply(stop=Stop("stop"))))
    assert (run.end, run.notes) == ("finished", ("the model ended without a word",))


def test_a_made_up_result_is_not_shown_again() -> None:
    """A small model that sees it copies it."""
    made_up = '{"temperature": 21}'
    told = Decision("rejected_result", "the reply is made up", ToolCall("", "", sealed=False, written=made_up))
    loop = Loop(REQUEST)
    loop.next()
    messages = asked(loop.next(Reply(parts=(Text(made_up),), stop=Stop("stop"), decisions=(told,)))).messages
    assert [message.role for message in messages] == ["user", "user"]
    assert made_up not in str(messages)


def test_with_results_at_hand_refusals_end_in_an_answer() -> None:
    bad = refuses("rejected_unknown_tool", ToolCall("x", "look_again", "{}"), "look_again: there is no such tool")
    loop = Loop(REQUEST)
    loop.next()
    loop.next(results(loop.next(calls(("g", "Rome")))))
    loop.next(bad)
    loop.next(bad)
    last = asked(loop.next(bad))
    assert last.choice == Choice("none")
    run = ended(loop.next(says("It is mild in Rome.")))
    assert (run.end, run.text) == ("refused", "It is mild in Rome.")
    assert "there is no such tool" in run.why
