"""Sends the questions to the models in each tool mode and saves the answers. `score.py` scores them.

    python bench/ask/run.py --model smollm2 --questions 60
    python bench/ask/run.py --model qwen --questions 15            # with the line above: what `make bench` does
    python bench/ask/run.py --model qwen --ways native dialect:tagged
    python bench/ask/run.py --full                                 # both models, all modes, all questions: hours
    python bench/ask/run.py --model smollm2 --tuning 24            # other questions, for tuning prompts

Requests with a saved answer are not sent again, so an interrupted run continues. One core is used
(TOOLGLOT_LOCAL_THREADS): on a busy machine more are slower.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time

os.environ.setdefault("TOOLGLOT_LOCAL_THREADS", "1")

from trial import MODELS, MODES, SavedResponse, for_tuning, judged, mark, place, planned, read_saved, request_bytes, save, suits

from toolglot.client.transport import Limits
from toolglot.client.transports import Transports
from toolglot.evaluation.questions import Question
from toolglot.pipeline.request.plan import Plan


async def run(model: str, questions: list[Question], tool_modes: list[str], *, tuning: bool = False) -> None:
    """Question by question, so that a partial run has the same questions in all modes."""
    path = place(model, tuning=tuning)
    saved = {(row.tool_mode, row.question, row.asked) for row in read_saved(path)}
    pending: list[tuple[str, Question, Plan, bytes]] = []
    for question in questions:
        for tool_mode in tool_modes:
            if suits(tool_mode, question):
                plan = planned(model, tool_mode, question)
                body = request_bytes(plan)
                if (tool_mode, question.id, mark(body)) not in saved:
                    pending.append((tool_mode, question, plan, body))
    print(
        f"{model}: {len(pending)} to ask, {len(questions)} questions in {len(tool_modes)} modes, saved in {path}",
        file=sys.stderr,
    )
    transports = Transports()
    try:
        for number, (tool_mode, question, plan, body) in enumerate(pending, 1):
            row = await _put(transports, tool_mode, question, plan, body)
            save(path, row)
            print(
                f"{model} {number}/{len(pending)} {row.seconds:5.1f} s  {tool_mode:24} {question.id}",
                file=sys.stderr,
                flush=True,
            )
    finally:
        await transports.aclose()


async def _put(transports: Transports, tool_mode: str, question: Question, plan: Plan, body: bytes) -> SavedResponse:
    begun = time.perf_counter()
    headers = {"Content-Type": "application/json"}
    answer = await transports.send("POST", plan.route.url(False), headers, body, limits=Limits(first_byte=None, idle=None))
    try:
        data = await answer.read()
    finally:
        await answer.aclose()
    seconds = round(time.perf_counter() - begun, 2)
    return SavedResponse(
        tool_mode, question.id, mark(body), body.decode(), answer.status, data.decode("utf-8", "replace"), seconds
    )


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=list(MODELS), action="append")
    parser.add_argument("--questions", type=int, default=60, metavar="N")
    parser.add_argument("--ways", nargs="+", choices=MODES, default=list(MODES), metavar="WAY")
    parser.add_argument("--tuning", type=int, metavar="N", help="use N questions that are not among the first 60")
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    for model in options.model or MODELS:
        questions = for_tuning(options.tuning) if options.tuning else judged(None if options.full else options.questions)
        await run(model, questions, options.ways, tuning=bool(options.tuning))


if __name__ == "__main__":
    asyncio.run(main())
