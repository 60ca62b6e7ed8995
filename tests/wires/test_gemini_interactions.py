"""Gemini Interactions: forms of requests, and streams that deviate. What all wires share is in the laws."""

from __future__ import annotations

from typing import Any

import pytest

from toolglot import Reply, convert, fold, read_stream
from toolglot.core.fold import unfold
from toolglot.core.interfaces import Quirks, ResponseContext
from toolglot.core.messages import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult
from toolglot.core.reply import Stop, Usage
from toolglot.core.request import Output, Request, Thinking
from toolglot.core.tools import Choice, Tool
from toolglot.errors import CallerError
from toolglot.io.json_codec import encode
from toolglot.wires.gemini_interactions import WIRE

NAME = WIRE.name
Body = dict[str, Any]


def read(**fields: Any) -> Request:
    return WIRE.read_request({"model": "m", **fields})


def write(request: Request) -> tuple[Body, list[str]]:
    notes: list[str] = []
    return WIRE.write_request(request, notes, Quirks()), notes


def said(content: Any) -> tuple[Message, ...]:
    return (Message("user", (content,)),)


# -- requests


@pytest.mark.parametrize(
    ("given", "messages"),
    [
        ("Hi", said(Text("Hi"))),
        ({"type": "text", "text": "Hi"}, said(Text("Hi"))),
        ([{"type": "text", "text": "Hi"}], said(Text("Hi"))),
        ([{"type": "user_input", "content": "Hi"}], said(Text("Hi"))),
        ({"type": "user_input", "content": [{"type": "text", "text": "Hi"}]}, said(Text("Hi"))),
        ([{"role": "user", "content": [{"type": "text", "text": "Hi"}]}], said(Text("Hi"))),
        (
            [{"type": "text", "text": "Look"}, {"type": "image", "uri": "gs://a", "mime_type": "image/webp"}],
            (Message("user", (Text("Look"), Media("image", "image/webp", url="gs://a"))),),
        ),
        (
            [{"type": "video", "data": "AA-_", "mime_type": "video/mp4"}],
            said(Media("file", "video/mp4", "AA+/")),
        ),
        (
            [{"role": "user", "content": "Hi"}, {"role": "model", "content": "Ho"}],
            (Message("user", (Text("Hi"),)), Message("assistant", (Text("Ho"),))),
        ),
        ([], ()),
        (None, ()),
    ],
)
def test_every_form_of_an_input(given: Any, messages: tuple[Message, ...]) -> None:
    assert read(input=given).messages == messages


@pytest.mark.parametrize(
    ("result", "parts"),
    [
        ("18C", (Text("18C"),)),
        ({"degrees": 18}, (Text('{"degrees":18}'),)),
        ([{"type": "text", "text": "18C"}], (Text("18C"),)),
        ([1, 2], (Text("[1,2]"),)),
        ([{"a": 1}], (Text('[{"a":1}]'),)),
        (18, (Text("18"),)),
        (None, ()),
    ],
)
def test_every_form_of_a_result(result: Any, parts: tuple[Text, ...]) -> None:
    call = {"type": "function_call", "id": "c1", "name": "f", "arguments": {}}
    request = read(input=[call, {"type": "function_result", "call_id": "c1", "result": result, "is_error": True}])
    assert request.messages[1] == Message("tool", (ToolResult("c1", "f", parts, is_error=True),))


def test_steps_of_a_turn_are_one_message_and_written_back() -> None:
    steps = [
        {"type": "thought", "signature": "c2ln", "summary": [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]},
        {"type": "google_search_call", "id": "s1", "arguments": {"queries": ["q"]}},
        {"type": "google_search_result", "call_id": "s1", "result": [{"search_suggestions": "<b>"}]},
        {"type": "model_output", "content": [{"type": "text", "text": "Hm", "annotations": [{"type": "url_citation"}]}]},
        {"type": "function_call", "id": "c1", "name": "f", "arguments": {"x": 1}, "signature": "b2xk"},
    ]
    request = read(input=steps)
    [message] = request.messages
    assert [type(part) for part in message.parts] == [Reasoning, Opaque, Opaque, Text, ToolCall]
    assert write(request)[0]["input"] == steps


@pytest.mark.parametrize(
    ("tool_choice", "choice"),
    [
        ("auto", Choice("auto")),
        ("any", Choice("required")),
        ("none", Choice("none")),
        ("validated", Choice("auto", extra={NAME: {"mode": "validated"}})),
        ({"allowed_tools": {"mode": "any", "tools": ["f"]}}, Choice("required", ("f",))),
        ({"allowed_tools": {"mode": "validated", "tools": ["f"]}}, Choice("auto", ("f",))),
    ],
)
def test_every_tool_choice_both_ways(tool_choice: Any, choice: Choice) -> None:
    tools = [{"type": "function", "name": "f"}]
    request = read(input="Hi", tools=tools, generation_config={"tool_choice": tool_choice})
    assert request.choice == choice
    assert write(request)[0]["generation_config"] == {"tool_choice": tool_choice}


