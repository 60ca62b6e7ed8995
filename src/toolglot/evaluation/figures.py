"""From answers to figures. Each is given twice: for the calls as the model wrote them, and for the calls as they left.

What lies between the two is the layer's doing: text rescued, calls repaired, calls refused. As the model wrote it means: in the
form that it was asked for (the server's own calls, the named dialect, the schema), with nothing mended. A call that was
refused counts as made, unless it never came to its end; one that was rescued from other text counts as not made; one that
was repaired, as not valid. What the way of asking gains (a prompt, a schema, the gate) is in both, and told beside them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import ceil, floor

import msgspec

from toolglot.core.messages import ToolCall
from toolglot.evaluation.intervals import wilson
from toolglot.evaluation.kept import Kept
from toolglot.evaluation.questions import Question
from toolglot.evaluation.score import Called, Outcome, Summary, score, summary
from toolglot.pipeline.constrain import WRITTEN_AS
from toolglot.text.json_text import loads_object

_NATIVE = "native"
_GATE = "gate:"  # how the note begins where the layer, not the model, has decided whether a call is due


class Judged(msgspec.Struct, frozen=True):
    question: Question
    kept: Kept
    written: Outcome
    left: Outcome


class Quantile(msgspec.Struct, frozen=True):
    """Of values in order the one at a share, and between which two it lies with 95 %."""

    value: float
    low: float
    high: float


class Figures(msgspec.Struct, frozen=True):
    written: Summary
    left: Summary
    median: Quantile | None  # seconds for an answer, all turns of a loop together
    p90: Quantile | None
    tokens: tuple[float, float] | None  # in and out, on average; None: no server told
    unanswered: tuple[Kept, ...]
    gated: int  # questions for which the gate has decided
    cut: int  # answers that ended at the limit of tokens
    codes: dict[str, int]  # what the layer did, the most frequent first


def judge(question: Question, kept: Kept, way: str) -> Judged:
    if kept.error is not None:
        nothing = _unanswered(question)
        return Judged(question, kept, nothing, nothing)
    left = [(call.full_name, _arguments(call)) for call in kept.calls]
    written = as_written(kept, way)
    # a loop whose calls the layer had to bring about would have ended without their results
    text = kept.text if written == left else ""
    return Judged(question, kept, score(question, written, text), score(question, left, kept.text))


def _unanswered(question: Question) -> Outcome:
    """Never right; where no call was due, it is no merit that none was made."""
    if question.no_call:
        return Outcome()
    final = None if question.loop is None else False
    return Outcome(valid=False, right_tool=False, right_arguments=False, final=final, missing=len(question.expected))


def as_written(kept: Kept, way: str) -> list[Called]:
    """The calls that a reader of the asked form alone would find."""
    own = {_NATIVE, WRITTEN_AS if way == "constrained" else way.removeprefix("dialect:")}
    held_back = [held.call for held in kept.decisions if held.code.startswith(("rejected_", "merged_repeat"))]
    made = [*kept.calls, *(call for call in held_back if call is not None and call.sealed)]
    return [(_name(call), None if call.fixes else _arguments(call)) for call in made if call.source in own]


def _name(call: ToolCall) -> str:
    return "" if "fixed_name" in call.fixes else call.full_name


def _arguments(call: ToolCall) -> dict[str, object] | None:
    return loads_object(call.arguments_json.strip() or "{}")


def figures(judged: Sequence[Judged]) -> Figures:
    answered = [one for one in judged if one.kept.error is None]
    seconds = sorted(one.kept.seconds for one in answered)
    codes = Counter(decision.code for one in answered for decision in one.kept.decisions)
    return Figures(
        summary((one.question, one.written) for one in judged),
        summary((one.question, one.left) for one in judged),
        quantile(seconds, 0.5),
        quantile(seconds, 0.9),
        _tokens(answered),
        tuple(one.kept for one in judged if one.kept.error is not None),
        sum(any(note.startswith(_GATE) for note in one.kept.notes) for one in answered),
        sum(one.kept.stop == "length" for one in answered),
        dict(sorted(codes.items(), key=lambda item: (-item[1], item[0]))),
    )


def quantile(ordered: Sequence[float], share: float) -> Quantile | None:
    """By the nearest rank; the interval is that of the rank's share, and needs no idea of how times are distributed."""
    count = len(ordered)
    if not count:
        return None
    rank = ceil(share * count)
    low, high = wilson(rank, count)
    return Quantile(ordered[rank - 1], ordered[floor(low * (count - 1))], ordered[ceil(high * (count - 1))])


def _tokens(answered: Iterable[Judged]) -> tuple[float, float] | None:
    told = [one.kept.usage for one in answered if one.kept.usage is not None and one.kept.usage.input is not None]
    if not told:
        return None
    return sum(usage.input or 0 for usage in told) / len(told), sum(usage.output or 0 for usage in told) / len(told)
