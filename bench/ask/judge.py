"""Parses saved answers as the client does, and scores them. Does no I/O except reading the saved answers."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from math import comb
from pathlib import Path
from statistics import mean, median

import msgspec
from trial import MODELS, MODES, REQUIRED, SavedResponse, mark, planned, read_saved, request_bytes

from toolglot.core.fold import fold, unfold
from toolglot.core.messages import ToolCall
from toolglot.core.reply import Reply
from toolglot.evaluation.questions import Question
from toolglot.evaluation.score import Called, Outcome, Summary, score, summary
from toolglot.io.json_codec import decode_lenient
from toolglot.pipeline.request.route import resolve
from toolglot.pipeline.request.tool_mode import choose_mode
from toolglot.pipeline.response.response_pipeline import ResponsePipeline

UNPARSED = "native, tool_calls only"  # what a client without toolglot gets from the same answers
SHOWN = (UNPARSED, *MODES)


class Judged(msgspec.Struct, frozen=True):
    question: Question
    outcome: Outcome
    tokens: tuple[int, int]  # prompt, answer
    seconds: float
    cut: bool  # the answer was cut off at the limit
    refused: bool  # the server gave an error instead


def judge_all(model: str, path: Path, questions: Iterable[Question]) -> tuple[dict[str, list[Judged]], int]:
    """Results by tool mode, in the order of SHOWN, and the number of stale answers: their request differs from today's.

    A stale answer can't be scored, because today's plan would parse it for a prompt that was never sent.
    """
    known = {question.id: question for question in questions}
    fresh: dict[tuple[str, str], SavedResponse] = {}
    stale: set[tuple[str, str]] = set()
    for row in read_saved(path):
        if row.question in known and row.tool_mode in MODES:
            same = mark(request_bytes(planned(model, row.tool_mode, known[row.question]))) == row.asked
            if same:
                fresh[row.tool_mode, row.question] = row
            else:
                stale.add((row.tool_mode, row.question))
    found: dict[str, list[Judged]] = {tool_mode: [] for tool_mode in SHOWN}
    for question in known.values():
        for tool_mode in MODES:
            saved = fresh.get((tool_mode, question.id))
            if saved is not None:
                found[tool_mode].append(_judge(model, saved, question))
                if tool_mode == "native":
                    found[UNPARSED].append(_judge(model, saved, question, parsed=False))
    return {tool_mode: rows for tool_mode, rows in found.items() if rows}, len(stale - fresh.keys())


def _judge(model: str, row: SavedResponse, question: Question, *, parsed: bool = True) -> Judged:
    if row.status >= 400:
        return Judged(question, score(question, []), (0, 0), row.seconds, cut=False, refused=True)
    reply = parse(model, row, question) if parsed else read(model, row)
    outcome = score(question, calls_of(reply), reply.text)
    usage = reply.usage
    tokens = ((usage.input or 0), (usage.output or 0)) if usage else (0, 0)
    cut = reply.stop is not None and reply.stop.reason == "length"
    return Judged(question, outcome, tokens, row.seconds, cut=cut, refused=False)


def read(model: str, row: SavedResponse) -> Reply:
    """The reply as the server sent it."""
    return resolve(MODELS[model]).wire.read_reply(decode_lenient(row.answer.encode()), None)


def parse(model: str, row: SavedResponse, question: Question) -> Reply:
    """The reply as the client returns it: calls extracted and validated."""
    ids = count()
    pipeline = ResponsePipeline(planned(model, row.tool_mode, question), make_id=lambda: f"call_{next(ids)}")
    return fold(pipeline.feed(list(unfold(read(model, row)))))


def calls_of(reply: Reply) -> list[Called]:
    return [(part.name, part.arguments) for part in reply.parts if isinstance(part, ToolCall)]


# -- many of them


def summed(rows: list[Judged]) -> Summary:
    return summary((row.question, row.outcome) for row in rows)


def spent(rows: list[Judged]) -> tuple[float, float, float]:
    """Average tokens of the prompt and of the answer, and the median seconds."""
    answered = [row for row in rows if not row.refused]
    if not answered:
        return 0.0, 0.0, 0.0
    return (
        mean(row.tokens[0] for row in answered),
        mean(row.tokens[1] for row in answered),
        median(row.seconds for row in answered),
    )


def chosen(model: str) -> str:
    """The tool mode that the profile chooses."""
    route = resolve(MODELS[model])
    return choose_mode("auto", route.profile, route.provider, None).name


def against(first: list[Judged], second: list[Judged]) -> tuple[int, int, float]:
    """On shared questions: how often only `first` is right, how often only `second`, and the p-value of the sign test."""
    right = {row.question.id: row.outcome.right for row in first}
    pairs = [(right[row.question.id], row.outcome.right) for row in second if row.question.id in right]
    better, worse = sum(one and not two for one, two in pairs), sum(two and not one for one, two in pairs)
    return better, worse, sign_test(better, worse)


def sign_test(one: int, two: int) -> float:
    """Two-sided, exact."""
    of = one + two
    return min(1.0, 2 * sum(comb(of, at) for at in range(min(one, two) + 1)) / 2**of)


def rivals(found: dict[str, list[Judged]], profile_mode: str) -> list[str]:
    """The tool modes that toolglot could choose, with at least half as many answers. Not what a client without toolglot gets,
    and not the mode in which the caller requires a call.
    """
    enough = len(found[profile_mode]) / 2
    return [
        tool_mode
        for tool_mode in found
        if tool_mode not in (profile_mode, UNPARSED, REQUIRED) and len(found[tool_mode]) >= enough
    ]
