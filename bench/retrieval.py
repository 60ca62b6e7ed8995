"""How well tools are ranked where a model can't take them all (pipeline/request/tool_ranking.py): `python bench/retrieval.py`.

500 tools of BFCL (from the wheel of `bfcl-eval`, fetched once), and every question whose tools are all among them. Recall@k is
the share of needed tools among the k that are kept. In BFCL one name can stand for different tools, of which one is ranked;
the second column has only the questions whose tools have the descriptions that are ranked. Questions are split in halves by
the hash of their id: constants are tuned on the first, the second is reported. Time is CPU time, with the index built before.

--tune   report the half that the constants are tuned on
--check  exit code 1 where the second column misses a target
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

sys.path += [str(Path(__file__).parent / "questions"), str(Path(__file__).parent / "rescue")]

from bfcl import questions_of
from gold import CATEGORIES, bfcl_wheel

from toolglot.core.messages import Message, Text
from toolglot.core.tools import Tool, Toolset
from toolglot.evaluation.questions import Question
from toolglot.pipeline.request.tool_ranking import most_relevant

TOOLS = 500
TARGETS = {1: 0.0, 5: 0.90, 10: 0.95}  # k and the recall to reach
SLOWEST = 1.0  # ms a question; the order of magnitude is 0.1


def questions() -> list[Question]:
    wheel = bfcl_wheel()
    return [question for category in CATEGORIES for question in questions_of(wheel, category)]


def drawn_tools(asked: Iterable[Question]) -> Toolset:
    """500 tools with different names, drawn by hash: the same in every run."""
    by_name = {tool.name: tool for question in asked for tool in question.tools}
    return Toolset(by_name[name] for name in sorted(by_name, key=_hash)[:TOOLS])


def needed(question: Question) -> set[str]:
    return {slot[0].name for slot in question.expected}


def same_tools(question: Question, tools: dict[str, Tool]) -> bool:
    own = {tool.name: tool for tool in question.tools}
    return all(name in own and own[name].description == tools[name].description for name in needed(question))


def conversation(question: Question) -> tuple[Message, ...]:
    return tuple(Message(one["role"], (Text(one["content"]),)) for one in question.messages)


def recall(asked: list[Question], tools: tuple[Tool, ...], most: int) -> float:
    shares = []
    for question in asked:
        kept, _ = most_relevant(tools, most, conversation(question), None)
        wanted = needed(question)
        shares.append(len(wanted & {tool.name for tool in kept}) / len(wanted))
    return sum(shares) / len(shares)


def milliseconds(asked: list[Question], tools: tuple[Tool, ...]) -> float:
    conversations = [conversation(question) for question in asked]
    most_relevant(tools, 10, conversations[0], None)  # builds the index
    begin = time.process_time()
    for messages in conversations:
        most_relevant(tools, 10, messages, None)
    return (time.process_time() - begin) * 1000 / len(conversations)


def _hash(text: str) -> bytes:
    return sha256(text.encode()).digest()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    every = questions()
    tools = drawn_tools(every)
    by_name = {tool.name: tool for tool in tools}
    half = 0 if options.tune else 1
    asked = [one for one in every if needed(one) and needed(one) <= by_name.keys() and _hash(one.id)[0] % 2 == half]
    same = [one for one in asked if same_tools(one, by_name)]
    figures = {most: recall(same, tools, most) for most in TARGETS}
    took = milliseconds(asked, tools)
    print(f"{len(tools)} tools   {len(asked)} questions   {len(same)} with the same tools")
    for most, figure in figures.items():
        print(f"recall@{most:<4} {recall(asked, tools, most):13.1%} {figure:16.1%}")
    print(f"{took:.2f} ms a question")
    missed = took > SLOWEST or any(figures[most] < wanted for most, wanted in TARGETS.items())
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
