from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from tests.pipeline.answering import (
    CALLS,
    CITY,
    FENCED,
    HERMES,
    PARIS,
    ROME,
    WEATHER,
    call,
    codes,
    plan_for,
    reply,
    run_pipeline,
    stream,
    text,
)
from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.fold import fold
from toolglot.core.messages import ToolCall
from toolglot.core.names import sanitize_names
from toolglot.core.reply import Decision, Stop
from toolglot.core.tools import Choice, Tool, Toolset
from toolglot.errors import UpstreamError
from toolglot.pipeline.request.plan import Plan
from toolglot.pipeline.response.response_pipeline import ResponsePipeline


@pytest.fixture
def ids() -> Iterator[str]:
    return (f"call_{number}" for number in itertools.count())


# -- native calls


def test_a_good_call_passes_as_it_is() -> None:
    found = reply(plan_for(), call(0, "get_weather", '{ "city" : "Paris" }'), end=CALLS)
    assert found.parts == (ToolCall("c0", "get_weather", '{ "city" : "Paris" }'),)
    assert (found.stop, found.decisions) == (Stop("calls", "tool_calls"), ())


def test_a_bad_call_is_repaired_with_decisions() -> None:
    found = reply(plan_for(), call(0, "getWeather", "{'city': 'Paris',}"), end=CALLS)
    (one,) = found.calls
    assert (one.id, one.name, one.arguments, one.raw) == (
        "c0",
        "get_weather",
        {"city": "Paris"},
        "{'city': 'Paris',}",
    )
    assert one.fixes
    assert set(one.fixes) == set(codes(found))


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("send_mail", "{}", "rejected_unknown_tool"),
        ("get_weather", '{"town": [1]}', "rejected_schema"),
        ("get_weather", "Paris", "rejected_arguments"),
        ("", "{}", "rejected_malformed"),
    ],
)
@pytest.mark.parametrize("calls", ["hold", "pass"])
def test_a_call_that_can_not_be_repaired_is_rejected(name: str, arguments: str, code: str, calls: str) -> None:
    found = reply(plan_for(), call(0, name, arguments), end=CALLS, calls=calls)
    assert (found.calls, codes(found)) == ([], [code])
    assert found.stop == Stop("stop", "tool_calls")


def test_the_other_calls_leave_all_the_same() -> None:
    found = reply(plan_for(), call(0, "send_mail", "{}"), call(1, "get_time", ROME), end=CALLS)
    assert [(one.id, one.name) for one in found.calls] == [("c1", "get_time")]
    assert found.stop == Stop("calls", "tool_calls")


def test_a_truncated_call_is_rejected() -> None:
    found = reply(plan_for(), call(0, "get_weather", '{"city": "Par', sealed=False), end=Finish(Stop("length", "length")))
    assert (found.parts, codes(found), found.stop) == ((), ["rejected_truncated"], Stop("length", "length"))


def interleaved() -> list[Event]:
    return [
        Start(),
        Open(0, "call", "get_weather", "a"),
        Open(1, "call", "get_time", "b"),
        Delta(0, '{"city": '),
        Delta(1, '{"city": "Ro'),
        Delta(0, '"Paris"}'),
        Close(0),
        Delta(1, 'me"}'),
        Close(1),
        CALLS,
    ]


@pytest.mark.parametrize("calls", ["hold", "pass"])
def test_calls_that_interleave(calls: str) -> None:
    found = fold(run_pipeline(plan_for(), interleaved(), calls=calls))
    assert [(one.id, one.name, one.arguments_json) for one in found.calls] == [
        ("a", "get_weather", PARIS),
        ("b", "get_time", ROME),
    ]


@pytest.mark.parametrize("calls", ["hold", "pass"])
def test_interleaved_calls_leave_in_the_order_they_were_opened(calls: str) -> None:
    events: list[Event] = [Start(), Open(0, "call", "get_weather", "a"), Open(1, "call", "get_time", "b")]
    events += [Delta(0, PARIS), Delta(1, ROME), Close(1), Close(0), CALLS]
    found = fold(run_pipeline(plan_for(), events, calls=calls))
    assert [one.id for one in found.calls] == ["a", "b"]


