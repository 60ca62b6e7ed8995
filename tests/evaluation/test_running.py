"""Many questions: which, how many at a time, how long it will take, and when it is hopeless."""

from __future__ import annotations

import asyncio

import pytest

from tests.evaluation.test_figures import question
from toolglot.errors import CallerError, UpstreamError
from toolglot.evaluation.files import builtin_questions
from toolglot.evaluation.questions import Question
from toolglot.evaluation.running import MAX_UNANSWERED, Progress, chosen, put_all
from toolglot.evaluation.saved_answers import SavedAnswer

TEN = [question(f"q{number}", tags=("odd" if number % 2 else "even", "all")) for number in range(10)]


class Model:
    """Each answer takes a second of a clock that only moves here."""

    def __init__(self, *failing: str) -> None:
        self.now, self.most, self.asking = 0.0, 0, 0
        self.failing, self.asked = failing, list[str]()

    def clock(self) -> float:
        return self.now

    async def ask(self, question: Question) -> SavedAnswer:
        self.asked.append(question.id)
        self.asking += 1
        self.most = max(self.most, self.asking)
        await asyncio.sleep(0)
        self.now += 1
        self.asking -= 1
        return SavedAnswer(question.id, "x", error="503" if question.id in self.failing else None)


@pytest.mark.parametrize("at_a_time", [1, 4, 50])
def test_each_is_asked_once_and_not_more_at_a_time_than_allowed(at_a_time: int) -> None:
    model = Model()
    answers = asyncio.run(put_all(TEN, model.ask, model.clock, concurrency=at_a_time))
    assert sorted(row.question for row in answers) == [one.id for one in TEN]
    assert sorted(model.asked) == [one.id for one in TEN]
    assert model.most == min(at_a_time, 10)


def test_progress_estimates_the_remaining_time() -> None:
    model, progress = Model(), list[Progress]()
    asyncio.run(put_all(TEN, model.ask, model.clock, on_progress=progress.append))
    assert [(one.done, one.of) for one in progress] == [(done, 10) for done in range(1, 11)]
    assert [one.seconds_left for one in progress] == [float(left) for left in range(9, -1, -1)]


def test_a_server_without_answers_ends_the_run() -> None:
    model = Model(*(one.id for one in TEN))
    with pytest.raises(UpstreamError, match="3 questions, and no answer to any: 503"):
        asyncio.run(put_all(TEN, model.ask, model.clock))
    assert len(model.asked) == MAX_UNANSWERED


def test_single_failures_do_not_end_the_run() -> None:
    model = Model("q1", "q2", "q3", "q4")
    answers = asyncio.run(put_all(TEN, model.ask, model.clock))
    assert [row.question for row in answers if row.error] == ["q1", "q2", "q3", "q4"]


def test_an_error_of_ask_is_raised_unchanged() -> None:
    async def wrong(_: Question) -> SavedAnswer:
        raise CallerError("no key")

    with pytest.raises(CallerError, match="no key"):
        asyncio.run(put_all(TEN, wrong, Model().clock, concurrency=3))
    assert asyncio.run(put_all([], wrong, Model().clock)) == []


def test_questions_are_chosen_by_tag_or_id_and_limited_of_each_kind_alike() -> None:
    assert [one.id for one in chosen(TEN, ["odd"])] == ["q1", "q3", "q5", "q7", "q9"]
    assert [one.id for one in chosen(TEN, ["odd", "q4"])] == ["q1", "q3", "q4", "q5", "q7", "q9"]
    few = chosen(TEN, limit=4)
    assert sorted(one.tags[0] for one in few) == ["even", "even", "odd", "odd"]
    assert few == chosen(list(reversed(TEN)), limit=4)
    assert len({one.tags[0] for one in chosen(builtin_questions(), limit=6)}) == 6


def test_unknown_tags_and_empty_selections_are_rejected() -> None:
    with pytest.raises(CallerError, match="tag or id 'od'; tags are all, even, odd"):
        chosen(TEN, ["od"])
    with pytest.raises(CallerError, match="2 questions have the id 'q3'"):
        chosen([*TEN, TEN[3]])
    with pytest.raises(CallerError, match="there are no questions"):
        chosen([])
