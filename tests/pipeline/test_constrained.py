from __future__ import annotations

from typing import Any

import pytest

from tests.pipeline.answering import CITY, HELLO, PARIS, TIME, TOOLS, WEATHER, codes, plan_for, reply, text
from toolglot.core.event_order import first_order_error
from toolglot.core.events import Delta, Fault, Open
from toolglot.core.fold import fold
from toolglot.core.messages import Message, Text, ToolCall, ToolResult
from toolglot.core.reply import Stop
from toolglot.core.request import Output
from toolglot.core.tools import Choice, Tool, Toolset
from toolglot.errors import UpstreamError
from toolglot.pipeline.request.constrained import AnswerForm, ConstrainedExtractor, answer_schema, no_tool
from toolglot.schema.check import checker

CALL = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
OTHER = '{"name": "get_time", "arguments": {"city": "Rome"}}'
NO_TOOL = '[{"name": "no_tool"}]'


def parsed(answer: str, size: int | None = None, tools: Toolset = TOOLS) -> tuple[Any, list[str]]:
    extractor = ConstrainedExtractor(tools)
    cut = size or max(1, len(answer))
    events = [event for at in range(0, len(answer), cut) for event in extractor.feed(answer[at : at + cut])]
    events += extractor.close()
    assert first_order_error(events) is None
    assert extractor.close() == []
    found, folded = extractor.result(), fold(events)
    assert (found.calls, found.text, tuple(found.decisions)) == (folded.calls, folded.text, folded.decisions)
    return found, [decision.code for decision in found.decisions]


@pytest.mark.parametrize("size", [None, 1, 7])
@pytest.mark.parametrize(
    ("answer", "text", "calls"),
    [
        (f"[{CALL}]", "", ["get_weather"]),
        (f" [{CALL}, {OTHER}]\n", "", ["get_weather", "get_time"]),
        (f'{{"calls": [{CALL}]}}', "", ["get_weather"]),
        (CALL, "", ["get_weather"]),  # a server that does not hold to the schema
        (NO_TOOL, "", []),
        (f'{{"calls": {NO_TOOL}}}', "", []),
        ("just words", "just words", []),
        ("", "", []),
    ],
)
def test_an_answer_is_parsed_however_it_is_cut(answer: str, text: str, calls: list[str], size: int | None) -> None:
    found, _ = parsed(answer, size)
    assert (found.text, [call.name for call in found.calls]) == (text, calls)


def test_no_tool_is_distinguished_from_an_empty_answer() -> None:
    for answer, expected in ((NO_TOOL, True), (f' {{"calls": {NO_TOOL}}} ', True), ("", False), ("[]", False)):
        extractor = ConstrainedExtractor(TOOLS)
        extractor.feed(answer)
        extractor.close()
        assert extractor.no_tool is expected


def test_no_tool_is_never_the_name_of_a_tool() -> None:
    tools = Toolset([Tool("no_tool"), Tool("no_tool_")])
    assert no_tool(tools) == "no_tool__"
    found, _ = parsed('[{"name": "no_tool", "arguments": {}}]', tools=tools)
    assert [call.name for call in found.calls] == ["no_tool"]


def test_a_call_that_was_cut_short_is_rejected_or_stays_text() -> None:
    whole = f"[{CALL}]"
    for at in range(1, len(whole) - 2):  # but for the last brackets all is there
        found, reasons = parsed(whole[:at])
        assert found.calls == []
        assert found.text == whole[:at] or reasons == ["rejected_truncated"], (at, reasons)


def test_a_call_is_validated_against_the_tool() -> None:
    found, reasons = parsed('[{"name": "get_weather", "arguments": {"city": 7}}]')
    assert [call.arguments for call in found.calls] == [{"city": "7"}]
    assert reasons
    found, reasons = parsed('[{"name": "get_weather", "arguments": {}}]')
    assert (found.calls, reasons) == ([], ["rejected_schema"])


