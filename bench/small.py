"""The embedded model, and what the layer adds to it: `python bench/small.py [--set fresh] [--ways plain layer] [--show]`.

Prints shares with Wilson's 95 % intervals, for the questions that gate and values were tuned on and those that were never
looked at (a quarter, by the hash of the id; of BFCL's that are drawn none was). What was asked before in the same words is
not asked again. One core is used.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

os.environ.setdefault("TOOLGLOT_LOCAL_THREADS", "1")
HERE = Path(__file__).parent
sys.path.append(str(HERE / "questions"))

import msgspec  # noqa: E402
from bfcl import DRAWS, bfcl_questions  # noqa: E402

from toolglot.client.carriers import Carriers  # noqa: E402
from toolglot.client.exchange import new_call_id, sending, whole  # noqa: E402
from toolglot.client.transport import Answer, Limits, Transport  # noqa: E402
from toolglot.core.fold import fold  # noqa: E402
from toolglot.core.reply import Reply  # noqa: E402
from toolglot.errors import UpstreamError  # noqa: E402
from toolglot.evaluation.files import own_questions  # noqa: E402
from toolglot.evaluation.questions import Question, read_questions  # noqa: E402
from toolglot.evaluation.score import Called, Outcome, score, summary  # noqa: E402
from toolglot.pipeline.doubting_answers import answers_to  # noqa: E402
from toolglot.pipeline.fit import fit  # noqa: E402
from toolglot.pipeline.plan import Plan  # noqa: E402
from toolglot.pipeline.prepare import read_question  # noqa: E402
from toolglot.pipeline.route import resolve  # noqa: E402

MODEL = "local/smollm2"
KEPT = HERE.parent / ".bench" / "small.jsonl"
OPTIONS: dict[str, Any] = {"temperature": 0, "seed": 7, "max_tokens": 400}
MOST_TURNS = 4
LIMITS = Limits(first_byte=None, idle=None)
OTHERS = ("fresh", "everyday", "tongues")  # by other authors, and in other languages
UNSEEN = {"bfcl", *OTHERS}
MEASURES = ("valid", "right_tool", "right_arguments", "false_calls")


class Kept(msgspec.Struct, frozen=True):
    asked: str
    status: int
    answer: str


class Remembering:
    """A transport that asks nothing twice."""

    def __init__(self, inner: Transport, path: Path) -> None:
        self._inner, self._path = inner, path
        self._kept: dict[str, Kept] = {}
        for line in path.read_bytes().splitlines() if path.exists() else ():
            try:
                row = msgspec.json.decode(line, type=Kept)
            except msgspec.DecodeError:  # the last line, cut off
                continue
            self._kept[row.asked] = row

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", *, limits: Limits = LIMITS
    ) -> Answer:
        asked = sha256(f"{method} {url} ".encode() + body).hexdigest()[:24]
        if asked not in self._kept:
            answer = await self._inner.send(method, url, headers, body, limits=limits)
            try:
                said = await answer.read()
            finally:
                await answer.aclose()
            self._keep(Kept(asked, answer.status, said.decode("utf-8", "replace")))
        return Ready(self._kept[asked])

    def _keep(self, row: Kept) -> None:
        self._kept[row.asked] = row
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(row) + b"\n")

    async def aclose(self) -> None:
        await self._inner.aclose()


class Ready:
    headers: Mapping[str, str] = {"content-type": "application/json"}

    def __init__(self, kept: Kept) -> None:
        self.status, self._body = kept.status, kept.answer.encode()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body

    async def read(self) -> bytes:
        return self._body

    async def aclose(self) -> None:
        return


class Told(msgspec.Struct, frozen=True):
    """A question, what came of it, and how it was asked first."""

    question: Question
    calls: list[Called]
    outcome: Outcome
    notes: tuple[str, ...]
    free: tuple[int, int] | None = None  # of the first turn: tools beyond one for each call, and values that were left open


def planned(way: str, question: Question, messages: list[Any]) -> Plan:
    """`plain`: a call is required, and nothing is known of the model. `layer`: as the client asks it."""
    route = resolve(MODEL)
    if way == "plain":
        route = msgspec.structs.replace(route, profile=msgspec.structs.replace(route.profile, decides=True))
    forced = way != "layer" and messages[-1]["role"] != "tool"
    request = read_question(messages, route, question.tools, tool_choice="required" if forced else "auto", **OPTIONS)
    return fit(request, route)


async def ask(transport: Transport, way: str, question: Question) -> Told:
    messages = list(question.messages)
    calls: list[Called] = []
    notes: tuple[str, ...] = ()
    free: tuple[int, int] | None = None
    text = ""
    for turn in range(MOST_TURNS if question.loop is not None else 1):
        plan = planned(way, question, messages)
        if not turn:
            notes = plan.notes
            free = left_open(plan.request.output.schema) if plan.request.output is not None else None
        try:
            answers = answers_to(plan, "balanced", "hold", new_call_id)
            reply: Reply = fold(await whole(sending(plan, transport, {}, LIMITS), answers))
        except UpstreamError as error:
            notes += (f"FAILED: {error.message}",)
            break
        text = reply.text
        if not reply.calls:
            break
        calls += [(call.full_name, call.arguments) for call in reply.calls]
        messages += _turn(question, reply, turn)
    return Told(question, calls, score(question, calls, text), notes, free)


def _turn(question: Question, reply: Reply, turn: int) -> list[Any]:
    """The calls and their results, as OpenAI's chat API has them."""
    made = [(f"call_{turn}_{at}", call) for at, call in enumerate(reply.calls)]
    said = [{"id": id, "type": "function", "function": {"name": c.name, "arguments": c.arguments_json}} for id, c in made]
    results = [{"role": "tool", "tool_call_id": id, "content": question.result_of(call.name)} for id, call in made]
    return [{"role": "assistant", "content": None, "tool_calls": said}, *results]


