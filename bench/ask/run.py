"""Puts the questions to the models, in each way of asking, and keeps what they answer. `score.py` judges.

    python bench/ask/run.py --model smollm2 --questions 60
    python bench/ask/run.py --model qwen --questions 15            # with the line above: what `make bench` does
    python bench/ask/run.py --model qwen --ways native dialect:tagged
    python bench/ask/run.py --full                                 # both models, all ways, all questions: hours
    python bench/ask/run.py --model smollm2 --tuning 24            # other questions, to try wordings on

What was asked before in the same words is not asked again: a run that was cut off goes on where it was. One core is used
(TOOLGLOT_LOCAL_THREADS): on a busy machine more are slower.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time

os.environ.setdefault("TOOLGLOT_LOCAL_THREADS", "1")

from trial import MODELS, WAYS, Kept, for_tuning, judged, keep, mark, place, planned, read_kept, request_bytes, suits

from toolglot.client.carriers import Carriers
from toolglot.client.transport import Limits
from toolglot.evaluation.questions import Question
from toolglot.pipeline.plan import Plan


async def run(model: str, questions: list[Question], ways: list[str], *, tuning: bool = False) -> None:
    """Question by question, so that what there is at any time compares all ways on the same questions."""
    path = place(model, tuning=tuning)
    there = {(row.way, row.question, row.asked) for row in read_kept(path)}
    due: list[tuple[str, Question, Plan, bytes]] = []
    for question in questions:
        for way in ways:
            if suits(way, question):
                plan = planned(model, way, question)
                body = request_bytes(plan)
                if (way, question.id, mark(body)) not in there:
                    due.append((way, question, plan, body))
    print(f"{model}: {len(due)} to ask, {len(questions)} questions in {len(ways)} ways, kept in {path}", file=sys.stderr)
    carriers = Carriers()
    try:
        for number, (way, question, plan, body) in enumerate(due, 1):
            row = await _put(carriers, way, question, plan, body)
            keep(path, row)
            print(f"{model} {number}/{len(due)} {row.seconds:5.1f} s  {way:24} {question.id}", file=sys.stderr, flush=True)
    finally:
        await carriers.aclose()


async def _put(carriers: Carriers, way: str, question: Question, plan: Plan, body: bytes) -> Kept:
    begun = time.perf_counter()
    headers = {"Content-Type": "application/json"}
    answer = await carriers.send("POST", plan.route.url(False), headers, body, limits=Limits(first_byte=None, idle=None))
    try:
        said = await answer.read()
    finally:
        await answer.aclose()
    seconds = round(time.perf_counter() - begun, 2)
    return Kept(way, question.id, mark(body), body.decode(), answer.status, said.decode("utf-8", "replace"), seconds)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=list(MODELS), action="append")
    parser.add_argument("--questions", type=int, default=60, metavar="N")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS), metavar="WAY")
    parser.add_argument("--tuning", type=int, metavar="N", help="so many questions that are not among the first 60")
    parser.add_argument("--full", action="store_true")
    given = parser.parse_args()
    for model in given.model or MODELS:
        questions = for_tuning(given.tuning) if given.tuning else judged(None if given.full else given.questions)
        await run(model, questions, given.ways, tuning=bool(given.tuning))


if __name__ == "__main__":
    asyncio.run(main())
