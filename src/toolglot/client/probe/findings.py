"""From answers to faults, each with what shows it and what to do about it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import msgspec

from toolglot.client.detection.told import Told
from toolglot.client.probe.parsers import VLLM
from toolglot.client.probe.refusals import TOOLS_ADVICE, blocked, parser_advice, refused, window_advice
from toolglot.client.probe.seen import Finding, Heard, Seen
from toolglot.core.messages import ToolCall
from toolglot.core.reply import Reply
from toolglot.errors import ArgumentsError
from toolglot.pipeline.extract import extract

NATIVE = "native"
_SAME_PROMPT = 4  # tokens: so little more is no tool
_SMALL_WINDOW = 8192  # tokens: the tools and turns of a usual agent need more

# The word with which each wire ends a reply that calls; the others have none of their own for it.
CALLS_WORD = {"openai-chat": {"tool_calls", "function_call"}, "anthropic": {"tool_use"}}
_SHOWN = 160


def findings(seen: Seen) -> tuple[Finding, ...]:
    """The grave ones first; where nothing came at all, only why."""
    why = blocked(seen)
    if why is not None:
        return (why,)
    once: dict[tuple[str, str], Finding] = {}
    for check in CHECKS:
        for finding in check(seen):
            once.setdefault((finding.code, finding.way), finding)  # the first of a kind says most
    return tuple(sorted(once.values(), key=lambda finding: not finding.grave))


def _native(seen: Seen) -> list[Heard]:
    return [one for one in seen.way(NATIVE) if one.error is None and one.due]


def _called(reply: Reply) -> bool:
    """Whether the provider sent calls as calls, whole or not."""
    return any(isinstance(part, ToolCall) for part in reply.parts)


def _quoted(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ...")


# -- native tools


def tools_dropped(seen: Seen) -> Iterator[Finding]:
    """No call came natively, and the model can't have seen the tools, or plainly did not."""
    asked = _native(seen)
    if not asked or any(_called(one.said) or _in_text(one) for one in asked):
        return
    evidence = _not_shown(seen, asked)
    if evidence:
        yield Finding("tools_dropped", evidence, TOOLS_ADVICE, NATIVE)


def _not_shown(seen: Seen, asked: list[Heard]) -> str:
    told = seen.told if isinstance(seen.told, Told) else None
    with_tools = asked[0].said.usage.input if asked[0].said.usage is not None else None
    reasons = []
    if told is not None and told.tools is False:
        reasons.append(f"{told.asked} says that its template takes no tools, and the server drops them without a word")
    if with_tools is not None and seen.without_tools is not None:
        if with_tools - seen.without_tools > _SAME_PROMPT:
            return ""  # they are in the prompt: if it does not call, that is its own doing
        reasons.append(f"the prompt has {with_tools} tokens with tools and {seen.without_tools} without")
    elif not reasons:
        other = next((one.way for one in seen.heard if one.way != NATIVE and one.due and one.left.calls), None)
        if other is not None:
            reasons.append(f"no call in {len(asked)} questions, and yet it calls when asked {other}")
    return "; ".join(reasons)


def _in_text(one: Heard) -> str | None:
    """The dialect of a call that stands in the text, where none came as a call."""
    if _called(one.said):
        return None
    heard = extract(one.said.text, one.question.tools)
    return heard.dialect if heard.calls else None


def calls_in_text(seen: Seen) -> Iterator[Finding]:
    """Calls come as text. In the model's own form the server should have read them; else the model does not keep to it."""
    asked = _native(seen)
    dialects = Counter(dialect for one in asked if (dialect := _in_text(one)) is not None)
    if not dialects:
        return
    dialect, count = dialects.most_common(1)[0]
    text = next(one.said.text for one in asked if _in_text(one) == dialect)
    evidence = f"{count} of {len(asked)} calls came as text, written as {dialect}: {_quoted(text)}"
    if dialect in VLLM and seen.kind in {"vllm", "llamacpp"}:
        yield Finding("parser_flag_missing", evidence, parser_advice(seen, dialect), NATIVE)
        return
    advice = "toolglot hears these calls; a client without it prints them as text, so ask through toolglot or in another way"
    yield Finding("calls_as_text", evidence, advice, NATIVE, grave=False)


def finish_reason_wrong(seen: Seen) -> Iterator[Finding]:
    words = CALLS_WORD.get(seen.row.wire)
    if words is None:
        return
    for one in seen.way(NATIVE, stream=None):
        stop, called = one.said.stop, _called(one.said)
        if one.error is not None or stop is None or stop.reason == "length" or called == (stop.raw in words):
            continue
        what = f"calls came, and it ended with {stop.raw!r}" if called else f"no call came, and it ended with {stop.raw!r}"
        how = "streamed" if one.stream else "whole"
        advice = "toolglot follows the calls, not the word; a client that waits for the word never runs them: update the server"
        yield Finding("finish_reason_wrong", f"{what} ({how}, question {one.question.id})", advice, NATIVE, grave=False)
        return