def test_after_a_native_call_the_text_is_text() -> None:
    extractor = ConstrainedExtractor(TOOLS)
    extractor.feed("Hel")
    events = [*extractor.stop_parsing(), *extractor.stop_parsing(), *extractor.feed("more"), *extractor.close()]
    assert first_order_error(events) is None
    assert fold(events).text == "Helmore"


# -- the schema and the prompt


def schema(tools: Any = TOOLS, **how: Any) -> Any:
    return checker(answer_schema(tuple(tools), AnswerForm(**{"required": False, "several": False, **how})))


def test_what_the_schema_lets_through() -> None:
    call = {"name": "get_weather", "arguments": {"city": "Paris"}}
    free, required, several = schema(), schema(required=True), schema(several=True)
    for one in (free, required, several):
        assert one.fits([call])
        assert not one.fits([{"name": "send_mail", "arguments": {"city": "Paris"}}])
        assert not one.fits([{"name": "get_weather", "arguments": {"town": "Paris"}}])
        assert not one.fits([{**call, "why": "because"}])
        assert not one.fits([])
        assert not one.fits("words")
    assert free.fits([{"name": "no_tool"}])
    assert not required.fits([{"name": "no_tool"}])
    assert several.fits([call, call])
    assert not several.fits([call, {"name": "no_tool"}])
    assert not free.fits([call, call])


def test_tools_of_every_kind_have_a_place() -> None:
    tools = [Tool("now"), Tool("shell", kind="custom"), Tool("open", schema=CITY, namespace="crm")]
    form = schema(tools)
    assert form.fits([{"name": "now", "arguments": {}}])
    assert form.fits([{"name": "shell", "arguments": {"input": "ls"}}])
    assert form.fits([{"name": "crm__open", "arguments": {"city": "x"}}])
    found, _ = parsed('[{"name": "shell", "arguments": {"input": "ls"}}]', tools=Toolset(tools))
    assert [(call.name, call.custom, call.arguments) for call in found.calls] == [("shell", True, {"input": "ls"})]


def test_references_inside_a_tool_s_schema_do_not_dangle() -> None:
    node = {"type": "object", "properties": {"at": {"$ref": "#/$defs/place"}}, "$defs": {"place": CITY}, "required": ["at"]}
    form = schema([Tool("go", schema=node)])
    assert form.fits([{"name": "go", "arguments": {"at": {"city": "Paris"}}}])
    assert not form.fits([{"name": "go", "arguments": {"at": 3}}])


@pytest.mark.parametrize(("model", "strict"), [("openai/gpt-5", True), ("gemini/gemini-3-pro", None)])
def test_where_a_schema_must_begin_with_an_object_the_answer_is_wrapped(model: str, strict: bool | None) -> None:
    output = plan_for(model, ask="constrained").request.output
    assert output is not None
    assert output.schema is not None
    assert (output.schema["type"], list(output.schema["properties"]), output.strict) == ("object", ["calls"], strict)
    plan = plan_for(model, ask="constrained")
    assert [call.arguments for call in reply(plan, text(f'{{"calls": [{CALL}]}}')).calls] == [{"city": "Paris"}]


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
    texts = ["".join(part.text for part in message.parts if isinstance(part, Text)) for message in request.messages]
    assert [message.role for message in request.messages] == ["system", "user", "assistant", "user"]
    assert texts[0].startswith("Be kind.\n\n# Tools\n\n")
    assert "get_time" in texts[0]
    assert "get_weather" not in texts[0]
    assert "no_tool" not in texts[0]
    assert plan.plain is None
    assert "sunny" in texts[3]
    assert request.output is not None
    form = checker(request.output.schema or {})
    assert form.fits([{"name": "get_time", "arguments": {"city": "x"}}])
    assert not form.fits([{"name": "get_weather", "arguments": {"city": "x"}}])


