"""Anthropic Messages: requests both ways, and what is said where something can't be carried."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult
from toolglot.core.names import sanitize_names
from toolglot.core.request import Output, Request, Thinking
from toolglot.core.tools import Choice, Tool
from toolglot.wires.anthropic import WIRE

Body = dict[str, Any]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool("get_weather", "Weather now", SCHEMA)
CLOCK = Tool("get_time")
HELLO = Message("user", (Text("hello"),))
PROGRAM = {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"}
FULL: Body = {
    "model": "claude",
    "max_tokens": 500,
    "system": [{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {"role": "user", "content": "Weather and time in Paris?"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Two lookups.", "signature": "Eq0B"},
                {"type": "redacted_thinking", "data": "zzz"},
                {"type": "text", "text": "Checking."},
                {"type": "tool_use", "id": "toolu_a", "name": "get_weather", "input": {"city": "Paris"}},
                {"type": "tool_use", "id": "toolu_b", "name": "get_time", "input": {}, "caller": PROGRAM},
                {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {"query": "x"}},
                {"type": "web_search_tool_result", "tool_use_id": "srv", "content": []},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_a",
                    "content": [
                        {"type": "text", "text": "18C"},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
                        {"type": "tool_reference", "tool_name": "other"},
                    ],
                },
                {"type": "tool_result", "tool_use_id": "toolu_b", "content": "clock offline", "is_error": True},
                {"type": "text", "text": "Be brief."},
            ],
        },
        {"role": "system", "content": "From now on in French."},
    ],
    "tools": [
        {
            "name": "get_weather",
            "description": "Weather now",
            "input_schema": SCHEMA,
            "strict": True,
            "cache_control": {"type": "ephemeral", "ttl": "5m"},
            "input_examples": [{"city": "Paris"}],
        },
        {"name": "get_time", "input_schema": {"type": "object", "properties": {}}},
        {"type": "web_search_20260318", "name": "web_search", "max_uses": 3},
        {"type": "computer_toolset_20260801"},
    ],
    "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
    "stream": True,
    "stop_sequences": ["END"],
    "temperature": 0.5,
    "top_p": 0.9,
    "top_k": 5,
    "thinking": {"type": "enabled", "budget_tokens": 2000, "display": "omitted"},
    "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": SCHEMA}, "later": 1},
    "metadata": {"user_id": "u1", "team": "t"},
    "context_management": {"edits": []},
    "service_tier": "auto",
}


def write(request: Request, quirks: Quirks = Quirks()) -> tuple[Body, list[str]]:  # noqa: B008
    notes: list[str] = []
    return WIRE.write_request(request, notes, quirks), notes


def ask(*messages: Message, **fields: Any) -> Request:
    fields.setdefault("max_tokens", 100)
    return Request("m", messages or (HELLO,), **fields)


def read_content(content: Any, role: str = "user") -> tuple[Message, ...]:
    return WIRE.read_messages([{"role": role, "content": content}])


def written_blocks(*messages: Message) -> tuple[Any, list[str]]:
    notes: list[str] = []
    return WIRE.write_messages(messages, notes, Quirks()), notes


# -- the whole


def test_a_full_request_means_what_it_says() -> None:
    request = WIRE.read_request(FULL)
    assert [message.role for message in request.messages] == ["system", "user", "assistant", "tool", "user", "system"]
    system, _, turn, results, beside, _ = request.messages
    assert system.parts == (Text("Be kind.", extra={"anthropic": {"cache_control": {"type": "ephemeral"}}}),)
    assert turn.parts[0] == Reasoning("Two lookups.", {"anthropic": {"signature": "Eq0B"}})
    assert turn.parts[1] == Reasoning("", {"anthropic": {"redacted_thinking": "zzz"}})
    assert turn.parts[3] == ToolCall("toolu_a", "get_weather", '{"city":"Paris"}')
    assert turn.parts[4] == ToolCall("toolu_b", "get_time", extra={"anthropic": {"caller": PROGRAM}})
    assert isinstance(turn.parts[5], Opaque)
    first, second = results.parts
    assert isinstance(first, ToolResult)
    assert isinstance(second, ToolResult)
    assert (first.call_id, first.name, first.parts[:2]) == (
        "toolu_a",
        "get_weather",
        (Text("18C"), Media("image", "image/png", "AA==")),
    )
    assert second == ToolResult("toolu_b", "get_time", (Text("clock offline"),), is_error=True)
    assert beside.parts == (Text("Be brief."),)
    assert (request.choice, request.parallel) == (Choice("required"), False)
    assert request.thinking == Thinking("high", 2000, show=False)
    assert request.output == Output(SCHEMA)
    assert (request.user, request.stop, request.top_k, request.stream_usage) == ("u1", ("END",), 5, True)
    assert request.tools[0].strict is True
    assert [tool.kind for tool in request.tools] == ["function", "function", "server", "server"]
    assert request.extra["anthropic"].keys() == {"context_management", "service_tier", "output_config", "metadata"}


def test_a_full_request_comes_back_as_it_was() -> None:
    written, notes = write(WIRE.read_request(FULL))
    assert notes == ["max_tokens 500: raised by the thinking budget, which must be less"]
    assert written == {**FULL, "max_tokens": 2500}


def test_nothing_of_the_callers_body_is_changed() -> None:
    body = {**FULL, "metadata": dict(FULL["metadata"]), "output_config": dict(FULL["output_config"])}
    write(WIRE.read_request(body))
    assert body == FULL


# -- tools and choices


@pytest.mark.parametrize(
    ("choice", "parallel", "held"),
    [
        (None, None, None),
        (None, False, {"type": "auto", "disable_parallel_tool_use": True}),
        (None, True, None),
        (Choice("auto"), None, {"type": "auto"}),
        (Choice("auto"), True, {"type": "auto", "disable_parallel_tool_use": False}),
        (Choice("none"), False, {"type": "none"}),
        (Choice("required"), None, {"type": "any"}),
        (Choice("required", ("get_time",)), False, {"type": "tool", "name": "get_time", "disable_parallel_tool_use": True}),
    ],
)
def test_choices(choice: Choice | None, parallel: bool | None, held: Body | None) -> None:
    body, notes = write(ask(tools=(WEATHER, CLOCK), choice=choice, parallel=parallel))
    assert body.get("tool_choice") == held
    assert len(body["tools"]) == 2
    assert notes == []
    back = WIRE.read_request(body)
    assert back.choice == (choice or (Choice() if held else None))
    if held and "disable_parallel_tool_use" in held:
        assert back.parallel is parallel


@pytest.mark.parametrize(("mode", "kind"), [("auto", "auto"), ("required", "any")])
def test_a_subset_is_chosen_by_leaving_tools_out(mode: Any, kind: str) -> None:
    search = Tool("web_search_1", kind="server", extra={"anthropic": {"type": "web_search_1", "name": "web_search"}})
    body, notes = write(ask(tools=(WEATHER, CLOCK, search), choice=Choice(mode, ("get_time", "web_search"))))
    assert [tool["name"] for tool in body["tools"]] == ["get_time", "web_search"]
    assert body["tool_choice"] == {"type": kind}
    assert notes == ["tool_choice: anthropic does not support a subset of tools; other tools were left out"]


def test_no_choice_without_tools() -> None:
    body, notes = write(ask(choice=Choice("required"), parallel=False))
    assert "tool_choice" not in body
    foreign = Tool("web_search", kind="server", extra={"openai-responses": {"type": "web_search"}})
    body, notes = write(ask(tools=(foreign,), choice=Choice("required")))
    assert not body.keys() & {"tools", "tool_choice"}
    assert notes == [
        "tool web_search: a server tool of another vendor; left out",
        "tool_choice required: there is no tool to call; left out",
    ]


def test_a_choice_of_times_to_come_is_kept() -> None:
    held = {"type": "ranked", "order": ["a"], "disable_parallel_tool_use": True}
    request = WIRE.read_request({"model": "m", "max_tokens": 1, "tools": FULL["tools"], "tool_choice": held})
    assert request.choice == Choice("required", extra={"anthropic": {"type": "ranked", "order": ["a"]}})
    assert write(request)[0]["tool_choice"] == held


def test_a_server_that_knows_less() -> None:
    quirks = Quirks(tool_choice=False, parallel_control=False, strict=False, server_tools=("bash_",))
    tools = (Tool("f", strict=True), CLOCK, Tool("web_1", kind="server", extra={"anthropic": {"type": "web_1"}}))
    body, notes = write(ask(tools=tools, choice=Choice("required", ("f",)), parallel=False), quirks)
    assert body["tools"] == [{"name": "f", "input_schema": {"type": "object", "properties": {}}}]
    assert "tool_choice" not in body
    assert len(notes) == 4
    body, notes = write(ask(tools=tools), quirks)
    assert "tool web_1: a server tool of another vendor; left out" in notes


def test_free_text_tools_go_as_functions() -> None:
    tool = Tool("patch", kind="custom", format={"type": "grammar", "syntax": "lark", "definition": "start: /x/"})
    call = ToolCall("c", "patch", '{"input":"*** Begin"}', custom=True)
    body, notes = write(ask(HELLO, Message("assistant", (call,)), tools=(tool,)))
    assert body["tools"][0]["input_schema"]["required"] == ["input"]
    assert body["messages"][1]["content"][0]["input"] == {"input": "*** Begin"}
    assert notes == ["tool patch: a custom tool is sent as a function with one string"]


def test_schemas_say_that_they_are_objects() -> None:
    notes: list[str] = []
    tools = WIRE.write_tools((CLOCK, Tool("f", schema={"properties": {}}), WEATHER), notes, Quirks())
    assert [tool["input_schema"]["type"] for tool in tools] == ["object"] * 3
    assert tools[2]["input_schema"] is SCHEMA


def test_names_and_ids_are_made_legal() -> None:
    call = ToolCall("call:1/x", "ns.tool", "{}")
    turns = (HELLO, Message("assistant", (call,)), Message("tool", (ToolResult("call:1/x", "ns.tool"),)))
    body, _ = write(sanitize_names(ask(*turns, tools=(Tool("ns.tool"),)), WIRE.names))
    used, answered = body["messages"][1]["content"][0], body["messages"][2]["content"][0]
    assert used["name"] == body["tools"][0]["name"] == "ns_tool_" + used["name"][-8:]
    assert used["id"] == answered["tool_use_id"] != "call:1/x"


# -- messages


def test_results_and_the_users_words_are_one_message() -> None:
    calls = Message("assistant", (ToolCall("a", "f"), ToolCall("b", "g")))
    results = Message("tool", (ToolResult("a", "f", (Text("1"),)), ToolResult("b", "g")))
    messages = (HELLO, calls, results, Message("user", (Text("and?"),)), Message("user", (Text("now"),)))
    held, notes = written_blocks(*messages)
    assert [message["role"] for message in held] == ["user", "assistant", "user", "user"]
    assert [block["type"] for block in held[2]["content"]] == ["tool_result", "tool_result", "text"]
    assert notes == []
    assert WIRE.read_messages(held) == messages


def test_results_spread_over_messages_meet_again() -> None:
    def result(call_id: str) -> Body:
        return {"type": "tool_result", "tool_use_id": call_id}

    calls = [{"type": "tool_use", "id": call_id, "name": "f", "input": {}} for call_id in "ab"]
    messages = WIRE.read_messages(
        [
            {"role": "assistant", "content": calls[:1], "mark": 1},
            {"role": "assistant", "content": calls[1:]},
            {"role": "user", "content": [{"type": "text", "text": "wait"}, result("a")]},
            {"role": "user", "content": [result("b"), {"type": "text", "text": "done"}]},
        ]
    )
    assert [message.role for message in messages] == ["assistant", "tool", "user", "user"]
    assert messages[0].extra == {"anthropic": {"mark": 1}}
    assert messages[1].parts == (ToolResult("a", "f"), ToolResult("b", "f"))


def test_unknown_keys_of_messages_and_blocks_are_kept() -> None:
    held: list[Any] = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}, "toolset_name": "t"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "", "new": 1}], "mark": 2},
        {"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]},
    ]
    messages = WIRE.read_messages(held)
    assert messages[1].extra == {"anthropic": {"mark": 2}}
    both = {**held[1], "content": [*held[1]["content"], {"type": "text", "text": "y"}]}
    assert [message.extra for message in WIRE.read_messages([both])] == [{}, {"anthropic": {"mark": 2}}]
    written, notes = written_blocks(*messages)
    assert written[0] == held[0]
    assert written[1]["content"] == [*held[1]["content"], *held[2]["content"]]
    assert written[1]["mark"] == 2
    assert notes == []


def test_system_prompts() -> None:
    system, developer = Message("system", (Text("a"),)), Message("developer", (Text("b"),))
    assert write(ask(system, HELLO))[0]["system"] == "a"
    body, _ = write(ask(system, developer, HELLO, developer))
    assert body["system"] == [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert body["messages"][1] == {"role": "system", "content": "b"}
    assert "system" not in write(ask())[0]


def test_system_messages_that_are_more_than_text() -> None:
    change = {"type": "tool_addition", "tool": {"type": "tool_reference"}}
    body: Body = {"model": "m", "max_tokens": 1, "messages": [{"role": "system", "content": [change]}]}
    assert write(WIRE.read_request(body)) == (body, [])
    picture = Message("system", (Text("a"), Media("image", "image/png", "AA==")))
    body, notes = write(ask(picture, HELLO, picture))
    assert (body["system"], body["messages"][1]) == ("a", {"role": "system", "content": "a"})
    assert notes == ["system message: anthropic accepts no images or files there; left out"] * 2


def test_media() -> None:
    pdf = Media("file", "application/pdf", "AA==", name="report")
    note = Media("file", "text/plain", b64encode("été".encode()).decode())
    far = Media("image", url="https://example.com/x.png")
    held, notes = written_blocks(Message("user", (pdf, note, far, Media("file", url="https://example.com/x.pdf"))))
    assert notes == []
    assert held[0]["content"][1]["source"] == {"type": "text", "media_type": "text/plain", "data": "été"}
    assert WIRE.read_messages(held)[0].parts[:3] == (pdf, note, far)


@pytest.mark.parametrize(
    ("media", "note"),
    [
        (Media("audio", "audio/wav", "AA=="), "audio: anthropic has no place for it; left out"),
        (Media("file", "application/zip", "AA=="), "file application/zip: anthropic accepts PDF and text; left out"),
        (Media("image"), "image: it has neither data nor a URL; left out"),
    ],
)
def test_media_that_it_can_not_hold(media: Media, note: str) -> None:
    assert written_blocks(Message("user", (Text("see"), media))) == ([{"role": "user", "content": "see"}], [note])


def test_every_text_is_plain_to_it() -> None:
    held, notes = written_blocks(Message("user", (Media("file", "text/csv", b64encode(b"a,b").decode()),)))
    assert held[0]["content"][0]["source"] == {"type": "text", "media_type": "text/plain", "data": "a,b"}
    assert notes == ["file text/csv: anthropic labels every text text/plain"]


def test_a_picture_tells_its_own_format() -> None:
    for data, mime in (("/9j/4AAQ", "image/jpeg"), ("iVBORw0K", "image/png"), ("UklGRg", "image/webp")):
        held, _ = written_blocks(Message("user", (Media("image", None, data),)))
        assert held[0]["content"][0]["source"]["media_type"] == mime


def test_files_of_anthropics_own_stay_untouched() -> None:
    blocks: list[Body] = [
        {"type": "image", "source": {"type": "file", "file_id": "f"}},
        {"type": "document", "source": {"type": "content", "content": "x"}, "title": "t"},
        {"type": "search_result", "title": "t", "source": "s", "content": []},
    ]
    messages = read_content(blocks)
    assert messages[0].parts == tuple(Opaque("anthropic", block) for block in blocks)
    assert written_blocks(*messages) == ([{"role": "user", "content": blocks}], [])


def test_what_says_nothing_is_left_out() -> None:
    assert read_content([{"type": "text", "text": ""}])[0].parts == ()
    turn = Message("assistant", (Text("\n\n"), ToolCall("a", "f")))
    held, notes = written_blocks(HELLO, turn, Message("user"))
    assert [block["type"] for block in held[1]["content"]] == ["tool_use"]
    assert notes == [
        "text: anthropic rejects text that is only white space; left out",
        "user message: it has no content for anthropic; left out",
    ]


def test_arguments_that_are_no_object() -> None:
    held, notes = written_blocks(Message("assistant", (ToolCall("a", "f", "[1"), ToolCall("b", "f", "{}"))))
    assert [block["input"] for block in held[0]["content"]] == [{}, {}]
    assert notes == ["call a: its arguments are not a JSON object; sent as {}"]


def test_speakers_names_and_foreign_blocks_are_noted() -> None:
    message = Message("user", (Text("x", extra={"gemini": {"k": 1}}), Opaque("gemini", {"type": "y"})), "bob")
    held, notes = written_blocks(message)
    assert held == [{"role": "user", "content": "x"}]
    assert notes == [
        "text: k exists only on gemini; left out",
        "a block that only gemini has (y) was left out",
        "user message: anthropic has no names for participants; left out",
    ]
