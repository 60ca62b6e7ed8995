"""OpenAI Responses: requests, history, tools, choices, both ways."""

from __future__ import annotations

from typing import Any

import pytest

from toolglot.core.envelope import seal
from toolglot.core.interfaces import Quirks, ResponseContext
from toolglot.core.messages import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult
from toolglot.core.reply import Reply, Stop
from toolglot.core.request import Output, Request, Thinking
from toolglot.core.tools import Choice, Tool
from toolglot.errors import CallerError, UpstreamError
from toolglot.wires.openai_responses import WIRE

OURS = "openai-responses"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
WEATHER = Tool("get_weather", "Says the weather.", SCHEMA)
PIXEL = "data:image/png;base64,AA=="


def written(request: Request, quirks: Quirks | None = None) -> tuple[dict[str, Any], list[str]]:
    notes: list[str] = []
    return WIRE.write_request(request, notes, quirks or Quirks()), notes


def history(*items: dict[str, Any]) -> tuple[Message, ...]:
    return WIRE.read_messages(list(items))


def said(role: Any, *parts: Any) -> Message:
    return Message(role, tuple(Text(part) if isinstance(part, str) else part for part in parts))


def round_trip(*items: dict[str, Any]) -> list[Any]:
    notes: list[str] = []
    again = WIRE.write_messages(history(*items), notes, Quirks())
    assert notes == []
    return again


FULL = Request(
    "m",
    (
        said("system", "Be brief."),
        said("developer", "Mind the gap."),
        said("user", "hi", Media("image", "image/png", "AA==", extra={OURS: {"detail": "low"}})),
        said(
            "assistant",
            Reasoning("Need two.", {OURS: {"id": "rs_1", "encrypted_content": "gAAA"}}),
            Text("Looking.", None, {OURS: {"id": "msg_1", "phase": "commentary"}}),
            ToolCall("call_a", "get_weather", '{"city":"Paris"}', extra={OURS: {"id": "fc_1"}}),
            ToolCall("call_b", "find", '{"q":1}', "crm"),
            ToolCall("call_c", "run_sql", '{"input":"select 1\\n"}', custom=True),
        ),
        said(
            "tool",
            ToolResult("call_a", "get_weather", (Text("18C"), Media("image", "image/png", "AA=="))),
            ToolResult("call_b", "crm__find", (Text("Ann"),)),
            ToolResult("call_c", "run_sql", ()),
        ),
        said("user", "and?"),
    ),
    (
        WEATHER,
        Tool("strict_one", schema=SCHEMA, strict=True, deferred=True, extra={OURS: {"async": True}}),
        Tool("find", schema=SCHEMA, namespace="crm", extra={OURS: {"namespace": {"description": "Customers."}}}),
        Tool("note", kind="custom", namespace="crm"),
        Tool("run_sql", kind="custom", format={"type": "grammar", "syntax": "regex", "definition": ".+"}),
        Tool("web_search", kind="server", extra={OURS: {"type": "web_search", "search_context_size": "low"}}),
        Tool("bare"),
    ),
    Choice("required"),
    parallel=False,
    stream=True,
    stream_usage=True,
    max_tokens=100,
    temperature=0.5,
    top_p=0.9,
    verbosity="low",
    user="u",
    thinking=Thinking("off", show=True, extra={OURS: {"summary": "detailed", "context": "all_turns"}}),
    output=Output(SCHEMA, "facts", "Facts.", True),
    extra={
        "openai": {"store": False, "prompt_cache_key": "k", "metadata": {"a": "b"}},
        OURS: {"include": ["reasoning.encrypted_content"], "truncation": "auto", "new_thing": 1},
    },
)


def test_a_full_request_comes_back() -> None:
    body, notes = written(FULL)
    assert notes == []
    assert WIRE.read_request(body) == FULL
    assert body["instructions"] == "Be brief."
    assert [item.get("type") for item in body["input"]] == [
        "message", "message", "reasoning", "message", "function_call", "function_call", "custom_tool_call",
        "function_call_output", "function_call_output", "custom_tool_call_output", "message",
    ]  # fmt: skip
    assert body["text"] == {
        "verbosity": "low",
        "format": {"type": "json_schema", "name": "facts", "schema": SCHEMA, "description": "Facts.", "strict": True},
    }
    assert body["reasoning"] == {"effort": "none", "summary": "detailed", "context": "all_turns"}
    assert (body["store"], body["include"], body["new_thing"]) == (False, ["reasoning.encrypted_content"], 1)