def test_calls_are_streamed_under_pass_and_whole_under_hold() -> None:
    def steps(calls: str) -> list[list[str]]:
        pipeline = ResponsePipeline(plan_for(), calls=calls)  # type: ignore[arg-type]
        return [[type(one).__name__ for one in pipeline.feed([event])] for event in interleaved()]

    assert steps("pass")[1:4] == [["Open"], ["Open"], ["Delta"]]
    assert steps("hold")[1:7] == [[], [], [], [], [], ["Open", "Delta", "Close"]]


def test_a_streamed_call_that_needs_repair_is_not_sealed() -> None:
    found = reply(plan_for(), call(0, "get_weather", "{'city': 'Paris'}"), calls="pass", end=CALLS)
    assert found.calls == []
    assert codes(found) == ["rejected_arguments"]
    assert found.stop == Stop("stop", "tool_calls")


def test_a_call_with_a_name_to_repair_is_never_streamed() -> None:
    found = reply(plan_for(), call(0, "getWeather", PARIS), calls="pass", end=CALLS)
    assert [(one.name, one.fixes) for one in found.calls] == [("get_weather", ("fixed_name",))]


def test_legalised_names_and_namespaces_come_back() -> None:
    tools = Toolset([Tool("files.read", schema=CITY), Tool("open", schema=CITY, namespace="crm"), Tool("open", schema=CITY)])
    plan = plan_for("anthropic/claude-opus-5", tools=tools)
    sent = ["files_read_", "crm__open", "open"]
    names = [next(tool.name for tool in _legal(plan) if tool.name.startswith(start)) for start in sent]
    found = reply(plan, *(call(at, name, PARIS) for at, name in enumerate(names)))
    assert [(one.namespace, one.name) for one in found.calls] == [(None, "files.read"), ("crm", "open"), (None, "open")]


def _legal(plan: Plan) -> tuple[Tool, ...]:
    return sanitize_names(plan.request, plan.route.wire.names).tools


def test_a_namespace_distinguishes_two_tools_of_one_name() -> None:
    tools = Toolset([Tool("open", schema=CITY, namespace="crm"), Tool("open", schema=CITY, namespace="door")])
    plan = plan_for("openai-responses/gpt-5", tools=tools)
    block: list[Event] = [Open(0, "call", "open", "c0", namespace="door"), Delta(0, PARIS), Close(0)]
    assert [one.full_name for one in reply(plan, block).calls] == ["door__open"]


def test_custom_tools_are_carried_as_input() -> None:
    plan = plan_for(tools=Toolset([Tool("shell", kind="custom")]))
    found = reply(plan, call(0, "shell", "ls -l"))
    assert [(one.arguments, one.custom) for one in found.calls] == [({"input": "ls -l"}, True)]


def test_state_and_signatures_stay_with_the_call() -> None:
    block: list[Event] = [
        Open(0, "call", "get_weather", "c0", extra={"gemini": {"thoughtSignature": "x"}}),
        Delta(0, PARIS),
        Close(0, extra={"openai-responses": {"id": "fc_1"}}),
    ]
    (one,) = reply(plan_for(), block).calls
    assert one.extra == {"gemini": {"thoughtSignature": "x"}, "openai-responses": {"id": "fc_1"}}


def test_calls_of_server_tools_are_not_validated() -> None:
    plan = plan_for(tools=Toolset([Tool("web_search", kind="server", extra={"openai-chat": {"type": "web_search"}}), WEATHER]))
    found = reply(plan, call(0, "web_search", '{"query": "x"}'))
    assert [one.name for one in found.calls] == ["web_search"]
    assert found.decisions == ()
    assert reply(plan, text('<tool_call>{"name": "web_search", "arguments": {}}</tool_call>')).calls == []


# -- strict mode


OPTIONAL = {"type": "object", "properties": {"city": {"type": "string"}, "unit": {"enum": ["C", "F"]}}, "required": ["city"]}


@pytest.mark.parametrize("calls", ["hold", "pass"])
def test_nulls_of_a_strict_schema_are_dropped(calls: str) -> None:
    plan = plan_for("openai/gpt-5", tools=Toolset([Tool("get_weather", schema=OPTIONAL, strict=True)]))
    found = reply(plan, call(0, "get_weather", '{"city": "Paris", "unit": null}'), calls=calls)
    (one,) = found.calls
    assert (one.arguments, one.fixes, one.raw) == (
        {"city": "Paris"},
        (),
        '{"city": "Paris", "unit": null}',
    )
    assert found.decisions == ()


