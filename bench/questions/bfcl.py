"""BFCL's half of the questions: `python bench/questions/bfcl.py [--draw | --check | --write FILE]`.

Only ids are kept here (bfcl.json); the questions are read out of the wheel of `bfcl-eval`, which is fetched once.

--draw   draw the ids anew and write them: for a new version of the package, not because a model fails
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

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "rescue"))  # the bench that has the wheel already

from gold import VERSION, bfcl_wheel  # noqa: E402

from toolglot.evaluation.bfcl import read_bfcl  # noqa: E402
from toolglot.evaluation.files import own_questions  # noqa: E402
from toolglot.evaluation.questions import Question, declared, spread  # noqa: E402
from toolglot.evaluation.score import score  # noqa: E402
from toolglot.text.json_text import dumps  # noqa: E402

SEED = 20261115
IDS = HERE / "bfcl.json"
SHARES = {
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
}
_MOST_TOOLS, _MOST_CHARACTERS, _SAME_TOOLS = 5, 4000, 2


def bfcl_questions() -> list[Question]:
    """The questions that were drawn, with BFCL's tools and gold."""
    kept = json.loads(IDS.read_text())
    if kept["version"] != VERSION:
        raise SystemExit(f"{IDS.name} was drawn from version {kept['version']}, and {VERSION} is here: draw anew")
    held = bfcl_wheel()
    found: list[Question] = []
    for category, ids in kept["ids"].items():
        by_id = {question.id: question for question in _category(held, category)}
        found += [by_id[id] for id in ids]
    return found


def all_questions() -> list[Question]:
    """Our half and BFCL's."""
    return [*own_questions(), *bfcl_questions()]


def some_questions(count: int) -> list[Question]:
    """So many of both halves, of each kind alike, and always the same."""
    return [*spread(own_questions(), count - count // 2), *spread(bfcl_questions(), count // 2)]


def draw() -> dict[str, list[str]]:
    """By hash, not by `random`: the same on every version of Python."""
    held = bfcl_wheel()
    return {category: _drawn(_category(held, category), count) for category, count in SHARES.items()}


def _drawn(questions: list[Question], count: int) -> list[str]:
    taken: list[str] = []
    same: Counter[str] = Counter()
    for question in sorted(questions, key=lambda one: sha256(f"{SEED}:{one.id}".encode()).digest()):
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


def _category(held: ZipFile, category: str) -> list[Question]:
    questions, answers = _texts(held, category)
    return read_bfcl(questions, answers)


def _texts(held: ZipFile, category: str) -> tuple[str, str | None]:
    name, folder = f"BFCL_v4_{category}.json", "bfcl_eval/data/"
    answers = folder + "possible_answer/" + name
    return held.read(folder + name).decode(), held.read(answers).decode() if answers in held.namelist() else None


def write(path: Path) -> None:
    """In BFCL's own form: the rows that were drawn, and their answers where BFCL has them, in a folder beside."""
    held, rows, answers = bfcl_wheel(), list[str](), list[str]()
    for category, ids in json.loads(IDS.read_text())["ids"].items():
        for text, found in zip(_texts(held, category), (rows, answers), strict=True):
            found += [line for line in (text or "").splitlines() if line.strip() and json.loads(line)["id"] in ids]
    beside = path.parent / "possible_answer" / path.name
    beside.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(rows) + "\n")
    beside.write_text("\n".join(answers) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", type=Path, metavar="FILE")
    given = parser.parse_args()
    if given.write is not None:
        write(given.write)
        return 0
    if given.draw or given.check:
        row = {"package": "bfcl-eval", "version": VERSION, "seed": SEED, "ids": draw()}
        text = json.dumps(row, indent=1) + "\n"
        if given.check:
            same = text == IDS.read_text()
            print("the same ids" if same else f"not the ids of {IDS.name}")
            return 0 if same else 1
        IDS.write_text(text)
    every = all_questions()
    for tag, count in Counter(chain.from_iterable(question.tags for question in every)).most_common():
        print(f"{count:4} {tag}")
    print(f"{len(every):4} questions, {sum('bfcl' in question.tags for question in every)} of them BFCL's")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
