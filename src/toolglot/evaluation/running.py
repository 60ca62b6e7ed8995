"""Runs many questions, some concurrently. The caller decides which model answers, and where answers are saved."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from toolglot.errors import CallerError, UpstreamError
from toolglot.evaluation.questions import Question, spread
from toolglot.evaluation.saved_answers import SavedAnswer

MAX_UNANSWERED = 3  # stop after this many questions if none got an answer: the server is down


class Progress(msgspec.Struct, frozen=True):
    done: int
    of: int
    kept: SavedAnswer
    seconds_left: float  # an estimate from the questions so far


def chosen(questions: Sequence[Question], only: Sequence[str] = (), limit: int | None = None) -> list[Question]:
    """The questions with one of the tags or ids; with a limit, a fixed selection with equal numbers of each kind."""
    ids = Counter(question.id for question in questions)
    tags = {tag for question in questions for tag in question.tags}
    for id, times in ids.items():
        if times > 1:
            raise CallerError(f"{times} questions have the id {id!r}", "questions")
    for name in only:
        if name not in ids and name not in tags:
            raise CallerError(f"no question has the tag or id {name!r}; tags are {', '.join(sorted(tags))}", "only")
    kept = [one for one in questions if not only or {*one.tags, one.id} & set(only)]
    if not kept:
        raise CallerError("there are no questions", "questions")
    return kept if limit is None else spread(kept, limit)


async def put_all(
    questions: Sequence[Question],
    ask: Callable[[Question], Awaitable[SavedAnswer]],
    clock: Callable[[], float],
    *,
    concurrency: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
) -> list[SavedAnswer]:
    """All answers, in the order of arrival. Stops if `ask` raises, or if the server answers none of the first questions."""
    waiting, answers, begun = iter(questions), list[SavedAnswer](), clock()

    def hopeless() -> bool:
        return len(answers) >= MAX_UNANSWERED and all(row.error is not None for row in answers)

    async def work() -> None:
        for question in waiting:
            if hopeless():
                return
            answers.append(await ask(question))
            if on_progress is not None:
                done, spent = len(answers), clock() - begun
                on_progress(Progress(done, len(questions), answers[-1], spent / done * (len(questions) - done)))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(questions))):
                group.create_task(work())
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    if answers and all(row.error is not None for row in answers):
        raise UpstreamError(f"{len(answers)} questions, and no answer to any: {answers[-1].error}")
    return answers
