"""The way there and back: what is fitted stays callable, and what comes back is whole, in order, and guarded."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.conversations import CASES, PAIRS, events, meaning, pieces, stream
from tests.laws.losses import differences
from toolglot.catalog.providers import providers
from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.fold import fold, unfold
from toolglot.core.messages import ToolCall
from toolglot.core.order import first_breach
from toolglot.core.reply import Reply, Stop
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool, Toolset
from toolglot.errors import UpstreamError
from toolglot.pipeline.answers import Answers
from toolglot.pipeline.fit import fit
from toolglot.pipeline.plan import Plan
from toolglot.pipeline.restore_names import restore_reply
from toolglot.pipeline.route import Speech, resolve
from toolglot.pipeline.translate import write_request_bytes

SPEAKS = {  # a provider for each wire
    "anthropic": "anthropic",
    "gemini": "gemini",
    "ollama": "ollama-cloud",
    "openai-chat": "openai",
    "openai-responses": "openai-responses",
}
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
TOOLS = Toolset([Tool("get_weather", "The weather", CITY), Tool("get_time", "The time", CITY)])


def answered(plan: Plan, said: list[Event], **how: Any) -> list[Event]:
    answers = Answers(plan, **how)
    left = [event for one in said for event in answers.feed(one)]
    return left + answers.close()


def planned(case: str, wire: str) -> Plan:
    return fit(meaning(case).request, resolve(f"{SPEAKS[wire]}/some-model"))


def read(case: str, wire: str, size: int = 7) -> list[Event]:
    return events(wire, pieces(stream(case, wire), size), "json" if meaning(case).request.output else None)


@pytest.mark.parametrize("calls", ["hold", "pass"])
@pytest.mark.parametrize(("case", "wire"), PAIRS)
def test_what_a_provider_says_leaves_as_it_is(case: str, wire: str, calls: str) -> None:
    """Text, thoughts, media, opaque blocks, signatures, usage: all but a call that was cut short."""
    plan, said = planned(case, wire), read(case, wire)
    left = answered(plan, said, calls=calls)
    assert first_breach(left) is None
    meant = restore_reply(fold(said), plan.tools, plan.route.wire.names)
    whole = tuple(part for part in meant.parts if not isinstance(part, ToolCall) or part.sealed)
    expected = msgspec.structs.replace(meant, parts=whole, notes=plan.notes + meant.notes)
    reply = fold(left)
    cut = len(whole) != len(meant.parts)
    assert [decision.code for decision in reply.decisions] == (["rejected_truncated"] if cut else [])
    if calls == "pass" and cut:
        reply = msgspec.structs.replace(reply, parts=tuple(p for p in reply.parts if not isinstance(p, ToolCall) or p.sealed))
    assert differences(expected, msgspec.structs.replace(reply, decisions=meant.decisions), "reply") == set()
    assert [(call.id, call.name, call.raw) for call in reply.calls] == [(one.id, one.name, one.raw) for one in meant.calls]


@pytest.mark.parametrize(("case", "wire"), PAIRS)
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
    plan = fit(request, route, ask=ask)
    assert msgspec.json.encode(request) == before
    again = fit(request, route, ask=ask)
    assert (again.request, again.notes, again.hears, again.way) == (plan.request, plan.notes, plan.hears, plan.way)
    assert plan.tools == request.tools
    write_request_bytes(plan.request, Speech(route.wire, route.provider.quirks), [])
    if plan.way.kind != "native":
        assert plan.request.tools == ()
        parts = [part for message in plan.request.messages for part in message.parts]
        assert not any(isinstance(part, ToolCall) for part in parts)
    if request.choice is not None and request.choice.mode == "none":
        assert plan.hears is None


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


def spoken(text: str, cuts: list[int], end: Event) -> list[Event]:
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    said: list[Event] = [Start("r1", "m"), Open(0, "text")]
    said += [Delta(0, text[a:b]) for a, b in pairwise(places)]
    return [*said, Close(0), end]


FINISH, FAULT = Finish(Stop("stop", "stop")), Fault(UpstreamError("gone", 502))


@given(st.sampled_from(TEXTS), st.lists(st.integers(0, 300), max_size=12), st.sampled_from([FINISH, FAULT]))
def test_any_cutting_of_text_gives_the_same_reply(text: str, cuts: list[int], end: Event) -> None:
    plan = fit(Request("m", tools=TOOLS), resolve("openai/some-model"))
    left = answered(plan, spoken(text, cuts, end))
    assert first_breach(left) is None
    assert fold(left) == fold(answered(plan, spoken(text, [], end)))


@given(st.sampled_from(TEXTS), st.lists(st.integers(0, 300), max_size=6), st.sampled_from(["none", "no tools"]))
def test_without_tools_text_is_text(text: str, cuts: list[int], why: str) -> None:
    request = Request("m", tools=TOOLS, choice=Choice("none")) if why == "none" else Request("m")
    for name in ("openai/gpt-5", "ollama/gemma3:4b", "local/smollm2"):
        said = spoken(text, cuts, FINISH)
        left = answered(fit(request, resolve(name)), said)
        reply = fold(left)
        assert (reply.text, reply.calls, reply.stop) == (text, [], Stop("stop", "stop"))


@given(st.sampled_from(PAIRS), st.integers(0, 4000), st.sampled_from(["hold", "pass"]))
def test_a_broken_line_leaves_legal_order_and_no_wrong_call(pair: tuple[str, str], at: int, calls: str) -> None:
    case, wire = pair
    data = stream(case, wire)
    said = events(wire, pieces(data[: at % len(data)], 64), "json" if meaning(case).request.output else None)
    plan = planned(case, wire)
    left = answered(plan, said, calls=calls)
    assert first_breach(left) is None
    broken = fold(said)
    reply: Reply = fold(left)
    assert (reply.text, reply.reasoning) == (broken.text, broken.reasoning)
    refused = [one for one in reply.decisions if one.code.startswith("rejected_")]
    native = [part for part in broken.parts if isinstance(part, ToolCall)]
    assert len(reply.calls) + len(refused) == len(native)
