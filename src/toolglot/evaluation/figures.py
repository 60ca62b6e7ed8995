"""From answers to figures. Each figure exists twice: for the calls as the model wrote them, and as toolglot emitted them.

The difference is what toolglot does: it recovers calls from text, repairs calls, and rejects calls. "As the model wrote it"
means: in the requested format (native calls, the named dialect, the schema) and without repairs. A rejected call counts as
made, unless it is incomplete; a call recovered from other text counts as not made; a repaired call counts as invalid. The
effect of the tool mode (a prompt, a schema) is in both, and the report says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import ceil, floor

import msgspec

from toolglot.core.messages import ToolCall
from toolglot.evaluation.intervals import wilson
from toolglot.evaluation.questions import Question
from toolglot.evaluation.saved_answers import SavedAnswer
from toolglot.evaluation.score import Called, Outcome, Summary, score, summary
from toolglot.io.json_codec import loads_object
from toolglot.pipeline.request.constrained import CALL_DIALECT

_NATIVE = "native"


class Judged(msgspec.Struct, frozen=True):
    question: Question
    kept: SavedAnswer
    written: Outcome
    left: Outcome


class Quantile(msgspec.Struct, frozen=True):
    """A quantile of sorted values, with its 95 % interval."""

    value: float
    low: float
    high: float


class Figures(msgspec.Struct, frozen=True):
    written: Summary
    left: Summary
    median: Quantile | None  # seconds for an answer, all turns of a loop together
    p90: Quantile | None
    tokens: tuple[float, float] | None  # input and output, on average; None: not reported
    unanswered: tuple[SavedAnswer, ...]
    cut: int  # answers that ended at the token limit
    codes: dict[str, int]  # toolglot's decisions, the most frequent first


def judge(question: Question, kept: SavedAnswer, tool_mode: str) -> Judged:
    if kept.error is not None:
        nothing = _unanswered(question)
        return Judged(question, kept, nothing, nothing)
    left = [(call.full_name, _arguments(call)) for call in kept.calls]
    written = as_written(kept, tool_mode)
    # if toolglot changed the calls of a loop, the model would not have seen their results without it
    text = kept.text if written == left else ""
    return Judged(question, kept, score(question, written, text), score(question, left, kept.text))


def _unanswered(question: Question) -> Outcome:
    """Never right, also if no call was expected."""
    if question.no_call:
        return Outcome()
    final = None if question.loop is None else False
    return Outcome(valid=False, right_tool=False, right_arguments=False, final=final, missing=len(question.expected))


def as_written(kept: SavedAnswer, tool_mode: str) -> list[Called]:
    """The calls that a parser of only the requested format would find."""
    requested_formats = {_NATIVE, CALL_DIALECT if tool_mode == "constrained" else tool_mode.removeprefix("dialect:")}
    rejected = [decision.call for decision in kept.decisions if decision.code.startswith(("rejected_", "duplicate_call"))]
    calls = [*kept.calls, *(call for call in rejected if call is not None and call.sealed)]
    return [(_name(call), None if call.fixes else _arguments(call)) for call in calls if call.source in requested_formats]


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
        sum(one.kept.stop == "length" for one in answered),
        dict(sorted(codes.items(), key=lambda item: (-item[1], item[0]))),
    )


def quantile(ordered: Sequence[float], share: float) -> Quantile | None:
    """By the nearest rank. The interval is that of the rank's share, so it needs no assumption about the distribution."""
    count = len(ordered)
    if not count:
        return None
    rank = ceil(share * count)
    low, high = wilson(rank, count)
    return Quantile(ordered[rank - 1], ordered[floor(low * (count - 1))], ordered[ceil(high * (count - 1))])


def _tokens(answered: Iterable[Judged]) -> tuple[float, float] | None:
    usages = [one.kept.usage for one in answered if one.kept.usage is not None and one.kept.usage.input is not None]
    if not usages:
        return None
    return sum(usage.input or 0 for usage in usages) / len(usages), sum(usage.output or 0 for usage in usages) / len(usages)
