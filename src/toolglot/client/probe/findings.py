"""From observed replies to faults, each with its evidence and advice. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import msgspec

from toolglot.client.detection.server_facts import ServerFacts
from toolglot.client.probe.blockers import TOOLS_ADVICE, blocked, parser_advice, refused, window_advice
from toolglot.client.probe.observations import Finding, Observation, Observations
from toolglot.client.probe.parsers import VLLM
from toolglot.core.messages import ToolCall
from toolglot.core.reply import Reply
from toolglot.errors import ArgumentsError
from toolglot.pipeline.response.extract import extract
from toolglot.wires import find_wire

NATIVE = "native"
_SAME_PROMPT = 4  # tokens: a smaller difference can't be a tool
_SMALL_WINDOW = 8192  # tokens: a typical agent needs more for tools and turns

_SHOWN = 160


def findings(seen: Observations) -> tuple[Finding, ...]:
    """Grave ones first. If there was no reply at all, only the reason."""
    why = blocked(seen)
    if why is not None:
        return (why,)
    once: dict[tuple[str, str], Finding] = {}
    for check in CHECKS:
        for finding in check(seen):
            once.setdefault((finding.code, finding.tool_mode), finding)  # the first of its kind has the best evidence
    return tuple(sorted(once.values(), key=lambda finding: not finding.grave))


def _native(seen: Observations) -> list[Observation]:
    return [one for one in seen.tool_mode(NATIVE) if one.error is None and one.expects_call]


def _has_calls(reply: Reply) -> bool:
    """Whether the provider sent native calls, complete or not."""
    return any(isinstance(part, ToolCall) for part in reply.parts)


def _quoted(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ...")


# -- native tools


def tools_dropped(seen: Observations) -> Iterator[Finding]:
    """There is no native call, and evidence that the tools never reached the model."""
    asked = _native(seen)
    if not asked or any(_has_calls(one.received) or _in_text(one) for one in asked):
        return
    evidence = _not_shown(seen, asked)
    if evidence:
        yield Finding("tools_dropped", evidence, TOOLS_ADVICE, NATIVE)


def _not_shown(seen: Observations, asked: list[Observation]) -> str:
    facts = seen.server if isinstance(seen.server, ServerFacts) else None
    with_tools = asked[0].received.usage.input if asked[0].received.usage is not None else None
    reasons = []
    if facts is not None and facts.tools is False:
        reasons.append(f"{facts.endpoint} reports that its template takes no tools, and the server drops them silently")
    if with_tools is not None and seen.without_tools is not None:
        if with_tools - seen.without_tools > _SAME_PROMPT:
            return ""  # the tools are in the prompt: the model chose not to call
        reasons.append(f"the prompt has {with_tools} tokens with tools and {seen.without_tools} without")
    elif not reasons:
        other = next(
            (one.tool_mode for one in seen.replies if one.tool_mode != NATIVE and one.expects_call and one.validated.calls),
            None,
        )
        if other is not None:
            reasons.append(f"no call in {len(asked)} questions, but calls in mode {other}")
    return "; ".join(reasons)


def _in_text(one: Observation) -> str | None:
    """The dialect of a call in the text of a reply without native calls."""
    if _has_calls(one.received):
        return None
    found = extract(one.received.text, one.question.tools)
    return found.dialect if found.calls else None


def calls_in_text(seen: Observations) -> Iterator[Finding]:
    """Calls in the text of a reply. In a dialect that the server can parse, its parser is not enabled."""
    asked = _native(seen)
    dialects = Counter(dialect for one in asked if (dialect := _in_text(one)) is not None)
    if not dialects:
        return
    dialect, count = dialects.most_common(1)[0]
    text = next(one.received.text for one in asked if _in_text(one) == dialect)
    evidence = f"{count} of {len(asked)} calls were text in the dialect {dialect}: {_quoted(text)}"
    if dialect in VLLM and seen.kind in {"vllm", "llamacpp"}:
        yield Finding("parser_flag_missing", evidence, parser_advice(seen, dialect), NATIVE)
        return
    advice = "toolglot parses these calls; other clients show them as text: use toolglot, or another tool mode"
    yield Finding("calls_as_text", evidence, advice, NATIVE, grave=False)


def finish_reason_wrong(seen: Observations) -> Iterator[Finding]:
    wire = find_wire(seen.row.wire)
    reasons = wire.call_stops if wire is not None else None
    if not reasons:
        return
    for one in seen.tool_mode(NATIVE, stream=None):
        stop, has_calls = one.received.stop, _has_calls(one.received)
        if one.error is not None or stop is None or stop.reason == "length" or has_calls == (stop.raw in reasons):
            continue
        what = (
            f"there are calls, and it ended with {stop.raw!r}"
            if has_calls
            else f"there is no call, and it ended with {stop.raw!r}"
        )
        how = "streamed" if one.stream else "whole"
        advice = "toolglot ignores the finish reason; a client that relies on it never runs the calls: update the server"
        yield Finding("finish_reason_wrong", f"{what} ({how}, question {one.question.id})", advice, NATIVE, grave=False)
        return


# -- any tool mode


def stream_differs(seen: Observations) -> Iterator[Finding]:
    """The whole replies are all the same, and the streamed ones differ from them."""
    for tool_mode in seen.tool_modes:
        streams = seen.tool_mode(tool_mode, stream=True)
        if not streams:
            continue
        wholes = [one for one in seen.tool_mode(tool_mode) if one.question.id == streams[0].question.id]
        if not wholes or any(one.error is not None for one in wholes):
            continue
        keys = {content(one.received) for one in wholes}
        if len(keys) > 1 or any(one.error is None and content(one.received) in keys for one in streams):
            continue
        advice = "do not stream with tools in this mode until the server is updated, or use another mode"
        yield Finding("stream_differs", _difference(wholes[0], streams[0]), advice, tool_mode)


Content = tuple[tuple[tuple[str, str], ...], str]


def content(reply: Reply) -> Content:
    """What must be the same whether streamed or not: calls and text."""
    return tuple(
        (call.full_name, _sorted_arguments(call)) for call in reply.parts if isinstance(call, ToolCall)
    ), reply.text.strip()


def _sorted_arguments(call: ToolCall) -> str:
    try:
        return msgspec.json.encode(call.arguments, order="sorted").decode()
    except ArgumentsError:
        return call.arguments_json


def _difference(whole: Observation, stream: Observation) -> str:
    if stream.error is not None:
        return f"not streamed it works, the stream breaks: {stream.error.message}"
    calls, text = content(whole.received)
    other_calls, other_text = content(stream.received)
    if calls != other_calls:
        return f"whole: {_calls_shown(calls)}; streamed: {_calls_shown(other_calls)}"
    return f"whole: {_quoted(text)}; streamed: {_quoted(other_text)}"


def _calls_shown(calls: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(f"{name}({arguments})" for name, arguments in calls) or "no call"


# decision code -> fault and advice
_BAD_CALLS = {
    "rejected_unknown_tool": (
        "unknown_name",
        "toolglot rejects such calls; use constrained mode, which allows only known names, or send fewer tools",
    ),
    "rejected_schema": (
        "invalid_arguments",
        "toolglot rejects such calls; use constrained mode, which enforces the schema, or simplify the schema",
    ),
}
_BAD_CALLS["rejected_arguments"] = _BAD_CALLS["rejected_malformed"] = _BAD_CALLS["rejected_schema"]


def bad_calls(seen: Observations) -> Iterator[Finding]:
    """Rejected calls: unknown tools, and arguments that do not match the schema."""
    for tool_mode in seen.tool_modes:
        bad: dict[str, list[str]] = {}
        asked = [one for one in seen.tool_mode(tool_mode) if one.error is None]
        for one in asked:
            for decision in one.validated.decisions:
                if decision.code in _BAD_CALLS:
                    bad.setdefault(decision.code, []).append(decision.message)
        for code, messages in bad.items():
            name, advice = _BAD_CALLS[code]
            evidence = f"{len(messages)} in {len(asked)} questions: {messages[0]}"
            yield Finding(name, evidence, advice, tool_mode, grave=len(messages) > len(asked) / 2)


def context_too_small(seen: Observations) -> Iterator[Finding]:
    """A truncated prompt, a truncated reply, or a window that is too small for a typical agent."""
    advice, window = window_advice(seen), seen.window
    if window is not None and window.counted is not None and window.counted < window.words:
        evidence = f"a prompt of at least {window.words} tokens was silently cut to {window.counted}: tools are lost first"
        yield Finding("context_too_small", evidence, advice)
        return
    for one in seen.replies:
        written = one.received.usage.output if one.received.usage is not None else None
        cut = one.received.stop is not None and one.received.stop.reason == "length"
        if cut and one.limit is not None and written is not None and 0 < written < one.limit:
            evidence = f"a reply was cut after {written} of {one.limit} tokens (question {one.question.id})"
            yield Finding("context_too_small", evidence, advice, one.tool_mode)
            return
    note = next((note for one in seen.replies for note in one.notes if note.startswith("context:")), None)
    if note is not None:
        yield Finding("context_too_small", note.removeprefix("context: "), advice)
        return
    length = seen.server.context_length if isinstance(seen.server, ServerFacts) else None
    if length is not None and length < _SMALL_WINDOW:
        evidence = f"the server reports {length} tokens: these questions fit, an agent with a dozen tools may not"
        yield Finding("context_too_small", evidence, advice, grave=False)


CHECKS: tuple[Callable[[Observations], Iterator[Finding]], ...] = (
    refused,
    tools_dropped,
    calls_in_text,
    stream_differs,
    context_too_small,
    finish_reason_wrong,
    bad_calls,
)
