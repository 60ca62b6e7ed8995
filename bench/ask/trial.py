"""The questions, the tool modes, and the file of saved answers. Sends nothing and scores nothing."""

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
from toolglot.evaluation.files import builtin_questions  # noqa: E402
from toolglot.evaluation.questions import Question, spread  # noqa: E402
from toolglot.pipeline.request.fit_request import fit_request  # noqa: E402
from toolglot.pipeline.request.plan import Plan  # noqa: E402
from toolglot.pipeline.request.prepare import build_request  # noqa: E402
from toolglot.pipeline.request.request_bytes import write_request_bytes  # noqa: E402
from toolglot.pipeline.request.route import WireFormat, resolve  # noqa: E402

SAVED = HERE.parents[1] / ".bench" / "ask"
MODELS = {"smollm2": "local/smollm2", "qwen": "local/qwen2.5-coder-1.5b"}
TITLES = {"smollm2": "SmolLM2-135M-Instruct, Q4_1", "qwen": "Qwen2.5-Coder-1.5B-Instruct, Q4_K_M"}
REQUIRED = "constrained, required"  # the caller requires a call; only for questions that expect one
MODES = (
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


class SavedResponse(msgspec.Struct, frozen=True):
    """The bytes of a request and of its response, so that they can be scored again."""

    tool_mode: str
    question: str
    asked: str  # the hash of the request: a changed request is sent again
    request: str
    status: int
    answer: str
    seconds: float


def judged(count: int | None = None) -> list[Question]:
    """`count` questions (or all), built-in ones and BFCL's in turn, the same number of each kind. No loops."""
    ours = spread(_single(builtin_questions()), 1000)
    others = spread(bfcl_questions(), 1000)
    both = chain.from_iterable(zip_longest(ours, others))
    return [question for question in both if question is not None][:count]


def for_tuning(count: int, judged_on: int = 60) -> list[Question]:
    """Built-in questions that are not among the scored ones."""
    taken = {question.id for question in judged(judged_on)}
    return spread((question for question in _single(builtin_questions()) if question.id not in taken), count)


def _single(questions: Iterable[Question]) -> list[Question]:
    return [question for question in questions if question.loop is None]


def suits(tool_mode: str, question: Question) -> bool:
    return tool_mode != REQUIRED or not question.no_call


def planned(model: str, tool_mode: str, question: Question) -> Plan:
    """The plan of the client's request."""
    route = resolve(MODELS[model])
    choice = "required" if tool_mode == REQUIRED else "auto"
    request: Request = build_request(question.messages, route, question.tools, tool_choice=choice, **OPTIONS)
    return fit_request(request, route, ask=tool_mode.partition(",")[0])


def request_bytes(plan: Plan) -> bytes:
    return write_request_bytes(plan.request, WireFormat(plan.route.wire, plan.route.provider.quirks), [])


def mark(request: bytes) -> str:
    return sha256(request).hexdigest()[:16]


# -- saved answers


def place(model: str, *, tuning: bool = False) -> Path:
    return SAVED / f"{model}{'.tuning' if tuning else ''}.jsonl"


def read_saved(path: Path) -> list[SavedResponse]:
    """An incomplete last line is ignored."""
    if not path.exists():
        return []
    found = []
    for line in path.read_bytes().splitlines():
        try:
            found.append(msgspec.json.decode(line, type=SavedResponse))
        except msgspec.DecodeError:
            continue
    return found


def save(path: Path, row: SavedResponse) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(msgspec.json.encode(row) + b"\n")
