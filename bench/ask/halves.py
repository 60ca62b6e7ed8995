"""The questions in two halves, by their ids alone: `tune` may be worked on, of `report` only sums are looked at."""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path

QUESTIONS = Path(__file__).parents[1] / "questions"
sys.path.append(str(QUESTIONS))

from bfcl import bfcl_questions  # noqa: E402

from toolglot.evaluation.questions import Question, read_questions, spread  # noqa: E402

DRAWS, FILES = ("live", "classic"), ("unseen", "everyday")


def half(question_id: str) -> str:
    return "report" if int(sha256(question_id.encode()).hexdigest()[0], 16) % 2 else "tune"


def questions(which: str, count: int | None = None) -> list[Question]:
    """Of each kind in turn, so that the first N are like all."""
    every = [question for name in FILES for question in read_questions((QUESTIONS / f"{name}.jsonl").read_text())]
    every += [question for draw in DRAWS for question in bfcl_questions(draw)]
    return spread((question for question in every if half(question.id) == which), len(every))[:count]