# -- any way


def stream_differs(seen: Seen) -> Iterator[Finding]:
    """Whole answers agree among themselves, and the streamed ones are different."""
    for way in seen.ways:
        streams = seen.way(way, stream=True)
        if not streams:
            continue
        wholes = [one for one in seen.way(way) if one.question.id == streams[0].question.id]
        if not wholes or any(one.error is not None for one in wholes):
            continue
        keys = {content(one.said) for one in wholes}
        if len(keys) > 1 or any(one.error is None and content(one.said) in keys for one in streams):
            continue
        advice = "stream nothing with tools in this way until the server is updated, or let another way stream"
        yield Finding("stream_differs", _difference(wholes[0], streams[0]), advice, way)


Content = tuple[tuple[tuple[str, str], ...], str]


def content(reply: Reply) -> Content:
    """What must be the same, whole or streamed: the calls and the text."""
    return tuple((call.full_name, _even(call)) for call in reply.parts if isinstance(call, ToolCall)), reply.text.strip()


def _even(call: ToolCall) -> str:
    try:
        return msgspec.json.encode(call.arguments, order="sorted").decode()
    except ArgumentsError:
        return call.arguments_json


def _difference(whole: Heard, stream: Heard) -> str:
    if stream.error is not None:
        return f"whole it answers, and the stream breaks: {stream.error.message}"
    calls, text = content(whole.said)
    other_calls, other_text = content(stream.said)
    if calls != other_calls:
        return f"whole: {_calls_shown(calls)}; streamed: {_calls_shown(other_calls)}"
    return f"whole: {_quoted(text)}; streamed: {_quoted(other_text)}"


def _calls_shown(calls: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(f"{name}({arguments})" for name, arguments in calls) or "no call"


# a decision's code -> the fault, and what to do
_BAD_CALLS = {
    "rejected_unknown_tool": (
        "unknown_name",
        "toolglot refuses such calls; ask in a way that can't name others (constrained), or offer fewer tools",
    ),
    "rejected_schema": (
        "invalid_arguments",
        "toolglot refuses such calls; ask in a way that is held to the schema (constrained), or make the schema simpler",
    ),
}
_BAD_CALLS["rejected_arguments"] = _BAD_CALLS["rejected_malformed"] = _BAD_CALLS["rejected_schema"]


def bad_calls(seen: Seen) -> Iterator[Finding]:
    """Calls that the guard refused: tools that are not there, arguments that do not fit."""
    for way in seen.ways:
        bad: dict[str, list[str]] = {}
        asked = [one for one in seen.way(way) if one.error is None]
        for one in asked:
            for decision in one.left.decisions:
                if decision.code in _BAD_CALLS:
                    bad.setdefault(decision.code, []).append(decision.message)
        for code, messages in bad.items():
            name, advice = _BAD_CALLS[code]
            evidence = f"{len(messages)} in {len(asked)} questions: {messages[0]}"
            yield Finding(name, evidence, advice, way, grave=len(messages) > len(asked) / 2)


def context_too_small(seen: Seen) -> Iterator[Finding]:
    """A prompt that was cut, an answer that had no room, or a window in which a usual agent has none."""
    advice, room = window_advice(seen), seen.room
    if room is not None and room.counted is not None and room.counted < room.words:
        evidence = f"a prompt of at least {room.words} tokens was cut to {room.counted} without a word: tools go first"
        yield Finding("context_too_small", evidence, advice)
        return
    for one in seen.heard:
        written = one.said.usage.output if one.said.usage is not None else None
        cut = one.said.stop is not None and one.said.stop.reason == "length"
        if cut and one.limit is not None and written is not None and 0 < written < one.limit:
            evidence = f"an answer was cut after {written} of {one.limit} tokens (question {one.question.id})"
            yield Finding("context_too_small", evidence, advice, one.way)
            return
    note = next((note for one in seen.heard for note in one.notes if note.startswith("context:")), None)
    if note is not None:
        yield Finding("context_too_small", note.removeprefix("context: "), advice)
        return
    told = seen.told.context_length if isinstance(seen.told, Told) else None
    if told is not None and told < _SMALL_WINDOW:
        evidence = f"the server says {told} tokens: these questions fit, an agent with a dozen tools may not"
        yield Finding("context_too_small", evidence, advice, grave=False)


CHECKS: tuple[Callable[[Seen], Iterator[Finding]], ...] = (
    refused,
    tools_dropped,
    calls_in_text,
    stream_differs,
    context_too_small,
    finish_reason_wrong,
    bad_calls,
)