def test_strict_tools_are_a_validated_choice() -> None:
    body, _ = write(Request("m", tools=(Tool("f", strict=True),)))
    assert body["generation_config"] == {"tool_choice": "validated"}


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


@pytest.mark.parametrize(
    ("fields", "output"),
    [
        ({"response_format": {"type": "text", "mime_type": "application/json", "schema": SCHEMA}}, Output(SCHEMA)),
        ({"response_format": [{"type": "text", "schema": SCHEMA}]}, Output(SCHEMA)),
        ({"response_format": SCHEMA, "response_mime_type": "application/json"}, Output(SCHEMA)),
        ({"response_format": {"type": "text", "mime_type": "application/json"}}, Output()),
        ({"response_mime_type": "application/json"}, Output()),
        ({"response_format": {"type": "text"}}, None),
        ({"response_mime_type": "text/plain"}, None),
    ],
)
def test_every_form_of_structured_output(fields: Body, output: Output | None) -> None:
    request = read(input="Hi", **fields)
    assert (request.output, request.extra) == (output, {})


@pytest.mark.parametrize(
    "form",
    [{"type": "image", "aspect_ratio": "1:1"}, [{"type": "text"}, {"type": "image"}], {"type": "text", "mime_type": "text/x"}],
)
def test_a_format_that_only_this_api_has_is_kept(form: Any) -> None:
    request = read(input="Hi", response_format=form)
    assert request.output is None
    assert write(request)[0]["response_format"] == form
    notes: list[str] = []
    convert({"model": "m", "input": "Hi", "response_format": form}, NAME, "openai-chat", notes=notes)
    assert notes == [f"request: response_format exists only on {NAME}; left out"]


@pytest.mark.parametrize(
    ("thinking", "config", "note"),
    [
        (Thinking("high", show=True), {"thinking_level": "high", "thinking_summaries": "auto"}, ""),
        (Thinking("xhigh", show=False), {"thinking_level": "xhigh", "thinking_summaries": "none"}, ""),
        (Thinking("off"), {"thinking_level": "minimal"}, f"thinking effort off: {NAME} has minimal for it"),
        (Thinking("max"), {"thinking_level": "xhigh"}, f"thinking effort max: {NAME} has xhigh for it"),
        (Thinking(budget=100), {}, f"thinking budget: {NAME} has only levels; left out"),
    ],
)
def test_thinking(thinking: Thinking, config: Body, note: str) -> None:
    body, notes = write(Request("m", thinking=thinking))
    assert body.get("generation_config", {}) == config
    assert notes == ([note] if note else [])


def test_other_fields_come_back_and_are_noted_elsewhere() -> None:
    more = {"labels": {"a": "b"}, "service_tier": "flex", "safety_settings": [{"type": "x", "threshold": "y"}], "store": True}
    sent = {"model": "m", "input": "Hi", "generation_config": {"speech_config": {}}, **more}
    assert convert(sent, NAME, NAME) == {
        **sent,
        "input": [{"type": "user_input", "content": [{"type": "text", "text": "Hi"}]}],
    }
    notes: list[str] = []
    convert(sent, NAME, "anthropic", notes=notes)
    assert notes[-1].startswith("request: generation_config, labels, safety_settings, service_tier, store exists only on")


def test_a_system_message_inside_the_conversation_is_tagged() -> None:
    body, notes = write(Request("m", (Message("user", (Text("Hi"),)), Message("system", (Text("Be brief."),)))))
    assert body["input"][1]["content"] == [{"type": "text", "text": "<system>\nBe brief.\n</system>"}]
    assert len(notes) == 1


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"input": 5}, "input"),
        ({"input": [5]}, "input[0]"),
        ({"input": [{"type": "function_call", "name": 5}]}, "input[0].name"),
        ({"input": [{"type": "function_call", "name": "f", "arguments": [1]}]}, "input[0].arguments"),
        ({"input": [{"role": "x", "content": "Hi"}]}, "input[0].role"),
        ({"system_instruction": {}}, "system_instruction"),
        ({"tools": [{"type": "function"}]}, "tools[0].name"),
        ({"generation_config": {"tool_choice": "x"}}, "generation_config.tool_choice"),
        ({"generation_config": {"temperature": "x"}}, "generation_config.temperature"),
        ({"response_format": {"type": "text", "schema": 5}}, "response_format.schema"),
    ],
)
def test_an_invalid_request_names_the_key(fields: Body, where: str) -> None:
    with pytest.raises(CallerError) as error:
        read(**fields)
    assert error.value.where == where