def test_input_as_a_string_and_instructions() -> None:
    request = WIRE.read_request({"model": "m", "input": "hi", "instructions": "Be brief.", "stream": True})
    assert request == Request("m", (said("system", "Be brief."), said("user", "hi")), stream=True, stream_usage=True)
    assert WIRE.read_request({"model": "m", "previous_response_id": "resp_1"}).messages == ()


def test_a_system_prompt_of_several_texts_is_one_instruction_but_an_item_keeps_its_id() -> None:
    body, _ = written(Request("m", (said("system", "a", "b"), said("user", "hi"))))
    assert body["instructions"] == "a\n\nb"
    item = {"type": "message", "role": "system", "id": "msg_1", "content": [{"type": "input_text", "text": "a"}]}
    assert WIRE.write_request(WIRE.read_request({"model": "m", "input": [item]}), [], Quirks())["input"] == [item]


# -- history


def test_the_items_of_one_turn_are_one_message() -> None:
    turns = history(
        {"role": "user", "content": "a"},
        {"role": "user", "content": "b"},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}},
        {"role": "assistant", "content": "c"},
        {"type": "function_call", "call_id": "1", "name": "f", "arguments": ""},
        {"type": "function_call", "call_id": "2", "name": "g", "arguments": {"x": 1}},
        {"type": "function_call_output", "call_id": "2", "output": "two"},
        {"type": "function_call_output", "call_id": "1", "output": "one"},
        {"type": "function_call", "call_id": "3", "name": "f", "arguments": "{}"},
    )
    assert [turn.role for turn in turns] == ["user", "user", "assistant", "tool", "assistant"]
    kinds = [type(part) for part in turns[2].parts]
    assert kinds == [Reasoning, Opaque, Text, ToolCall, ToolCall]
    assert [part.arguments_json for part in turns[2].parts if isinstance(part, ToolCall)] == ["{}", '{"x":1}']
    assert [part.name for part in turns[3].parts if isinstance(part, ToolResult)] == ["g", "f"]


@pytest.mark.parametrize(
    "item",
    [
        {"type": "item_reference", "id": "msg_9"},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "x"},
        {"type": "additional_tools", "role": "developer", "tools": []},
        {"type": "computer_call_output", "call_id": "1", "output": {"type": "computer_screenshot", "file_id": "f"}},
        {"type": "mcp_approval_response", "approval_request_id": "1", "approve": True},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": t} for t in "ab"]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "raw"}]},
        {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"},
        {"type": "function_call", "id": "fc_1", "call_id": "1", "name": "f", "arguments": "{", "status": "incomplete"},
        {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}", "caller": {"type": "direct"}},
        {"type": "custom_tool_call_output", "call_id": "of before", "output": "done"},
        {"type": "function_call_output", "call_id": "1", "output": [{"type": "input_file", "file_id": "f"}], "name": "n"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_audio", "data": "x"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_image", "file_id": "f", "detail": "auto"}]},
        {"type": "message", "role": "developer", "id": "msg_1", "content": [{"type": "input_text", "text": "x"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_file", "file_url": "http://a/b", "filename": "c"}]},
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_audio", "input_audio": {"data": "A", "format": "mp3"}}],
        },
    ],
)
def test_what_only_this_wire_knows_comes_back_untouched(item: dict[str, Any]) -> None:
    assert round_trip(item) == [item]


def test_the_text_of_reasoning_is_its_parts_joined() -> None:
    both = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "short"}],
        "content": [{"type": "reasoning_text", "text": "long"}],
    }
    (turn,) = history(both)
    assert isinstance(turn.parts[0], Reasoning)
    assert turn.parts[0].text == "long"
    assert round_trip(both) == [both]


def test_several_texts_of_one_item_stay_one_item() -> None:
    content = [
        {"type": "output_text", "text": "a", "annotations": [{"type": "url_citation", "url": "u"}]},
        {"type": "refusal", "refusal": "no"},
    ]
    item = {"type": "message", "role": "assistant", "id": "msg_1", "phase": "final_answer", "content": content}
    other = {**item, "id": "msg_2", "content": [{"type": "output_text", "text": "c", "annotations": []}]}
    assert round_trip(item, other) == [item, other]
    (turn,) = history(item)
    assert [getattr(part, "channel", "") for part in turn.parts] == [None, "refusal"]


def test_a_picture_in_a_result() -> None:
    body, _ = written(FULL)
    assert body["input"][7]["output"] == [
        {"type": "input_text", "text": "18C"},
        {"type": "input_image", "image_url": PIXEL, "detail": "auto"},
    ]


