"""A recorded run, told: why each call was rescued, fixed or refused, and why none was made where none was."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from toolglot.agent.record import Begun, Broke, Ended, Entry, Ran, Replied
from toolglot.agent.run import ToolRun
from toolglot.core.messages import Message, Text, ToolCall
from toolglot.core.reply import Decision, Reply, Usage
from toolglot.core.request import Request
from toolglot.errors import CallerError
from toolglot.pipeline.refusals import refusals

_BROKEN = "the run ended while the model spoke"


class CallStory(msgspec.Struct, frozen=True):
    call: ToolCall
    decisions: tuple[Decision, ...] = ()  # what was done to it before it could be run
    run: ToolRun | None = None  # None: it was never run


class Turn(msgspec.Struct, frozen=True):
    number: int
    text: str
    seconds: float
    usage: Usage | None
    calls: tuple[CallStory, ...] = ()
    refused: tuple[Decision, ...] = ()
    others: tuple[Decision, ...] = ()
    why_none: str | None = None
    notes: tuple[str, ...] = ()


class Story(msgspec.Struct, frozen=True):
    run: str
    at: float
    model: str
    question: str
    tools: tuple[str, ...]
    turns: tuple[Turn, ...]
    end: str
    why: str
    seconds: float


def tell(entries: Iterable[Entry]) -> Story:
    """The story of the entries of one run."""
    held = list(entries)
    begun = held[0] if held else None
    if not isinstance(begun, Begun):
        raise CallerError("there is no such run on record", "run")
    turns: list[Turn] = []
    end, why = "stopped", "the record breaks off here"
    for at, entry in enumerate(held):
        if isinstance(entry, Replied):
            after = held[at + 1] if at + 1 < len(held) else None
            runs = after.runs if isinstance(after, (Ran, Broke)) else ()
            turns.append(_turn(len(turns) + 1, entry.reply, entry.seconds, runs, begun.request, first=not turns))
        elif isinstance(entry, Ended):
            end, why = entry.end, entry.why
        elif isinstance(entry, Broke):
            end, why = entry.how.end, entry.how.why
            if entry.how.reply is not None:  # it was still speaking
                half = _turn(len(turns) + 1, entry.how.reply, entry.now - held[at - 1].now, (), begun.request, first=not turns)
                turns.append(msgspec.structs.replace(half, why_none=_BROKEN if half.why_none is not None else None))
    tools = tuple(tool.full_name for tool in begun.request.tools)
    question = _question(begun.request.messages)
    return Story(begun.run, begun.at, begun.request.model, question, tools, tuple(turns), end, why, held[-1].now - begun.now)


def _turn(number: int, reply: Reply, seconds: float, runs: tuple[ToolRun, ...], request: Request, *, first: bool) -> Turn:
    refused = refusals(reply)
    calls = _calls(reply, runs)
    told = {id(held) for story in calls for held in story.decisions} | {id(held) for held in refused}
    others = tuple(held for held in reply.decisions if id(held) not in told)
    why_none = None if calls or refused else _why_none(reply, request, first=first)
    return Turn(number, reply.text, seconds, reply.usage, calls, tuple(refused), others, why_none, tuple(reply.notes))


def _calls(reply: Reply, runs: tuple[ToolRun, ...]) -> tuple[CallStory, ...]:
    """Runs stand in the order of the calls: ids may have been made new, for some servers use one again."""
    whole = len(runs) == len(reply.calls)
    stories = []
    for at, call in enumerate(reply.calls):
        decisions = tuple(held for held in reply.decisions if held.call is not None and held.call.id == call.id)
        run = runs[at] if whole else next((one for one in runs if one.call.id == call.id), None)
        stories.append(CallStory(call, tuple(one for one in decisions if not one.code.startswith("rejected_")), run))
    return tuple(stories)


def _why_none(reply: Reply, request: Request, *, first: bool) -> str:
    codes = [held.code for held in reply.decisions]
    if reply.error is not None:
        return f"the answer broke off: {reply.error.message}"
    if not request.tools:
        return "there were no tools to call"
    if request.choice is not None and request.choice.mode == "none":
        return "the request forbids calls"
    if any(code.startswith("abstained_") for code in codes):
        return "the text holds what looks like a call, but not one that is being made; see below"
    if "missing_call" in codes:
        return "one was required, and the model wrote none"
    if reply.stop is not None and reply.stop.reason == "length":
        return "the answer was cut short before there was one"
    if not reply.text.strip():
        return "the model ended without a word"
    return "the model answered in words" + (", and nothing in them looks like a call" if first else "")


def _question(messages: tuple[Message, ...]) -> str:
    asked = next((message for message in reversed(messages) if message.role == "user"), None)
    return "".join(part.text for part in asked.parts if isinstance(part, Text)) if asked is not None else ""
