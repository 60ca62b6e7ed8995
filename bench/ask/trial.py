"""What is asked, in which ways, and where the answers are kept. Neither asks nor judges."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from hashlib import sha256
from itertools import chain, zip_longest
from pathlib import Path

import msgspec

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "questions"))

from bfcl import bfcl_questions  # noqa: E402

from toolglot.core.request import Request  # noqa: E402
from toolglot.evaluation.files import own_questions  # noqa: E402
from toolglot.evaluation.questions import Question, spread  # noqa: E402
from toolglot.pipeline.fit import fit  # noqa: E402
from toolglot.pipeline.plan import Plan  # noqa: E402
from toolglot.pipeline.prepare import read_question  # noqa: E402
from toolglot.pipeline.route import Speech, resolve  # noqa: E402
from toolglot.pipeline.translate import write_request_bytes  # noqa: E402

KEPT = HERE.parents[1] / ".bench" / "ask"
MODELS = {"smollm2": "local/smollm2", "qwen": "local/qwen2.5-coder-1.5b"}
TITLES = {"smollm2": "SmolLM2-135M-Instruct, Q4_1", "qwen": "Qwen2.5-Coder-1.5B-Instruct, Q4_K_M"}
REQUIRED = "constrained, required"  # the caller says that a call is due; put only where one is
WAYS = (
    "native",
    "constrained",
    "dialect:hermes",
    "dialect:tagged",
    "dialect:fenced_json",
    "dialect:bare_json",
    "dialect:pythonic",
    "dialect:call_expression",
    REQUIRED,
)
OPTIONS = {"temperature": 0, "seed": 7, "max_tokens": 200}


class Kept(msgspec.Struct, frozen=True):
    """A question as it was put, and what came back: the bytes of both, so that judging can be done again."""

    way: str
    question: str
    asked: str  # the hash of the request: another wording is another question
    request: str
    status: int
    answer: str
    seconds: float


def judged(count: int | None = None) -> list[Question]:
    """So many (or all), of our half and of BFCL's in turn, of each kind alike. Loops take several turns: not here."""
    own = spread(_single(own_questions()), 1000)
    others = spread(bfcl_questions(), 1000)
    both = chain.from_iterable(zip_longest(own, others))
    return [question for question in both if question is not None][:count]


def for_tuning(count: int, judged_on: int = 60) -> list[Question]:
    """Others of ours, of which none is among those that wordings are judged by."""
    taken = {question.id for question in judged(judged_on)}
    return spread((question for question in _single(own_questions()) if question.id not in taken), count)


def _single(questions: Iterable[Question]) -> list[Question]:
    return [question for question in questions if question.loop is None]


def suits(way: str, question: Question) -> bool:
    return way != REQUIRED or not question.no_call


def planned(model: str, way: str, question: Question) -> Plan:
    """As the client asks it."""
    route = resolve(MODELS[model])
    choice = "required" if way == REQUIRED else "auto"
    request: Request = read_question(question.messages, route, question.tools, tool_choice=choice, **OPTIONS)
    return fit(request, route, ask=way.partition(",")[0])


def request_bytes(plan: Plan) -> bytes:
    return write_request_bytes(plan.request, Speech(plan.route.wire, plan.route.provider.quirks), [])


def mark(request: bytes) -> str:
    return sha256(request).hexdigest()[:16]


# -- what is kept


def place(model: str, *, tuning: bool = False) -> Path:
    return KEPT / f"{model}{'.tuning' if tuning else ''}.jsonl"


def read_kept(path: Path) -> list[Kept]:
    """A last line that was cut off is no answer."""
    if not path.exists():
        return []
    found = []
    for line in path.read_bytes().splitlines():
        try:
            found.append(msgspec.json.decode(line, type=Kept))
        except msgspec.DecodeError:
            continue
    return found


def keep(path: Path, row: Kept) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(msgspec.json.encode(row) + b"\n")