# -- replies


def stream(*events: Body, done: bool = True) -> Reply:
    data = b"".join(b"event: %b\ndata: %b\n\n" % (str(one.get("event_type")).encode(), encode(one)) for one in events)
    return fold(read_stream([data + (b"event: done\ndata: [DONE]\n\n" if done else b"")], NAME))


def start(index: int, **step: Any) -> Body:
    return {"event_type": "step.start", "index": index, "step": step}


def delta(index: int, **fields: Any) -> Body:
    return {"event_type": "step.delta", "index": index, "delta": fields}


def stop(index: int) -> Body:
    return {"event_type": "step.stop", "index": index}


def completed(status: str = "completed", **fields: Any) -> Body:
    return {"event_type": "interaction.completed", "interaction": {"id": "v1_1", "status": status, "model": "m", **fields}}


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("completed", "stop"),
        ("requires_action", "stop"),  # there is no call
        ("incomplete", "length"),
        ("budget_exceeded", "length"),
        ("requires_continuation", "pause"),
        ("in_progress", "pause"),
        ("queued", "pause"),
        ("cancelled", "other"),
        ("new_one", "other"),
    ],
)
def test_every_status(status: str, reason: str) -> None:
    reply = stream(start(0, type="model_output"), delta(0, type="text", text="Hi"), stop(0), completed(status))
    assert (reply.text, reply.stop) == ("Hi", Stop(reason, status))  # type: ignore[arg-type]
    again = WIRE.write_reply(reply, ResponseContext(), [])["status"]
    assert again == (status if reason != "stop" and status != "new_one" else "incomplete" if reason == "other" else "completed")


def test_a_failed_interaction_is_an_error() -> None:
    body = {"id": "v1_1", "status": "failed", "steps": [], "errors": [{"code": "unavailable", "message": "Try later"}]}
    error = WIRE.read_reply(body, None).error
    assert error is not None
    assert (error.code, error.message) == ("unavailable", "Try later")
    assert stream(completed("failed")).error is not None


def test_an_error_event_keeps_what_came_before() -> None:
    error = {"event_type": "error", "error": {"code": "not_found", "message": "Gone"}}
    reply = stream(start(0, type="model_output"), delta(0, type="text", text="Hi"), error)
    assert reply.text == "Hi"
    assert reply.error is not None
    assert (reply.error.code, reply.error.message) == ("not_found", "Gone")


def test_a_stream_without_its_end_is_cut() -> None:
    call = start(0, type="function_call", id="c1", name="f", arguments={})
    reply = stream(call, delta(0, type="arguments_delta", arguments='{"a":'), done=False)
    assert reply.calls == []
    assert reply.error is not None
    assert reply.error.code == "stream_truncated"


def test_a_call_cut_by_the_token_limit_is_not_run() -> None:
    call = start(0, type="function_call", id="c1", name="f", arguments={})
    reply = stream(call, delta(0, type="arguments_delta", arguments='{"a":'), completed("incomplete"))
    assert reply.calls == []
    assert reply.stop == Stop("length", "incomplete")
    [part] = reply.parts
    assert isinstance(part, ToolCall)
    assert (part.sealed, part.arguments_json) == (False, '{"a":')
    notes: list[str] = []
    assert WIRE.write_reply(reply, ResponseContext(), notes)["steps"] == []
    assert notes == [f"call c1: it was cut short, and {NAME} has only complete calls; left out"]


def test_arguments_come_in_deltas_in_the_start_or_both() -> None:
    reply = stream(
        start(0, type="function_call", id="a", name="f", arguments={"x": 1}),
        stop(0),
        start(1, type="function_call", id="b", name="f", arguments={}),
        start(2, type="function_call", id="c", name="g", arguments={"x": 9}),
        delta(1, type="arguments_delta", arguments='{"x":'),
        delta(2, type="arguments_delta", arguments='{"x":3}'),
        delta(1, type="arguments_delta", arguments="2}"),
        stop(2),
        stop(1),
        start(3, type="function_call", id="d", name="h"),
        stop(3),
        completed("requires_action", usage={"total_input_tokens": 5, "total_output_tokens": 2, "total_thought_tokens": 3}),
    )
    found = [(call.id, call.name, call.arguments) for call in reply.calls]
    assert found == [("a", "f", {"x": 1}), ("b", "f", {"x": 2}), ("c", "g", {"x": 3}), ("d", "h", {})]
    assert reply.stop == Stop("calls", "requires_action")
    assert reply.usage == Usage(5, 5, reasoning=3)