def test_another_null_is_a_fix() -> None:
    plan = plan_for("openai/gpt-5", tools=Toolset([Tool("get_weather", schema=OPTIONAL)]))
    found = reply(plan, call(0, "get_weather", '{"city": "Paris", "unit": null}'))
    assert codes(found) == ["dropped_null"]


# -- ids


def test_only_ids_that_a_reader_numbered_are_replaced(ids: Iterator[str]) -> None:
    blocks = [
        call(0, "get_weather", PARIS, "get_weather_0"),
        call(1, "get_weather", ROME, "get_weather_17"),
        call(2, "get_time", ROME, "toolu_1"),
        call(3, "get_time", PARIS, "get_time_3"),
    ]
    found = reply(plan_for(), *blocks, make_id=lambda: next(ids))
    assert [one.id for one in found.calls] == ["call_0", "get_weather_17", "toolu_1", "call_1"]
    assert [one.id for one in reply(plan_for(), *blocks).calls] == ["get_weather_0", "get_weather_17", "toolu_1", "get_time_3"]


def test_a_number_is_known_by_the_name_that_the_wire_had(ids: Iterator[str]) -> None:
    plan = plan_for("anthropic/claude-opus-5", tools=Toolset([Tool("files.read", schema=CITY)]))
    name = _legal(plan)[0].name
    found = reply(plan, call(0, name, PARIS, f"{name}_0"), make_id=lambda: next(ids))
    assert [(one.id, one.name) for one in found.calls] == [("call_0", "files.read")]


def test_no_id_comes_twice_and_native_calls_are_never_merged(ids: Iterator[str]) -> None:
    blocks = [call(0, "get_weather", PARIS, "same"), call(1, "get_weather", PARIS, "same")]
    assert [one.id for one in reply(plan_for(), *blocks).calls] == ["same", "same_1"]
    assert [one.id for one in reply(plan_for(), *blocks, make_id=lambda: next(ids)).calls] == ["same", "call_0"]
    nameless: list[Event] = [Open(0, "call", "get_weather"), Delta(0, PARIS), Close(0)]
    assert [one.id for one in reply(plan_for(), nameless).calls] == ["get_weather_0"]


def test_calls_from_text_get_ids_too(ids: Iterator[str]) -> None:
    with_id = '<tool_call>{"id": "mine", "name": "get_time", "arguments": {"city": "Rome"}}</tool_call>'
    last = '<tool_call>{"name": "get_time", "arguments": {"city": "Paris"}}</tool_call>'
    found = reply(plan_for(), text(HERMES + with_id + last), make_id=lambda: next(ids))
    assert [one.id for one in found.calls] == ["call_0", "mine", "call_1"]


# -- choice


@pytest.mark.parametrize("calls", ["hold", "pass"])
@pytest.mark.parametrize(
    ("choice", "code"), [(Choice("none"), "rejected_choice"), (Choice("required", ("get_time",)), "rejected_choice")]
)
def test_a_native_call_against_the_choice_is_rejected(choice: Choice, code: str, calls: str) -> None:
    found = reply(plan_for(choice=choice), call(0, "get_weather", PARIS), end=CALLS, calls=calls)
    assert found.calls == []
    assert codes(found)[0] == code
    assert found.stop == Stop("stop", "tool_calls")


@pytest.mark.parametrize("mode", ["auto", "required"])
@pytest.mark.parametrize("calls", ["hold", "pass"])
def test_only_named_tools_may_be_called(mode: str, calls: str) -> None:
    plan = plan_for(choice=Choice(mode, ("get_time",)))  # type: ignore[arg-type]
    other = '<tool_call>{"name": "get_time", "arguments": {"city": "Rome"}}</tool_call>'
    found = reply(plan, text(HERMES + other), calls=calls)
    assert [one.name for one in found.calls] == ["get_time"]
    assert [code for code in codes(found) if code.startswith("rejected")] == ["rejected_choice"]
    fixed = reply(plan, call(0, "getTime", ROME), calls=calls)
    assert [one.name for one in fixed.calls] == ["get_time"]


def test_a_missing_required_call_is_a_decision() -> None:
    plan = plan_for(choice=Choice("required"))
    assert codes(reply(plan, text("No."))) == ["missing_call"]
    assert codes(reply(plan, call(0, "get_time", ROME))) == []
    assert codes(reply(plan, text(HERMES))) == ["rescued_text"]
    served = Toolset([Tool("web_search", kind="server", extra={"openai-chat": {"type": "web_search"}})])
    assert codes(reply(plan_for(tools=served, choice=Choice("required")), text("Found it."))) == []


