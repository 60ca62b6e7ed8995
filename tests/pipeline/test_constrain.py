from __future__ import annotations

from typing import Any

import pytest

from tests.pipeline.answering import CITY, HELLO, PARIS, TIME, TOOLS, WEATHER, codes, plan_for, reply, text
from toolglot.core.fold import fold
from toolglot.core.messages import Message, Text, ToolCall, ToolResult
from toolglot.core.order import first_breach
from toolglot.core.reply import Stop
from toolglot.core.request import Output
from toolglot.core.tools import Choice, Tool, Toolset
from toolglot.pipeline.constrain import Answering, ConstrainedExtractor, answer_schema, calls_schema
from toolglot.schema.check import checker

CALL = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
OTHER = '{"name": "get_time", "arguments": {"city": "Rome"}}'


def heard(answer: str, size: int | None = None, tools: Toolset = TOOLS) -> tuple[Any, list[str]]:
    ear = ConstrainedExtractor(tools)
    cut = size or max(1, len(answer))
    events = [event for at in range(0, len(answer), cut) for event in ear.feed(answer[at : at + cut])] + ear.close()
    assert first_breach(events) is None
    assert ear.close() == []
    found, reply = ear.result(), fold(events)
    assert (found.calls, found.text, tuple(found.decisions)) == (reply.calls, reply.text, reply.decisions)
    return found, [decision.code for decision in found.decisions]


@pytest.mark.parametrize("size", [None, 1, 7])
@pytest.mark.parametrize(
    ("answer", "said", "calls"),
    [
        ('{"answer": "Hello \\"you\\"\\n\\u00e9"}', 'Hello "you"\né', []),
        (' {"answer": ""} ', "", []),
        (CALL, "", ["get_weather"]),
        (f" [{CALL}, {OTHER}]\n", "", ["get_weather", "get_time"]),
        (f'{{"reply": {CALL}}}', "", ["get_weather"]),
        ('{"reply": {"answer": "Hello"}}', "Hello", []),
        ('{"answer": "Hello wor', "Hello wor", []),  # cut short
        ('{"answer": "Hello \\ud83d\\u', "Hello ", []),
        ('{"reply": {"answer": "Hello"', "Hello", []),
        ("just words", "just words", []),
        ("", "", []),
        ('{"answer": "a", "more": 1}', '{"answer": "a", "more": 1}', []),
    ],
)
def test_an_answer_is_understood_however_it_comes(answer: str, said: str, calls: list[str], size: int | None) -> None:
    found, _ = heard(answer, size)
    assert (found.text, [call.name for call in found.calls]) == (said, calls)


def test_a_call_that_was_cut_short_is_refused_or_stays_text() -> None:
    for at in range(1, len(CALL) - 1):  # but for the last brace all is there
        found, codes = heard(CALL[:at])
        assert found.calls == []
        assert found.text == CALL[:at] or codes == ["rejected_truncated"], (at, codes)


def test_a_call_is_checked_against_the_tool() -> None:
    found, codes = heard('{"name": "get_weather", "arguments": {"city": 7}}')
    assert [call.arguments for call in found.calls] == [{"city": "7"}]
    assert codes
    found, codes = heard('{"name": "get_weather", "arguments": {}}')
    assert (found.calls, codes) == ([], ["rejected_schema"])


def test_an_answer_under_a_schema_of_the_caller_s_is_structured_output() -> None:
    plan = plan_for("llamacpp/some-model", ask="constrained", output=Output(CITY))
    assert plan.request.output is not None
    form = checker(plan.request.output.schema or {})
    assert form.fits({"answer": {"city": "Paris"}})
    assert not form.fits({"answer": "words"})
    found = reply(plan, text('{"answer": {"city": "Paris"}}'))
    assert found.parts == (Text('{"city":"Paris"}', "json"),)


def test_after_a_native_call_the_text_is_text() -> None:
    ear = ConstrainedExtractor(TOOLS)
    ear.feed('{"answer": "Hel')
    events = [*ear.deafen(), *ear.deafen(), *ear.feed("more"), *ear.close()]
    assert first_breach(events) is None
    assert fold(events).text == "Helmore"


# -- the schema and the prompt


def schema(tools: Any = TOOLS, **how: Any) -> Any:
    return checker(answer_schema(tuple(tools), Answering(**{"must": False, "several": False, **how})))


def test_what_the_schema_lets_through() -> None:
    call = {"name": "get_weather", "arguments": {"city": "Paris"}}
    free, must, several = schema(), schema(must=True), schema(several=True)
    for one in (free, must, several):
        assert one.fits(call)
        assert not one.fits({"name": "send_mail", "arguments": {"city": "Paris"}})
        assert not one.fits({"name": "get_weather", "arguments": {"town": "Paris"}})
        assert not one.fits({**call, "why": "because"})
        assert not one.fits("words")
    assert free.fits({"answer": "words"})
    assert not must.fits({"answer": "words"})
    assert several.fits([call, call])
    assert not several.fits([])
    assert not free.fits([call])


def test_tools_of_every_kind_have_a_place() -> None:
    tools = [Tool("now"), Tool("shell", kind="custom"), Tool("open", schema=CITY, namespace="crm")]
    form = schema(tools)
    assert form.fits({"name": "now", "arguments": {}})
    assert form.fits({"name": "shell", "arguments": {"input": "ls"}})
    assert form.fits({"name": "crm__open", "arguments": {"city": "x"}})
    found, _ = heard('{"name": "shell", "arguments": {"input": "ls"}}', tools=Toolset(tools))
    assert [(call.name, call.custom, call.arguments) for call in found.calls] == [("shell", True, {"input": "ls"})]


