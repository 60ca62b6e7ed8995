"""Prompted mode: nothing is lost, every call can be parsed back, and any chat template accepts the result."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.laws.dialect_cases import shared_tools
from toolglot import CallerError, Choice, Media, Message, Reasoning, Request, Text, Tool, ToolCall, ToolResult, extract
from toolglot.dialects import dialect_names, find_dialect
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.nonce import NONCE_DIALECTS, with_nonce
from toolglot.pipeline.request.history_as_text import results_as_text
from toolglot.pipeline.request.prompted_tools import prompt_tools
from toolglot.pipeline.request.prompts import augment_system_prompt
from toolglot.pipeline.response.tool_call_scanner import CallFound, ToolCallScanner, scanner_config

TOOLS = tuple(shared_tools())
WEATHER = ToolCall("c1", "get_weather", '{"city":"Zürich","days":3}')
SEARCH = ToolCall("c2", "search", '{"query":"a \\"b\\" & c","limit":2,"exact":true}')
TIME = ToolCall("c3", "get_time", "{}")
TALK = Request(
    "m",
    (
        Message("system", (Text("Be brief."),)),
        Message("user", (Text("Weather in Zürich, and news?"),)),
        Message("assistant", (Text("Let me look."), WEATHER, SEARCH)),
        Message(
            "tool",
            (ToolResult("c1", "get_weather", (Text("sunny"),)), ToolResult("c2", "search", (Text("no disk"),), is_error=True)),
        ),
        Message("user", (Text("And the time?"),)),
        Message("assistant", (TIME,)),
        Message("tool", (ToolResult("c3", "get_time", (Text("12:30"),)),)),
    ),
    TOOLS,
    parallel=True,
    temperature=0.5,
)


def dialect(name: str) -> Dialect:
    found = find_dialect(name)
    assert found is not None
    return found


def text(message: Message) -> str:
    assert all(isinstance(part, Text) for part in message.parts)
    return "".join(part.text for part in message.parts if isinstance(part, Text))


def pairs(calls: Any) -> list[tuple[str, Any]]:
    return [(call.full_name, call.arguments) for call in calls]


@pytest.mark.parametrize("name", dialect_names())
def test_calls_are_read_back_from_the_history(name: str) -> None:
    prompted = prompt_tools(TALK, dialect(name))
    texts = [text(message) for message in prompted.messages if message.role == "assistant"]
    read = [extract(one, TOOLS, dialect=name) for one in texts]
    assert [pairs(found.calls) for found in read] == [
        pairs([WEATHER, SEARCH]),
        pairs([TIME]),
    ]
    assert read[0].text.strip() == "Let me look."


@pytest.mark.parametrize("name", dialect_names())
def test_what_is_left_is_a_plain_conversation(name: str) -> None:
    notes: list[str] = []
    prompted = prompt_tools(TALK, dialect(name), style="agentic", notes=notes)
    assert [message.role for message in prompted.messages] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert (prompted.tools, prompted.choice, prompted.parallel, prompted.temperature) == ((), None, None, 0.5)
    assert text(prompted.messages[0]) == augment_system_prompt("Be brief.", TOOLS, dialect=name, style="agentic")
    results = text(prompted.messages[3])
    assert results.index("sunny") < results.index("Error: no disk") < results.index("And the time?")
    assert "12:30" in text(prompted.messages[5])
    assert notes == [
        "history: 3 calls and 3 results written as text",
        f"tools: 5 in the system prompt, in the dialect {name}",
    ]


@pytest.mark.parametrize("name", NONCE_DIALECTS)
def test_calls_of_the_history_carry_the_nonce(name: str) -> None:
    prompted = prompt_tools(TALK, dialect(name), nonce="7f3a")
    scanner = ToolCallScanner(scanner_config([with_nonce(dialect(name), "7f3a")], {tool.full_name: tool for tool in TOOLS}))
    pieces = [*scanner.feed(text(prompted.messages[2])), *scanner.close()]
    calls = [call.name for piece in pieces if isinstance(piece, CallFound) for call in piece.parsed.calls]
    assert calls == ["get_weather", "search"]
    assert "7f3a" in text(prompted.messages[0])
    assert "7f3a" in text(prompted.messages[3])


def test_a_system_prompt_is_made_where_there_is_none() -> None:
    prompted = prompt_tools(msgspec.structs.replace(TALK, messages=TALK.messages[1:2]), dialect("tagged"))
    assert [message.role for message in prompted.messages] == ["system", "user"]
    assert text(prompted.messages[0]) == augment_system_prompt("", TOOLS)


def test_a_system_prompt_with_something_beside_its_text_keeps_it() -> None:
    kept = Text("Be brief.", extra={"anthropic": {"cache_control": {"type": "ephemeral"}}})
    prompted = prompt_tools(Request("m", (Message("system", (kept,)),), TOOLS), dialect("tagged"))
    assert prompted.messages[0].parts == (kept, Text(augment_system_prompt("", TOOLS)))


def test_the_system_prompt_becomes_a_user_message_if_needed() -> None:
    notes: list[str] = []
    prompted = prompt_tools(TALK, dialect("tagged"), refuses=("system", "tool"), notes=notes)
    assert [message.role for message in prompted.messages] == ["user", "assistant", "user", "assistant", "user"]
    first = text(prompted.messages[0])
    assert first == augment_system_prompt("Be brief.", TOOLS) + "\n\nWeather in Zürich, and news?"
    assert "system prompt: the model's chat template has none; moved to the first user message" in notes


def test_results_may_stay_where_a_template_has_a_place_for_them() -> None:
    prompted = prompt_tools(TALK, dialect("hermes"), results_as="tool")
    assert prompted.messages[3] == TALK.messages[3]
    assert prompted.messages[2].role == "assistant"
    with pytest.raises(CallerError, match="tool, user"):
        prompt_tools(TALK, dialect("hermes"), results_as="usr")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("choice", "shown", "words", "note"),
    [
        (Choice("required"), 5, "Answer now with at least one call", "tool choice: required, stated in the prompt"),
        (
            Choice("required", ("get_time",)),
            1,
            "Answer now with a call of get_time",
            "tool choice: only get_time in the prompt",
        ),
        (
            Choice("required", ("get_time", "search")),
            2,
            "at least one call",
            "tool choice: only get_time, search in the prompt",
        ),
        (Choice("auto", ("get_time",)), 1, "If no tool is needed", "tool choice: only get_time in the prompt"),
        (Choice("auto"), 5, "If no tool is needed", "tools: 5 in the system prompt"),
    ],
)
def test_the_choice_is_in_the_prompt(choice: Choice, shown: int, words: str, note: str) -> None:
    notes: list[str] = []
    prompted = prompt_tools(msgspec.structs.replace(TALK, choice=choice), dialect("tagged"), notes=notes)
    prompt = text(prompted.messages[0])
    assert prompt.count('"parameters"') == shown
    assert words in prompt
    assert any(one.startswith(note) for one in notes)


def test_where_no_call_is_allowed_no_tool_is_taught() -> None:
    notes: list[str] = []
    prompted = prompt_tools(msgspec.structs.replace(TALK, choice=Choice("none")), dialect("tagged"), notes=notes)
    assert text(prompted.messages[0]) == "Be brief."
    assert "~~~tool_call" in text(prompted.messages[2])  # earlier calls stay in the history
    assert notes[0] == "tool choice: none; no tool is in the prompt"


def test_a_server_tool_is_left_out_with_a_note() -> None:
    notes: list[str] = []
    prompted = prompt_tools(
        msgspec.structs.replace(TALK, tools=(Tool("web_search", kind="server"), *TOOLS)), dialect("tagged"), notes=notes
    )
    assert "web_search" not in text(prompted.messages[0])
    assert "tool web_search: left out, because its server runs it" in notes


def test_one_call_at_a_time() -> None:
    prompted = prompt_tools(msgspec.structs.replace(TALK, parallel=False), dialect("tagged"))
    assert "Make one call at a time." in text(prompted.messages[0])


def test_pictures_in_results_stay() -> None:
    picture = Media("image", "image/png", "AAAA")
    request = Request(
        "m",
        (
            Message("assistant", (Reasoning("hm"), TIME)),
            Message("tool", (ToolResult("c3", "get_time", (Text("a clock"), picture)), ToolResult("c4", "search", (picture,)))),
        ),
    )
    notes: list[str] = []
    prompted = prompt_tools(request, dialect("hermes"), notes=notes)
    assert prompted.messages[0].parts[0] == Reasoning("hm")
    assert prompted.messages[1].parts == (
        Text("<tool_response>\na clock [image: below]\n</tool_response>"),
        picture,
        Text("<tool_response>\n[image: below]\n</tool_response>"),
        picture,
    )
    assert "result of get_time: image moved behind its text" in notes


def test_arguments_that_are_not_an_object_are_noted() -> None:
    notes: list[str] = []
    request = Request("m", (Message("assistant", (ToolCall("c", "get_time", '{"a":', sealed=False),)),))
    prompt_tools(request, dialect("tagged"), notes=notes)
    assert "call of get_time: its arguments are not a JSON object; left out" in notes


def test_names_of_people_are_not_mixed_up() -> None:
    request = Request("m", (Message("user", (Text("a"),), "ann"), Message("user", (Text("b"),), "bob")))
    assert prompt_tools(request, dialect("tagged")).messages == request.messages


def test_ids_are_shown_only_where_the_dialect_writes_them() -> None:
    for name in dialect_names():
        prompted = prompt_tools(TALK, dialect(name))
        called, answered = ("c2" in text(prompted.messages[at]) for at in (2, 3))
        assert called or not answered, name


SAFE = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=20)
ARGUMENTS = st.fixed_dictionaries(
    {"query": SAFE.map(lambda words: f"q {words}".strip())},
    optional={"limit": st.integers(-9, 9), "exact": st.booleans(), "tags": st.lists(SAFE, max_size=2)},
)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(["tagged", "hermes", "jamba", "deepseek_v31"]), st.lists(ARGUMENTS, min_size=1, max_size=3))
def test_any_calls_are_read_back(name: str, arguments: list[dict[str, Any]]) -> None:
    unique = list({json.dumps(one, sort_keys=True): one for one in arguments}.values())
    calls = tuple(ToolCall(f"c{at}", "search", json.dumps(one)) for at, one in enumerate(unique))
    prompted = prompt_tools(Request("m", (Message("assistant", calls),), TOOLS), dialect(name))
    found = extract(text(prompted.messages[1]), TOOLS, dialect=name)
    assert pairs(found.calls) == pairs(calls)


def test_results_are_followed_by_an_instruction() -> None:
    made_up = "call_" + "0" * 24
    messages = (
        Message("user", (Text("Weather?"),)),
        Message("assistant", (ToolCall(made_up, "get_weather", '{"city": "Rome"}'),)),
        Message("tool", (ToolResult(made_up, "get_weather", (Text("sunny"),)),)),
    )
    prompted = prompt_tools(Request("m", messages, TOOLS), dialect("tagged"))
    last = "".join(part.text for part in prompted.messages[-1].parts if isinstance(part, Text))
    assert "sunny" in last
    assert last.endswith("only if something is still missing.")
    assert made_up not in str(prompted)  # a generated id is written as a number
    further = prompt_tools(Request("m", (*messages, Message("user", (Text("And in Oslo?"),))), TOOLS), dialect("tagged"))
    assert "still missing" not in str(further)
    failed = Message("tool", (ToolResult(made_up, "get_weather", (Text("no such city"),), is_error=True),))
    again = prompt_tools(Request("m", (*messages[:2], failed), TOOLS), dialect("tagged"))
    assert "still missing" not in str(again)
    assert "Make the call that is needed now" in str(again)


def test_results_as_text_leave_no_calls() -> None:
    written = results_as_text(TALK.messages)
    assert not any(isinstance(part, ToolCall | ToolResult) for message in written for part in message.parts)
    assert text(written[-1]) == "The result of get_time is: 12:30"
    assert [message.role for message in written] == ["system", "user", "assistant", "user", "user", "user"]
    assert results_as_text(TALK.messages[:2]) == list(TALK.messages[:2])


def test_a_rejected_call_is_remembered_until_it_succeeds() -> None:
    failed = ToolResult("b", "get_time", (Text("Not run."),), is_error=True, rejected="rejected_schema")
    first = (
        Message("user", (Text("What time is it where it rains?"),)),
        Message("assistant", (ToolCall("a", "get_weather", "{}"), ToolCall("b", "get_time", '{"zone": "X"}'))),
        Message("tool", (ToolResult("a", "get_weather", (Text("rain in Oslo"),)), failed)),
    )
    text_of_last = str(prompt_tools(Request("m", first, TOOLS), dialect("tagged")).messages[-1])
    assert "get_time was not run yet." in text_of_last
    succeeded = (
        *first,
        Message("assistant", (ToolCall("c", "get_time", '{"zone": "Oslo"}'),)),
        Message("tool", (ToolResult("c", "get_time", (Text("12:30"),)),)),
    )
    text_of_last = str(prompt_tools(Request("m", succeeded, TOOLS), dialect("tagged")).messages[-1])
    assert "not run yet" not in text_of_last
    assert "Now answer the user" in text_of_last
    new = (*first, Message("user", (Text("Never mind. And here?"),)), *succeeded[-2:])
    assert "not run yet" not in str(prompt_tools(Request("m", new, TOOLS), dialect("tagged")).messages[-1])