def test_without_tools_every_call_is_rejected() -> None:
    found = reply(plan_for(tools=()), text(HERMES), call(1, "get_weather", PARIS))
    assert (found.text, found.calls, codes(found)) == (HERMES, [], ["rejected_unknown_tool"])


# -- the end


def test_a_fault_flushes_buffered_text_and_keeps_the_decisions() -> None:
    error = Fault(UpstreamError("gone", 502), (Decision("x", "y"),), ("n",))
    found = reply(plan_for(), text(FENCED + " and then"), call(1, "send_mail", "{}"), end=error)
    assert (found.text, found.calls) == (FENCED + " and then", [])
    assert (codes(found), found.notes, found.error) == (["x", "rejected_unknown_tool"], ("n",), error.error)
    undecided = reply(plan_for(), text(FENCED), end=error)
    assert (undecided.text, undecided.calls) == (FENCED, [])


def test_nothing_comes_after_the_end() -> None:
    events = stream(text("Hello"))
    assert run_pipeline(plan_for(), [*events, *text("more", index=1), Finish(Stop("length"))]) == run_pipeline(
        plan_for(), events
    )


@pytest.mark.parametrize("end", [Finish(Stop("stop")), Fault(UpstreamError("gone"))])
@pytest.mark.parametrize("calls", ["hold", "pass"])
def test_blocks_that_a_reader_left_open_are_closed(end: Event, calls: str) -> None:
    block: list[Event] = [Open(0, "text"), Delta(0, "a"), Open(1, "reasoning"), Open(2, "call", "get_time", "c"), Delta(2, "{")]
    found = reply(plan_for(), block, end=end, calls=calls)
    assert (found.text, found.calls, codes(found)) == ("a", [], ["rejected_truncated"])


@pytest.mark.parametrize(
    ("reason", "blocks", "wanted"),
    [
        ("stop_sequence", text(HERMES), "calls"),
        ("stop_sequence", text("x"), "stop_sequence"),
        ("length", text(HERMES), "length"),
        ("filter", text("x"), "filter"),
        ("calls", text("x"), "stop"),
        ("stop", text(HERMES[:60]), "length"),
        ("stop", call(0, "get_time", ROME), "calls"),
    ],
)
def test_the_stop_reason_follows_the_calls(reason: str, blocks: list[Event], wanted: str) -> None:
    found = reply(plan_for(), blocks, end=Finish(Stop(reason, "raw")))  # type: ignore[arg-type]
    assert found.stop == Stop(wanted, "raw")  # type: ignore[arg-type]


def test_a_name_that_the_wire_changed_is_known_in_text_too() -> None:
    """The model writes the sanitized name: the call gets the registered one."""
    tools = Toolset([Tool("kinematics.time", "How long", CITY)])
    plan = plan_for(tools=tools)
    sent = sanitize_names(plan.request, plan.route.wire.names).tools[0].name
    assert sent != "kinematics.time"
    for name in (sent, "kinematics.time"):
        found = reply(plan, text(f'<tool_call>{{"name": "{name}", "arguments": {PARIS}}}</tool_call>'))
        assert [(call.name, call.arguments_json) for call in found.calls] == [("kinematics.time", PARIS)]


@pytest.mark.parametrize("calls", ["hold", "pass"])
def test_one_call_at_a_time_where_one_is_wanted(calls: str) -> None:
    """Some servers have no such option, others ignore it. Only the first valid call is sent."""
    two = [*call(0, "get_weather", PARIS), *call(1, "get_time", ROME)]
    mixed = [two[0], two[3], two[1], two[4], two[2], two[5]]
    written = text(HERMES + HERMES.replace("Paris", "Rome"))
    for block in (two, mixed, written):
        found = reply(plan_for(parallel=False), block, end=CALLS, calls=calls)
        assert [(one.name, one.arguments) for one in found.calls] == [("get_weather", {"city": "Paris"})]
        assert "rejected_choice" in codes(found)
        assert found.stop is not None
        assert found.stop.reason == "calls"
        assert len(reply(plan_for(), block, end=CALLS, calls=calls).calls) == 2
    bad_first = [*call(0, "no_tool", PARIS), *call(1, "get_time", ROME)]
    assert [one.name for one in reply(plan_for(parallel=False), bad_first, end=CALLS, calls=calls).calls] == ["get_time"]