def test_an_error_is_said_in_words() -> None:
    turns = (said("assistant", ToolCall("1", "f")), said("tool", ToolResult("1", "f", (Text("no such city"),), True)))
    body, notes = written(Request("m", turns))
    assert body["input"][1]["output"] == "Error: no such city"
    assert notes == ["result 1: openai-responses has no error flag; marked in the text"]


def test_reasoning_of_others_is_left_out_and_then_items_are_not_known_by_their_ids() -> None:
    call = ToolCall("1", "f", extra={OURS: {"id": "fc_1"}})
    turn = said("assistant", Reasoning("hm", {"anthropic": {"signature": "s"}}), Reasoning("unsigned"), call)
    body, notes = written(Request("m", (turn,)))
    assert body["input"] == [{"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}]
    assert notes == [
        "reasoning: its signature is for anthropic only; left out",
        "reasoning: openai-responses accepts only what it signed; left out",
    ]


def test_what_has_no_place_is_noted() -> None:
    turns = (
        Message("user", (Media("audio", url="http://a/b"),), name="Ann", extra={"openai-chat": {"weight": 1}}),
        said("assistant", Media("image", "image/png", "AA=="), Opaque("anthropic", {"type": "server_tool_use"})),
    )
    request = Request("m", turns, seed=1, stop=("x",), top_k=3, thinking=Thinking("high", 1000))
    _, notes = written(request)
    assert [note.partition(":")[0] for note in notes] == [
        "user message", "audio", "user message", "assistant message",
        "a block that only anthropic has (server_tool_use) was left out",
        "top_k", "stop", "seed", "thinking budget",
    ]  # fmt: skip


def test_ids_that_we_made_up_mean_nothing_and_state_under_seal_is_opened() -> None:
    reply = Reply(
        "resp_x",
        parts=(
            Reasoning("hm", {"anthropic": {"signature": "s"}}),
            Text("a", extra={"gemini": {"thoughtSignature": "t"}}),
            ToolCall("1", "f", extra={"gemini": {"thoughtSignature": "c"}}),
            Reasoning("plain"),
            ToolCall("2", "g", '{"input":"x"}', custom=True),
        ),
        stop=Stop("calls"),
    )
    output = WIRE.write_reply(reply, ResponseContext(), [])["output"]
    assert len({item["id"] for item in output}) == len(output) == 7
    (turn,) = history(*output)
    assert turn.parts == reply.parts


def test_a_signature_that_came_late_goes_back_to_what_stood_before_it() -> None:
    sealed = seal({"gemini": {"thoughtSignature": "t"}, "toolglot": {"of": "last"}}, but=OURS)
    turns = history(
        {"role": "assistant", "content": "a"},
        {"type": "reasoning", "summary": [], "encrypted_content": sealed},
    )
    assert turns == (said("assistant", Text("a", extra={"gemini": {"thoughtSignature": "t"}})),)


# -- tools


def test_parameters_and_strict_are_always_written() -> None:
    tools = WIRE.write_tools((Tool("f"), Tool("g", schema=SCHEMA, strict=True)), [], Quirks())
    assert tools == [
        {"type": "function", "name": "f", "parameters": None, "strict": False},
        {"type": "function", "name": "g", "parameters": SCHEMA, "strict": True},
    ]
    assert WIRE.read_tools(tools)[0].strict is None
    notes: list[str] = []
    assert WIRE.write_tools((Tool("g", strict=True),), notes, Quirks(strict=False))[0]["strict"] is False
    assert notes == ["tool g: the server does not support strict; left out"]


def test_a_namespace_is_one_tool_with_all_that_is_said_of_it() -> None:
    inner = {"type": "function", "name": "find", "parameters": SCHEMA, "strict": False, "allowed_callers": ["direct"]}
    space = {"type": "namespace", "name": "crm", "description": "Customers.", "tools": [inner, {**inner, "name": "add"}]}
    tools = WIRE.read_tools([space, {"type": "namespace", "name": "empty", "tools": []}])
    assert [(tool.namespace, tool.name, tool.kind) for tool in tools] == [
        ("crm", "find", "function"),
        ("crm", "add", "function"),
        (None, "namespace", "server"),
    ]
    assert WIRE.write_tools(tools, [], Quirks()) == [space, {"type": "namespace", "name": "empty", "tools": []}]


def test_tools_that_a_server_does_not_know() -> None:
    notes: list[str] = []
    tools = (Tool("sql", kind="custom"), Tool("x", kind="server", extra={"anthropic": {"type": "x"}}))
    (only,) = WIRE.write_tools(tools, notes, Quirks(custom_tools=False))
    assert only["parameters"]["required"] == ["input"]
    assert notes == [
        "tool sql: a custom tool is sent as a function with one string",
        "tool x: a server tool of another vendor; left out",
    ]


FORCED = {"type": "function", "name": "get_weather"}
SUBSET = {"type": "allowed_tools", "mode": "auto", "tools": [FORCED, {"type": "custom", "name": "run_sql"}]}


@pytest.mark.parametrize(
    ("value", "choice"),
    [
        ("auto", Choice()),
        ("none", Choice("none")),
        ("required", Choice("required")),
        (FORCED, Choice("required", ("get_weather",))),
        ({"type": "custom", "name": "run_sql"}, Choice("required", ("run_sql",))),
        ({"type": "function", "name": "find"}, Choice("required", ("crm__find",))),
        (SUBSET, Choice("auto", ("get_weather", "run_sql"))),
        ({**SUBSET, "mode": "required"}, Choice("required", ("get_weather", "run_sql"))),
        ({"type": "web_search_preview"}, Choice("required", extra={OURS: {"type": "web_search_preview"}})),
        (
            {"type": "mcp", "server_label": "x", "name": "y"},
            Choice("required", extra={OURS: {"type": "mcp", "server_label": "x", "name": "y"}}),
        ),
    ],
)
def test_every_form_of_choice(value: Any, choice: Choice) -> None:
    body, _ = written(Request("m", (), FULL.tools))
    request = WIRE.read_request({**body, "tool_choice": value})
    assert request.choice == choice
    assert written(request)[0]["tool_choice"] == value


def test_a_subset_with_server_tools_is_kept_whole() -> None:
    value = {"type": "allowed_tools", "mode": "required", "tools": [FORCED, {"type": "image_generation"}]}
    choice = WIRE.read_choice(value)
    assert choice == Choice("required", ("get_weather",), {OURS: value})


def test_a_server_that_takes_no_subset_gets_fewer_tools() -> None:
    tools = (WEATHER, Tool("f"), Tool("g"))
    body, notes = written(Request("m", (), tools, Choice("auto", ("f", "g"))), Quirks(allowed_tools=False))
    assert [tool["name"] for tool in body["tools"]] == ["f", "g"]
    assert body["tool_choice"] == "auto"
    assert notes == ["tool_choice: the server does not support a subset of tools; other tools were left out"]


# -- errors


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"input": 5}, "input"),
        ({"input": [5]}, "input[0]"),
        ({"input": [{}]}, "input[0].type"),
        ({"input": [{"role": "tool", "content": ""}]}, "input[0].role"),
        ({"input": [{"role": ["user"], "content": ""}]}, "input[0].role"),
        ({"input": [{"role": "user", "content": 5}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": [{"type": "input_text"}]}]}, "input[0].content[0].text"),
        ({"input": [{"type": "function_call", "call_id": 5, "name": "f"}]}, "input[0].call_id"),
        ({"input": [{"type": "function_call", "call_id": "1"}]}, "input[0].name"),
        ({"input": [{"type": "function_call_output", "call_id": "1", "output": 5}]}, "input[0].output"),
        ({"input": [{"type": "reasoning", "summary": "x"}]}, "input[0].summary"),
        ({"instructions": []}, "instructions"),
        ({"tools": {}, "tool_choice": 5}, "tool_choice"),
        ({"tools": [{"type": "function"}]}, "tools[0].name"),
        ({"tools": [{"type": "namespace", "name": "n", "tools": [{"type": "custom"}]}]}, "tools[0].tools[0].name"),
        ({"tool_choice": {"type": "allowed_tools", "tools": [{}]}}, "tool_choice.tools[0].name"),
        ({"max_output_tokens": "many"}, "max_output_tokens"),
        ({"reasoning": {"effort": 5}}, "reasoning.effort"),
        ({"text": {"format": {"type": "json_schema"}}}, "text.format.schema"),
    ],
)
def test_a_bad_shape_is_named(body: dict[str, Any], where: str) -> None:
    with pytest.raises(CallerError) as caught:
        WIRE.read_request({"model": "m", **body})
    assert caught.value.where == where


def test_errors_in_the_wires_own_shape() -> None:
    status, body = WIRE.write_error(UpstreamError("slow down", 429, "rate_limit_exceeded"))
    assert (status, body["error"]["type"], body["error"]["code"]) == (429, "rate_limit_error", "rate_limit_exceeded")
    assert WIRE.write_error(UpstreamError("gone"))[0] == 502