def test_server_tools_are_left_out_with_a_note() -> None:
    tools = Toolset([Tool("web_search", kind="server"), WEATHER])
    plan = plan_for("llamacpp/some-model", ask="constrained", tools=tools)
    assert any("web_search" in note for note in plan.notes)
    assert "web_search" not in str(plan.request)
    alone = plan_for("llamacpp/some-model", ask="constrained", tools=Toolset([Tool("web_search", kind="server")]))
    assert (alone.request.output, alone.text_dialect) == (None, None)


def test_a_forbidden_choice_shows_no_tool_and_keeps_the_response_schema() -> None:
    output = Output(CITY)
    plan = plan_for("llamacpp/some-model", ask="constrained", choice=Choice("none"), output=output)
    assert (plan.request.output, plan.request.tools, plan.text_dialect) == (output, (), None)
    assert plan.request.messages == HELLO
    assert plan.notes == ("tools: left out, because calls are not allowed",)


def test_through_the_whole_way() -> None:
    plan = plan_for("llamacpp/some-model", ask="constrained", choice=Choice("required"))
    found = reply(plan, text(f"[{CALL[:9]}", f"{CALL[9:]}]"))
    assert ([call.arguments_json for call in found.calls], found.stop, codes(found)) == ([PARIS], Stop("calls", "stop"), [])
    assert codes(reply(plan, text("no"))) == ["missing_call"]
    assert TIME in plan.tools


def test_a_model_that_copies_examples_gets_none() -> None:
    for model, expected in (("llamacpp/qwen2.5-coder-0.5b", True), ("local/smollm2", False)):
        prompt = plan_for(model, ask="constrained").request.messages[0].parts[0]
        assert isinstance(prompt, Text)
        assert ("Examples:" in prompt.text) is expected
        assert "no_tool" in prompt.text


def test_the_plain_request_asks_the_same_without_the_schema() -> None:
    messages = (
        *HELLO,
        Message("assistant", (ToolCall("c1", "get_weather", PARIS),)),
        Message("tool", (ToolResult("c1", "get_weather", (Text("sunny"),)),)),
    )
    output = Output(CITY)
    make_plain = plan_for("llamacpp/some-model", ask="constrained", messages=messages, output=output).plain
    assert make_plain is not None
    plain = make_plain()
    assert (plain.tools, plain.choice, plain.output) == ((), None, output)  # the caller's schema counts here
    texts = ["".join(part.text for part in message.parts if isinstance(part, Text)) for message in plain.messages]
    assert texts == ["Hello\n\nThe result of get_weather is: sunny"]


def test_a_model_may_reason_before_the_schema() -> None:
    plan = plan_for("vllm/qwen3-8b", ask="constrained")
    assert plan.route.profile.reasoning == ("<think>", "</think>")
    for thoughts in (
        "<think>\nParis [1] it is.\n</think>\n\n",
        "Paris [1] it is.</think>",
    ):  # the template may write the opener
        found = reply(plan, text(thoughts + f"[{CALL}]"))
        assert ([call.arguments_json for call in found.calls], found.reasoning, found.text) == ([PARIS], "Paris [1] it is.", "")
        none = reply(plan, text(thoughts + NO_TOOL))
        assert (none.calls, none.reasoning, none.text) == ([], "Paris [1] it is.", "")
    question = (Message("user", (Text("Weather in Paris?"),)),)  # an unknown model's calls are checked for their grounding
    plain = reply(plan_for("vllm/house", ask="constrained", messages=question), text(f"[{CALL}]"))
    assert (len(plain.calls), plain.reasoning) == (1, "")


def test_half_an_answer_is_not_shown_when_the_connection_breaks() -> None:
    plan = plan_for("llamacpp/some-model", ask="constrained")
    fault = Fault(UpstreamError("it broke", None, "cut_off"))
    found = reply(plan, [Open(0, "text"), Delta(0, '[{"name": "get_wea')], end=fault)
    assert (found.text, found.calls, found.error) == ("", [], fault.error)