def test_deltas_without_an_announced_step() -> None:
    reply = stream(
        delta(0, type="thought_summary", content={"type": "text", "text": "Hm"}),
        delta(0, type="thought_signature", signature="c2ln"),
        stop(0),
        delta(1, type="text", text="Hi"),
        completed(),
    )
    assert reply.parts == (Reasoning("Hm", {NAME: {"signature": "c2ln"}}), Text("Hi"))


@pytest.mark.parametrize("step", [{}, {"type": {"a": 1}}, {"type": 5}])
def test_the_text_of_a_step_without_a_type_is_text(step: Body) -> None:
    begun = {"event_type": "step.start", "index": 0, "step": step}
    assert stream(begun, delta(0, type="text", text="hello"), stop(0), completed()).parts == (Text("hello"),)


def test_content_of_other_kinds_and_annotations() -> None:
    citation = {"type": "url_citation", "url": "https://a", "start_index": 0, "end_index": 2}
    reply = stream(
        start(0, type="model_output"),
        delta(0, type="text", text="Hi"),
        delta(0, type="text_annotation_delta", annotations=[citation]),
        delta(0, type="image", data="AA==", mime_type="image/png"),
        stop(0),
        start(1, type="google_search_call", id="s1", arguments={}),
        delta(1, type="google_search_call", arguments={"queries": ["q"]}, signature="c2ln"),
        stop(1),
        completed(),
    )
    search = {"type": "google_search_call", "id": "s1", "arguments": {"queries": ["q"]}, "signature": "c2ln"}
    assert reply.parts == (
        Text("Hi", extra={NAME: {"annotations": [citation]}}),
        Media("image", "image/png", "AA=="),
        Opaque(NAME, search),
    )
    writer = WIRE.writer(ResponseContext(), [])
    events = list(read_stream([written_by(writer, reply)], NAME))
    assert fold(events).parts == reply.parts


def written_by(writer: Any, reply: Reply) -> bytes:
    return b"".join([*(writer.feed(event) for event in unfold(reply)), writer.close()])


def test_steps_that_the_last_event_repeats_are_read_once() -> None:
    step = {"type": "model_output", "content": [{"type": "text", "text": "Hi"}]}
    reply = stream(start(0, type="model_output"), delta(0, type="text", text="Hi"), stop(0), completed(steps=[step]))
    assert reply.text == "Hi"
    assert stream(completed(steps=[step])).text == "Hi"


def test_a_step_at_the_index_of_an_open_one_ends_it() -> None:
    events = (start(0, type="google_search_call", id="s1"), start(0, type="model_output"), delta(0, type="text", text="Hi"))
    assert stream(*events, completed()).parts == (Opaque(NAME, {"type": "google_search_call", "id": "s1"}), Text("Hi"))


def test_a_stream_has_the_events_of_the_api() -> None:
    reply = Reply("v1_1", "m", (Text("Hi"), ToolCall("c1", "f", '{"x":1}')), Stop("calls"), Usage(1, 2))
    lines = written_by(WIRE.writer(ResponseContext(), []), reply).decode().splitlines()
    assert [line.removeprefix("event: ") for line in lines if line.startswith("event: ")] == [
        "interaction.created",
        "interaction.status_update",
        *("step.start", "step.delta", "step.stop"),
        *("step.start", "step.delta", "step.stop"),
        "interaction.status_update",
        "interaction.completed",
        "done",
    ]
    assert lines[-2] == "data: [DONE]"


def test_a_stored_interaction_is_read_from_its_last_input() -> None:
    steps = [
        {"type": "user_input", "content": [{"type": "text", "text": "Weather?"}]},
        {"type": "function_call", "id": "c1", "name": "f", "arguments": {}},
        {"type": "function_result", "call_id": "c1", "result": "18C"},
        {"type": "model_output", "content": [{"type": "text", "text": "18C."}]},
    ]
    reply = WIRE.read_reply({"id": "v1_1", "object": "interaction", "status": "completed", "steps": steps}, None)
    assert (reply.parts, reply.stop) == ((Text("18C."),), Stop("stop", "completed"))


def test_usage_counts_what_server_tools_read_as_input() -> None:
    counts = {"total_input_tokens": 5, "total_tool_use_tokens": 7, "total_output_tokens": 2, "total_cached_tokens": 1}
    reply = WIRE.read_reply({"status": "completed", "steps": [], "usage": counts}, None)
    assert reply.usage == Usage(12, 2, 1, extra={NAME: {"total_tool_use_tokens": 7}})
    written = WIRE.write_reply(reply, ResponseContext(), [])["usage"]
    assert written == {**counts, "total_thought_tokens": 0, "total_tokens": 14}
