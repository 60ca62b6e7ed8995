"""A report on a recorded run: why each call was rescued, fixed or rejected, and why a turn has no call."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from toolglot.agent.record import Entry, ModelReplied, RunEnded, RunInterrupted, RunStarted, ToolsRan
from toolglot.agent.run import ToolRun
from toolglot.core.messages import Message, Text, ToolCall
from toolglot.core.reply import Decision, Reply, Usage
from toolglot.core.request import Request
from toolglot.errors import CallerError
from toolglot.pipeline.request.retry_feedback import rejections

_INTERRUPTED = "the run ended during the reply"


class CallReport(msgspec.Struct, frozen=True):
    call: ToolCall
    decisions: tuple[Decision, ...] = ()
    run: ToolRun | None = None  # None: not run


class TurnReport(msgspec.Struct, frozen=True):
    number: int
    text: str
    seconds: float
    usage: Usage | None
    calls: tuple[CallReport, ...] = ()
    refused: tuple[Decision, ...] = ()
    others: tuple[Decision, ...] = ()
    why_none: str | None = None
    notes: tuple[str, ...] = ()


class RunReport(msgspec.Struct, frozen=True):
    run: str
    at: float
    model: str
    question: str
    tools: tuple[str, ...]
    turns: tuple[TurnReport, ...]
    end: str
    why: str
    seconds: float


def build_report(entries: Iterable[Entry]) -> RunReport:
    """`entries` are those of one run."""
    steps = list(entries)
    start = steps[0] if steps else None
    if not isinstance(start, RunStarted):
        raise CallerError("there is no such run in the record", "run")
    turns: list[TurnReport] = []
    end, why = "stopped", "the record ends here"
    for at, entry in enumerate(steps):
        if isinstance(entry, ModelReplied):
            after = steps[at + 1] if at + 1 < len(steps) else None
            runs = after.runs if isinstance(after, (ToolsRan, RunInterrupted)) else ()
            turns.append(_turn(len(turns) + 1, entry.reply, entry.seconds, runs, start.request, first=not turns))
        elif isinstance(entry, RunEnded):
            end, why = entry.end, entry.why
        elif isinstance(entry, RunInterrupted):
            end, why = entry.how.end, entry.how.why
            if entry.how.reply is not None:  # interrupted during the reply
                seconds = entry.now - steps[at - 1].now
                partial = _turn(len(turns) + 1, entry.how.reply, seconds, (), start.request, first=not turns)
                turns.append(msgspec.structs.replace(partial, why_none=_INTERRUPTED if partial.why_none is not None else None))
    tools = tuple(tool.full_name for tool in start.request.tools)
    question = _question(start.request.messages)
    return RunReport(
        start.run, start.at, start.request.model, question, tools, tuple(turns), end, why, steps[-1].now - start.now
    )


def _turn(number: int, reply: Reply, seconds: float, runs: tuple[ToolRun, ...], request: Request, *, first: bool) -> TurnReport:
    rejected = rejections(reply)
    calls = _calls(reply, runs)
    covered = {id(one) for report in calls for one in report.decisions} | {id(one) for one in rejected}
    others = tuple(one for one in reply.decisions if id(one) not in covered)
    why_none = None if calls or rejected else _why_none(reply, request, first=first)
    return TurnReport(number, reply.text, seconds, reply.usage, calls, tuple(rejected), others, why_none, tuple(reply.notes))


def _calls(reply: Reply, runs: tuple[ToolRun, ...]) -> tuple[CallReport, ...]:
    """Matches runs by order if all calls ran: an id in the run may differ, because some servers reuse ids."""
    all_ran = len(runs) == len(reply.calls)
    reports = []
    for at, call in enumerate(reply.calls):
        decisions = tuple(one for one in reply.decisions if one.call is not None and one.call.id == call.id)
        run = runs[at] if all_ran else next((one for one in runs if one.call.id == call.id), None)
        reports.append(CallReport(call, tuple(one for one in decisions if not one.code.startswith("rejected_")), run))
    return tuple(reports)


def _why_none(reply: Reply, request: Request, *, first: bool) -> str:
    codes = [one.code for one in reply.decisions]
    if reply.error is not None:
        return f"the answer was interrupted: {reply.error.message}"
    if not request.tools:
        return "there were no tools to call"
    if request.choice is not None and request.choice.mode == "none":
        return "the request forbids calls"
    if "quoted" in codes or "in_reasoning" in codes:
        return "the text has what looks like a call, but it is quoted or in the reasoning; see below"
    if "missing_call" in codes:
        return "a call was required, but the model wrote none"
    if reply.stop is not None and reply.stop.reason == "length":
        return "the answer was cut off at the token limit"
    if not reply.text.strip():
        return "the model's reply was empty"
    return "the model answered with text" + (", and nothing in it looks like a call" if first else "")


def _question(messages: tuple[Message, ...]) -> str:
    message = next((message for message in reversed(messages) if message.role == "user"), None)
    return "".join(part.text for part in message.parts if isinstance(part, Text)) if message is not None else ""
