"""Kept answers, heard as the client hears them, and scored. Pure but for reading what is kept."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from math import comb
from pathlib import Path
from statistics import mean, median

import msgspec
from trial import MODELS, REQUIRED, WAYS, Kept, mark, planned, read_kept, request_bytes

from toolglot.core.fold import fold, unfold
from toolglot.core.messages import ToolCall
from toolglot.core.reply import Reply
from toolglot.evaluation.questions import Question
from toolglot.evaluation.score import Called, Outcome, Summary, score, summary
from toolglot.pipeline.answers import Answers
from toolglot.pipeline.route import resolve
from toolglot.pipeline.ways import choose_way
from toolglot.text.json_text import decode_leniently

UNHEARD = "native, tool_calls only"  # what a client without toolglot sees of the same answers
SHOWN = (UNHEARD, *WAYS)


class Judged(msgspec.Struct, frozen=True):
    question: Question
    outcome: Outcome
    tokens: tuple[int, int]  # of the prompt, of the answer
    seconds: float
    cut: bool  # the answer was cut off at the limit
    refused: bool  # the server gave an error instead


def judge_all(model: str, path: Path, questions: Iterable[Question]) -> tuple[dict[str, list[Judged]], int]:
    """By way, in the order of SHOWN; and how many answers are left out, being to another request than would be sent today.

    Such an answer can't be judged: heard by today's plan it would be credited with what was never asked.
    """
    known = {question.id: question for question in questions}
    fresh: dict[tuple[str, str], Kept] = {}
    stale: set[tuple[str, str]] = set()
    for row in read_kept(path):
        if row.question in known and row.way in WAYS:
            same = mark(request_bytes(planned(model, row.way, known[row.question]))) == row.asked
            if same:
                fresh[row.way, row.question] = row
            else:
                stale.add((row.way, row.question))
    found: dict[str, list[Judged]] = {way: [] for way in SHOWN}
    for question in known.values():
        for way in WAYS:
            row_kept = fresh.get((way, question.id))
            if row_kept is not None:
                found[way].append(_judge(model, row_kept, question))
                if way == "native":
                    found[UNHEARD].append(_judge(model, row_kept, question, heard=False))
    return {way: rows for way, rows in found.items() if rows}, len(stale - fresh.keys())


def _judge(model: str, row: Kept, question: Question, *, heard: bool = True) -> Judged:
    if row.status >= 400:
        return Judged(question, score(question, []), (0, 0), row.seconds, cut=False, refused=True)
    reply = hear(model, row, question) if heard else read(model, row)
    outcome = score(question, calls_of(reply), reply.text)
    usage = reply.usage
    tokens = ((usage.input or 0), (usage.output or 0)) if usage else (0, 0)
    cut = reply.stop is not None and reply.stop.reason == "length"
    return Judged(question, outcome, tokens, row.seconds, cut=cut, refused=False)


def read(model: str, row: Kept) -> Reply:
    """As the server gave it."""
    return resolve(MODELS[model]).wire.read_reply(decode_leniently(row.answer.encode()), None)


def hear(model: str, row: Kept, question: Question) -> Reply:
    """As it leaves the client: text heard, calls guarded."""
    ids = count()
    answers = Answers(planned(model, row.way, question), make_id=lambda: f"call_{next(ids)}")
    return fold([left for event in unfold(read(model, row)) for left in answers.feed(event)] + answers.close())


def calls_of(reply: Reply) -> list[Called]:
    return [(part.name, part.arguments) for part in reply.parts if isinstance(part, ToolCall)]


# -- many of them


def summed(rows: list[Judged]) -> Summary:
    return summary((row.question, row.outcome) for row in rows)


def spent(rows: list[Judged]) -> tuple[float, float, float]:
    """Tokens of the prompt and of the answer on average; seconds, the median."""
    answered = [row for row in rows if not row.refused]
    if not answered:
        return 0.0, 0.0, 0.0
    return (
        mean(row.tokens[0] for row in answered),
        mean(row.tokens[1] for row in answered),
        median(row.seconds for row in answered),
    )


def chosen(model: str) -> str:
    """The way that the profile takes of itself."""
    route = resolve(MODELS[model])
    return choose_way("auto", route.profile, route.provider, None).name


def against(own: list[Judged], other: list[Judged]) -> tuple[int, int, float]:
    """On the questions that both were asked: how often only `own` is right, how often only `other`, and the sign test's p."""
    held = {row.question.id: row.outcome.right for row in own}
    pairs = [(held[row.question.id], row.outcome.right) for row in other if row.question.id in held]
    better, worse = sum(one and not two for one, two in pairs), sum(two and not one for one, two in pairs)
    return better, worse, sign_test(better, worse)


def sign_test(one: int, two: int) -> float:
    """Two-sided, exact."""
    of = one + two
    return min(1.0, 2 * sum(comb(of, at) for at in range(min(one, two) + 1)) / 2**of)


def rivals(found: dict[str, list[Judged]], own: str) -> list[str]:
    """The ways that the layer could choose, if asked at least half as often: not what a client without it sees, nor what
    needs the caller's word.
    """
    enough = len(found[own]) / 2
    return [way for way in found if way not in (own, UNHEARD, REQUIRED) and len(found[way]) >= enough]
