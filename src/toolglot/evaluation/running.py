"""Putting many questions, some of them at the same time. Who is asked, and where answers are kept, is the caller's."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from toolglot.errors import CallerError, UpstreamError
from toolglot.evaluation.kept import Kept
from toolglot.evaluation.questions import Question, spread

HOPELESS = 3  # questions without an answer, and none with: nobody is there


class Progress(msgspec.Struct, frozen=True):
    done: int
    of: int
    kept: Kept
    seconds_left: float  # if the rest takes as long as what is done


def chosen(questions: Sequence[Question], only: Sequence[str] = (), limit: int | None = None) -> list[Question]:
    """Those with one of the tags (or ids), and of them so many, of each kind alike; always the same ones."""
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
    ask: Callable[[Question], Awaitable[Kept]],
    clock: Callable[[], float],
    *,
    concurrency: int = 1,
    told: Callable[[Progress], None] | None = None,
) -> list[Kept]:
    """All answers, in the order they came. What `ask` raises ends it; so does a server that answers nothing at all."""
    waiting, answers, begun = iter(questions), list[Kept](), clock()

    def lost() -> bool:
        return len(answers) >= HOPELESS and all(row.error is not None for row in answers)

    async def work() -> None:
        for question in waiting:
            if lost():
                return
            answers.append(await ask(question))
            if told is not None:
                done, spent = len(answers), clock() - begun
                told(Progress(done, len(questions), answers[-1], spent / done * (len(questions) - done)))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(questions))):
                group.create_task(work())
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    if answers and all(row.error is not None for row in answers):
        raise UpstreamError(f"{len(answers)} questions, and no answer to any: {answers[-1].error}")
    return answers