def test_references_inside_a_tool_s_schema_do_not_dangle() -> None:
    node = {"type": "object", "properties": {"at": {"$ref": "#/$defs/place"}}, "$defs": {"place": CITY}, "required": ["at"]}
    form = schema([Tool("go", schema=node)])
    assert form.fits({"name": "go", "arguments": {"at": {"city": "Paris"}}})
    assert not form.fits({"name": "go", "arguments": {"at": 3}})


@pytest.mark.parametrize(("model", "strict"), [("openai/gpt-5", True), ("gemini/gemini-3-pro", None)])
def test_where_a_schema_must_begin_with_an_object_the_answer_is_wrapped(model: str, strict: bool | None) -> None:
    output = plan_for(model, ask="constrained").request.output
    assert output is not None
    assert output.schema is not None
    assert (output.schema["type"], list(output.schema["properties"]), output.strict) == ("object", ["reply"], strict)
    plan = plan_for(model, ask="constrained")
    assert [call.arguments for call in reply(plan, text(f'{{"reply": {CALL}}}')).calls] == [{"city": "Paris"}]


def test_the_tools_move_into_the_prompt_and_the_history_into_text() -> None:
    messages = (
        Message("system", (Text("Be kind."),)),
        *HELLO,
        Message("assistant", (ToolCall("c1", "get_weather", PARIS),)),
        Message("tool", (ToolResult("c1", "get_weather", (Text("sunny"),)),)),
    )
    plan = plan_for("llamacpp/some-model", ask="constrained", messages=messages, choice=Choice("required", ("get_time",)))
    request = plan.request
    assert (request.tools, request.choice, request.parallel) == ((), None, None)
    said = ["".join(part.text for part in message.parts if isinstance(part, Text)) for message in request.messages]
    assert [message.role for message in request.messages] == ["system", "user", "assistant", "user"]
    assert said[0].startswith("Be kind.\n\n# Tools\n\n")
    assert "get_time" in said[0]
    assert "get_weather" not in said[0]
    assert "answer" not in said[0]
    assert "sunny" in said[3]
    assert request.output is not None
    form = checker(request.output.schema or {})
    assert form.fits({"name": "get_time", "arguments": {"city": "x"}})
    assert not form.fits({"name": "get_weather", "arguments": {"city": "x"}})


def test_a_vendor_s_own_tools_are_left_out_with_a_note() -> None:
    tools = Toolset([Tool("web_search", kind="server"), WEATHER])
    plan = plan_for("llamacpp/some-model", ask="constrained", tools=tools)
    assert any("web_search" in note for note in plan.notes)
    assert "web_search" not in str(plan.request)
    alone = plan_for("llamacpp/some-model", ask="constrained", tools=Toolset([Tool("web_search", kind="server")]))
    assert (alone.request.output, alone.hears) == (None, None)


def test_a_forbidden_choice_shows_no_tool_and_keeps_the_response_schema() -> None:
    output = Output(CITY)
    plan = plan_for("llamacpp/some-model", ask="constrained", choice=Choice("none"), output=output)
    assert (plan.request.output, plan.request.tools, plan.hears) == (output, (), None)
    assert plan.request.messages == HELLO
    assert plan.notes == ("tool choice: none; no tool is shown",)


def test_through_the_whole_way() -> None:
    plan = plan_for("llamacpp/some-model", ask="constrained", choice=Choice("required"))
    found = reply(plan, text(CALL[:9], CALL[9:]))
    assert ([call.arguments_json for call in found.calls], found.stop, codes(found)) == ([PARIS], Stop("calls", "stop"), [])
    assert codes(reply(plan, text('{"answer": "no"}'))) == ["missing_call"]
    assert TIME in plan.tools


# -- where it is known which calls are due


def test_calls_that_are_due_are_all_that_fits() -> None:
    rome, paris = (
        {"type": "object", "properties": {"city": {"enum": [city]}}, "required": ["city"]} for city in ("Rome", "Paris")
    )
    one = checker(calls_schema([[(WEATHER, rome), (TIME, paris)]]))
    assert one.fits({"name": "get_weather", "arguments": {"city": "Rome"}})
    assert one.fits({"name": "get_time", "arguments": {"city": "Paris"}})
    assert not one.fits({"name": "get_time", "arguments": {"city": "Rome"}})
    two = checker(calls_schema([[(WEATHER, rome)], [(TIME, paris)]]))
    made = [{"name": "get_weather", "arguments": {"city": "Rome"}}, {"name": "get_time", "arguments": {"city": "Paris"}}]
    assert two.fits(made)
    assert not two.fits(made[:1])
    assert not two.fits(made[::-1])


def test_where_a_schema_may_not_begin_with_a_list_it_is_wrapped() -> None:
    schema = calls_schema([[(WEATHER, CITY)], [(TIME, CITY)]], "openai_strict")
    assert schema["required"] == ["reply"]


def test_a_call_that_is_due_leaves_no_room_for_structured_output() -> None:
    rome = Message("user", (Text("What's the weather in Rome?"),))
    plan = plan_for("local/smollm2", messages=(rome,), output=Output(CITY))
    assert "response schema: left out, since a call is due" in plan.notes
    plan = plan_for("local/smollm2", output=Output(CITY))
    assert plan.request.output == Output(CITY)