def others_questions(name: str) -> list[Question]:
    read = read_questions((HERE / "questions" / f"{name}.jsonl").read_text())
    return [msgspec.structs.replace(question, tags=(*question.tags, name)) for question in read]


def unseen(question: Question) -> bool:
    """Whether it was kept from those who tuned: a quarter of ours, all of BFCL's that are drawn, and the other author's."""
    return not UNSEEN.isdisjoint(question.tags) or sha256(question.id.encode()).digest()[0] % 4 == 3


def table(told: dict[str, list[Told]]) -> str:
    lines = [f"| how | questions | {' | '.join(MEASURES)} |", f"|{'---|' * (2 + len(MEASURES))}"]
    for way, rows in told.items():
        for name, part in {"tuned on": [False], "not looked at": [True], "all": [False, True]}.items():
            held = [(row.question, row.outcome) for row in rows if unseen(row.question) in part]
            if held and (name != "all" or len(held) == len(rows)):
                found = summary(held).overall
                lines.append(f"| {way} | {name}, {len(held)} | {' | '.join(str(found[key]) for key in MEASURES)} |")
    return "\n".join(lines)


def by_the_layer(told: list[Told]) -> str:
    """How much the model had to choose."""
    asked = [row.free for row in told if row.free is not None]
    alone = sum(not choices for choices, _ in asked)
    fixed = sum(free == (0, 0) for free in asked)
    return f"{len(asked)} asked for calls: one tool for each call in {alone}, and no value left open either in {fixed}"


def left_open(schema: Any) -> tuple[int, int]:
    """Choices between tools, and plain values that may be more than one thing."""
    if not isinstance(schema, dict):
        return 0, 0
    forms = [*schema.get("anyOf", ()), *schema.get("prefixItems", ()), *(schema.get("properties") or {}).values()]
    forms += [schema["items"]] if "items" in schema else []
    inner = [left_open(form) for form in forms]
    plain = not forms and schema.get("type") != "object" and len(schema.get("enum", (0, 0))) > 1
    choices = sum(one for one, _ in inner) + (len(schema.get("anyOf", ())) > 1)
    return choices, sum(one for _, one in inner) + plain


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=["own", *DRAWS, *OTHERS], default="own", help="which questions (bench/questions)")
    parser.add_argument("--ways", nargs="+", choices=["plain", "required", "layer"], default=["plain", "required", "layer"])
    parser.add_argument("--show", action="store_true", help="what went wrong with those that are tuned on")
    given = parser.parse_args()
    questions = (
        bfcl_questions(given.set)
        if given.set in DRAWS
        else others_questions(given.set)
        if given.set in OTHERS
        else own_questions()
    )
    transport = Remembering(Carriers(), KEPT)
    told: dict[str, list[Told]] = {}
    try:
        for way in given.ways:
            told[way] = [await ask(transport, way, question) for question in questions]
    finally:
        await transport.aclose()
    for row in [row for rows in told.values() for row in rows if given.show and not unseen(row.question)]:
        if not row.outcome.right:
            print(row.question.id, row.calls, row.notes, sep="\n    ")
    print(table(told))
    for way, rows in told.items():
        print(f"{way}: {by_the_layer(rows)}")


if __name__ == "__main__":
    asyncio.run(main())
