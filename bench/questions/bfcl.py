"""BFCL's questions: `python bench/questions/bfcl.py [--which bfcl | classic | live] [--draw | --check | --write FILE]`.

Three draws, of which only ids are kept here (bfcl.json, classic.json, live.json); the questions are read out of the
wheel of `bfcl-eval`, which is fetched once.

--draw   draw new ids and write them: for a new version of the package, not because a model fails
--check  draw them again and compare with the committed ones
--write  the drawn questions into a file that `toolglot eval --questions FILE` reads
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from hashlib import sha256
from itertools import chain
from pathlib import Path
from zipfile import ZipFile

import msgspec

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "rescue"))  # the bench that has the wheel already

from gold import VERSION, bfcl_wheel  # noqa: E402

from toolglot.evaluation.bfcl import read_bfcl  # noqa: E402
from toolglot.evaluation.files import builtin_questions  # noqa: E402
from toolglot.evaluation.questions import Question, declared, spread  # noqa: E402
from toolglot.evaluation.score import score  # noqa: E402
from toolglot.io.json_codec import dumps  # noqa: E402


class Draw(msgspec.Struct, frozen=True):
    """`besides`: a draw whose questions are not taken again."""

    seed: int
    shares: dict[str, int]
    besides: str | None = None


DRAWS = {
    "bfcl": Draw(
        20261115,
        {
            "simple_python": 19,
            "live_simple": 8,
            "multiple": 21,
            "live_multiple": 12,
            "parallel": 12,
            "parallel_multiple": 10,
            "live_parallel": 2,
            "live_parallel_multiple": 2,
            "irrelevance": 14,
            "live_irrelevance": 8,
        },
    ),
    "classic": Draw(  # BFCL's own categories only, in the shares of everyday.jsonl
        20261116,
        {"simple_python": 43, "multiple": 43, "parallel": 12, "parallel_multiple": 8, "irrelevance": 24},
        besides="bfcl",
    ),
    "live": Draw(  # live users' questions only
        20261118,
        {"live_simple": 30, "live_multiple": 36, "live_parallel": 9, "live_parallel_multiple": 15, "live_irrelevance": 30},
        besides="bfcl",
    ),
}
_MOST_TOOLS, _MOST_CHARACTERS, _SAME_TOOLS = 5, 4000, 2


def bfcl_questions(which: str = "bfcl") -> list[Question]:
    """The questions that were drawn, with BFCL's tools and gold."""
    kept = json.loads(_kept_in(which).read_text())
    if kept["version"] != VERSION:
        raise SystemExit(f"{which}.json was drawn from version {kept['version']}, and {VERSION} is installed: draw again")
    wheel = bfcl_wheel()
    found: list[Question] = []
    for category, ids in kept["ids"].items():
        by_id = {question.id: question for question in questions_of(wheel, category)}
        found += [by_id[id] for id in ids]
    return found


def all_questions(which: str = "bfcl") -> list[Question]:
    """Our half and BFCL's."""
    return [*builtin_questions(), *bfcl_questions(which)]


def some_questions(count: int) -> list[Question]:
    """So many of both halves, of each kind alike, and always the same."""
    return [*spread(builtin_questions(), count - count // 2), *spread(bfcl_questions(), count // 2)]


def draw(which: str) -> dict[str, list[str]]:
    """By hash, not by `random`: the same on every version of Python."""
    wheel, own = bfcl_wheel(), DRAWS[which]
    before = set(chain.from_iterable(draw(own.besides).values())) if own.besides is not None else set[str]()
    found = {category: [one for one in questions_of(wheel, category) if one.id not in before] for category in own.shares}
    return {category: _drawn(found[category], count, own.seed) for category, count in own.shares.items()}


def _drawn(questions: list[Question], count: int, seed: int) -> list[str]:
    taken: list[str] = []
    same: Counter[str] = Counter()
    for question in sorted(questions, key=lambda one: sha256(f"{seed}:{one.id}".encode()).digest()):
        tools = ",".join(sorted(tool.name for tool in question.tools))
        if len(taken) < count and same[tools] < _SAME_TOOLS and _fair(question):
            same[tools] += 1
            taken.append(question.id)
    if len(taken) < count:
        raise SystemExit(f"only {len(taken)} of {count} questions can be used")
    return taken


def _fair(question: Question) -> bool:
    """A few tools that fit a small model's window, and a gold that fits them. Nothing is known here of any model."""
    if len(question.tools) > _MOST_TOOLS or len(dumps([tool.schema for tool in question.tools])) > _MOST_CHARACTERS:
        return False
    tools = {tool.name: tool for tool in question.tools}
    known = all(declared(tools[name], key) for name, arguments in question.gold for key in arguments if name in tools)
    return bool(tools) and known and (question.no_call or score(question, question.gold).right)


def questions_of(wheel: ZipFile, category: str) -> list[Question]:
    questions, answers = _texts(wheel, category)
    return read_bfcl(questions, answers)


def _texts(wheel: ZipFile, category: str) -> tuple[str, str | None]:
    name, folder = f"BFCL_v4_{category}.json", "bfcl_eval/data/"
    answers = folder + "possible_answer/" + name
    return wheel.read(folder + name).decode(), wheel.read(answers).decode() if answers in wheel.namelist() else None


def _kept_in(which: str) -> Path:
    return HERE / f"{which}.json"


def write(which: str, path: Path) -> None:
    """In BFCL's own form: the rows that were drawn, and their answers where BFCL has them, in a folder beside."""
    wheel, rows, answers = bfcl_wheel(), list[str](), list[str]()
    for category, ids in json.loads(_kept_in(which).read_text())["ids"].items():
        for text, found in zip(_texts(wheel, category), (rows, answers), strict=True):
            found += [line for line in (text or "").splitlines() if line.strip() and json.loads(line)["id"] in ids]
    beside = path.parent / "possible_answer" / path.name
    beside.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(rows) + "\n")
    beside.write_text("\n".join(answers) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--which", choices=list(DRAWS), default="bfcl", help="which draw")
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", type=Path, metavar="FILE")
    options = parser.parse_args()
    if options.write is not None:
        write(options.which, options.write)
        return 0
    if options.draw or options.check:
        row = {"package": "bfcl-eval", "version": VERSION, "seed": DRAWS[options.which].seed, "ids": draw(options.which)}
        text = json.dumps(row, indent=1) + "\n"
        if options.check:
            same = text == _kept_in(options.which).read_text()
            print("the same ids" if same else f"not the ids of {options.which}.json")
            return 0 if same else 1
        _kept_in(options.which).write_text(text)
    every = all_questions(options.which)
    for tag, count in Counter(chain.from_iterable(question.tags for question in every)).most_common():
        print(f"{count:4} {tag}")
    print(f"{len(every):4} questions, {sum('bfcl' in question.tags for question in every)} of them BFCL's")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
