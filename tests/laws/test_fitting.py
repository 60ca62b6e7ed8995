"""The way there and back: what is fitted stays callable, and what comes back is whole, in order, and guarded."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.laws.conversations import CASES, PAIRS, events, meaning, pieces, stream
from tests.laws.losses import differences
from toolglot.catalog.providers import providers
from toolglot.core.event_order import first_order_error
from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.fold import fold, unfold
from toolglot.core.messages import ToolCall
from toolglot.core.reply import Reply, Stop
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool, Toolset
from toolglot.errors import UpstreamError
from toolglot.pipeline.request.fit_request import fit_request
from toolglot.pipeline.request.plan import Plan
from toolglot.pipeline.request.request_bytes import write_request_bytes
from toolglot.pipeline.request.route import WireFormat, resolve
from toolglot.pipeline.response.response_pipeline import ResponsePipeline
from toolglot.pipeline.response.restore_names import restore_reply
from toolglot.wires import NAMES

# a provider for each wire
SPEAKS = {**{wire: wire for wire in NAMES}, "ollama": "ollama-cloud", "openai-chat": "openai"}
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
TOOLS = Toolset([Tool("get_weather", "The weather", CITY), Tool("get_time", "The time", CITY)])


def answered(plan: Plan, upstream: list[Event], **how: Any) -> list[Event]:
    pipeline = ResponsePipeline(plan, **how)
    return [event for one in upstream for event in pipeline.feed([one])]


def planned(case: str, wire: str) -> Plan:
    return fit_request(meaning(case).request, resolve(f"{SPEAKS[wire]}/some-model"))


def read(case: str, wire: str, size: int = 7) -> list[Event]:
    return events(wire, pieces(stream(case, wire), size), "json" if meaning(case).request.output else None)


@pytest.mark.parametrize("calls", ["hold", "pass"])
@for_each(("case", "wire"), PAIRS)
def test_a_response_is_unchanged(case: str, wire: str, calls: str) -> None:
    """Text, reasoning, media, opaque blocks, signatures, usage: all but a truncated call."""
    plan, upstream = planned(case, wire), read(case, wire)
    output = answered(plan, upstream, calls=calls)
    assert first_order_error(output) is None
    meant = restore_reply(fold(upstream), plan.tools, plan.route.wire.names)
    whole = tuple(part for part in meant.parts if not isinstance(part, ToolCall) or part.sealed)
    expected = msgspec.structs.replace(meant, parts=whole, notes=plan.notes + meant.notes)
    reply = fold(output)
    cut = len(whole) != len(meant.parts)
    assert [decision.code for decision in reply.decisions] == (["rejected_truncated"] if cut else [])
    if calls == "pass" and cut:
        reply = msgspec.structs.replace(reply, parts=tuple(p for p in reply.parts if not isinstance(p, ToolCall) or p.sealed))
    assert differences(expected, msgspec.structs.replace(reply, decisions=meant.decisions), "reply") == set()
    assert [(call.id, call.name, call.raw) for call in reply.calls] == [(one.id, one.name, one.raw) for one in meant.calls]


@for_each(("case", "wire"), PAIRS)
def test_a_whole_answer_is_the_fold_of_its_stream(case: str, wire: str) -> None:
    plan = planned(case, wire)
    streamed = fold(answered(plan, read(case, wire, 1)))
    assert fold(answered(plan, list(unfold(fold(read(case, wire)))))) == streamed


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("ask", ["auto", "native", "dialect:hermes", "constrained"])
def test_every_request_can_be_fitted_to_every_provider_in_every_way(case: str, ask: str) -> None:
    """Nothing raises, nothing given is changed, the same comes out again, and the wire can write it."""
    for provider, row in providers().items():
        if ask != "constrained" or row.constrains:
            _fits(meaning(case).request, provider, ask)


def _fits(request: Request, provider: str, ask: str) -> None:
    before = msgspec.json.encode(request)
    route = resolve(f"{provider}/some-model")
    plan = fit_request(request, route, ask=ask)
    assert msgspec.json.encode(request) == before
    again = fit_request(request, route, ask=ask)
    assert (again.request, again.notes, again.text_dialect, again.tool_mode) == (
        plan.request,
        plan.notes,
        plan.text_dialect,
        plan.tool_mode,
    )
    assert plan.tools == request.tools
    write_request_bytes(plan.request, WireFormat(route.wire, route.provider.quirks), [])
    if plan.tool_mode.kind != "native":
        assert plan.request.tools == ()
        parts = [part for message in plan.request.messages for part in message.parts]
        assert not any(isinstance(part, ToolCall) for part in parts)
    if request.choice is not None and request.choice.mode == "none":
        assert plan.text_dialect is None


# -- text, cut anywhere

TEXTS = [
    "Plain words, nothing else.",
    'I will look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>',
    '```json\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n```',
    'For example:\n```json\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n```\nwould be a call.',
    '<tool_call>{"name": "get_wether", "arguments": {"city": "Rome"}}</tool_call> and <',
    '<tool_call>{"name": "unheard_of", "arguments": {}}</tool_call>',
    '<think>Hm, get_time?</think>It is late.',
    '<tool_call>{"name": "get_time", "arguments": {"city": "Par',
]  # fmt: skip


def text_events(text: str, cuts: list[int], end: Event) -> list[Event]:
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    upstream: list[Event] = [Start("r1", "m"), Open(0, "text")]
    upstream += [Delta(0, text[a:b]) for a, b in pairwise(places)]
    return [*upstream, Close(0), end]


FINISH, FAULT = Finish(Stop("stop", "stop")), Fault(UpstreamError("gone", 502))


@given(st.sampled_from(TEXTS), st.lists(st.integers(0, 300), max_size=12), st.sampled_from([FINISH, FAULT]))
def test_any_cutting_of_text_gives_the_same_reply(text: str, cuts: list[int], end: Event) -> None:
    plan = fit_request(Request("m", tools=TOOLS), resolve("openai/some-model"))
    output = answered(plan, text_events(text, cuts, end))
    assert first_order_error(output) is None
    assert fold(output) == fold(answered(plan, text_events(text, [], end)))


@given(st.sampled_from(TEXTS), st.lists(st.integers(0, 300), max_size=6), st.sampled_from(["none", "no tools"]))
def test_without_tools_text_is_text(text: str, cuts: list[int], why: str) -> None:
    request = Request("m", tools=TOOLS, choice=Choice("none")) if why == "none" else Request("m")
    for name in ("openai/gpt-5", "ollama/gemma3:4b", "local/smollm2"):
        upstream = text_events(text, cuts, FINISH)
        output = answered(fit_request(request, resolve(name)), upstream)
        reply = fold(output)
        assert (reply.text, reply.calls, reply.stop) == (text, [], Stop("stop", "stop"))


@given(st.sampled_from(PAIRS), st.integers(0, 4000), st.sampled_from(["hold", "pass"]))
def test_a_broken_stream_keeps_the_event_order_and_sends_no_invalid_call(pair: tuple[str, str], at: int, calls: str) -> None:
    case, wire = pair
    data = stream(case, wire)
    upstream = events(wire, pieces(data[: at % len(data)], 64), "json" if meaning(case).request.output else None)
    plan = planned(case, wire)
    output = answered(plan, upstream, calls=calls)
    assert first_order_error(output) is None
    broken = fold(upstream)
    reply: Reply = fold(output)
    assert (reply.text, reply.reasoning) == (broken.text, broken.reasoning)
    rejected = [one for one in reply.decisions if one.code.startswith("rejected_")]
    native = [part for part in broken.parts if isinstance(part, ToolCall)]
    assert len(reply.calls) + len(rejected) == len(native)
