"""A request asked by prompt: nothing is lost, every call can be read back, and any chat template takes what is left."""

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
from toolglot.pipeline.hear import Found, Hearer, ear
from toolglot.pipeline.prompts import augment_system_prompt
from toolglot.pipeline.speak_dialect import speak
from toolglot.pipeline.turns import in_words

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


def made(calls: Any) -> list[tuple[str, Any]]:
    return [(call.full_name, call.arguments) for call in calls]


@pytest.mark.parametrize("name", dialect_names())
def test_calls_are_read_back_from_the_history(name: str) -> None:
    spoken = speak(TALK, dialect(name))
    said = [text(message) for message in spoken.messages if message.role == "assistant"]
    read = [extract(one, TOOLS, dialect=name) for one in said]
    assert [made(found.calls) for found in read] == [made([WEATHER, SEARCH]), made([TIME])]
    assert read[0].text.strip() == "Let me look."


@pytest.mark.parametrize("name", dialect_names())
def test_what_is_left_is_a_plain_conversation(name: str) -> None:
    notes: list[str] = []
    spoken = speak(TALK, dialect(name), style="agentic", notes=notes)
    assert [message.role for message in spoken.messages] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert (spoken.tools, spoken.choice, spoken.parallel, spoken.temperature) == ((), None, None, 0.5)
    assert text(spoken.messages[0]) == augment_system_prompt("Be brief.", TOOLS, dialect=name, style="agentic")
    results = text(spoken.messages[3])
    assert results.index("sunny") < results.index("Error: no disk") < results.index("And the time?")
    assert "12:30" in text(spoken.messages[5])
    assert notes == [
        "history: 3 calls and 3 results written as text",
        f"tools: 5 taught in the system prompt, in the dialect {name}",
    ]


@pytest.mark.parametrize("name", NONCE_DIALECTS)
def test_calls_of_the_history_carry_the_nonce(name: str) -> None:
    spoken = speak(TALK, dialect(name), nonce="7f3a")
    hearer = Hearer(ear([with_nonce(dialect(name), "7f3a")], {tool.full_name: tool for tool in TOOLS}))
    pieces = [*hearer.feed(text(spoken.messages[2])), *hearer.close()]
    calls = [call.name for piece in pieces if isinstance(piece, Found) for call in piece.parsed.calls]
    assert calls == ["get_weather", "search"]
    assert "7f3a" in text(spoken.messages[0])
    assert "7f3a" in text(spoken.messages[3])


def test_a_system_prompt_is_made_where_there_is_none() -> None:
    spoken = speak(msgspec.structs.replace(TALK, messages=TALK.messages[1:2]), dialect("tagged"))
    assert [message.role for message in spoken.messages] == ["system", "user"]
    assert text(spoken.messages[0]) == augment_system_prompt("", TOOLS)


def test_a_system_prompt_with_something_beside_its_text_keeps_it() -> None:
    kept = Text("Be brief.", extra={"anthropic": {"cache_control": {"type": "ephemeral"}}})
    spoken = speak(Request("m", (Message("system", (kept,)),), TOOLS), dialect("tagged"))
    assert spoken.messages[0].parts == (kept, Text(augment_system_prompt("", TOOLS)))


def test_a_template_without_a_system_role_hears_it_from_the_user() -> None:
    notes: list[str] = []
    spoken = speak(TALK, dialect("tagged"), refuses=("system", "tool"), notes=notes)
    assert [message.role for message in spoken.messages] == ["user", "assistant", "user", "assistant", "user"]
    first = text(spoken.messages[0])
    assert first == augment_system_prompt("Be brief.", TOOLS) + "\n\nWeather in Zürich, and news?"
    assert "system prompt: the model's template takes none; said in the first user message" in notes


def test_results_may_stay_where_a_template_has_a_place_for_them() -> None:
    spoken = speak(TALK, dialect("hermes"), results_as="tool")
    assert spoken.messages[3] == TALK.messages[3]
    assert spoken.messages[2].role == "assistant"
    with pytest.raises(CallerError, match="tool, user"):
        speak(TALK, dialect("hermes"), results_as="usr")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("choice", "taught", "words", "note"),
    [
        (Choice("required"), 5, "Answer now with at least one call", "tool choice: required, said in words"),
        (Choice("required", ("get_time",)), 1, "Answer now with a call of get_time", "tool choice: only get_time taught"),
        (Choice("required", ("get_time", "search")), 2, "at least one call", "tool choice: only get_time, search taught"),
        (Choice("auto", ("get_time",)), 1, "If no tool is needed", "tool choice: only get_time taught"),
        (Choice("auto"), 5, "If no tool is needed", "tools: 5 taught"),
    ],
)
def test_the_choice_is_said_in_words(choice: Choice, taught: int, words: str, note: str) -> None:
    notes: list[str] = []
    spoken = speak(msgspec.structs.replace(TALK, choice=choice), dialect("tagged"), notes=notes)
    prompt = text(spoken.messages[0])
    assert prompt.count('"parameters"') == taught
    assert words in prompt
    assert any(one.startswith(note) for one in notes)


def test_where_no_call_is_allowed_no_tool_is_taught() -> None:
    notes: list[str] = []
    spoken = speak(msgspec.structs.replace(TALK, choice=Choice("none")), dialect("tagged"), notes=notes)
    assert text(spoken.messages[0]) == "Be brief."
    assert "~~~tool_call" in text(spoken.messages[2])  # what was called before is still told
    assert notes[0] == "tool choice: none; no tool is taught"


def test_a_servers_own_tool_is_left_out_with_a_note() -> None:
    notes: list[str] = []
    spoken = speak(
        msgspec.structs.replace(TALK, tools=(Tool("web_search", kind="server"), *TOOLS)), dialect("tagged"), notes=notes
    )
    assert "web_search" not in text(spoken.messages[0])
    assert "tool web_search: a server's own can't be taught; left out" in notes


def test_one_call_at_a_time() -> None:
    spoken = speak(msgspec.structs.replace(TALK, parallel=False), dialect("tagged"))
    assert "Make one call at a time." in text(spoken.messages[0])


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
    spoken = speak(request, dialect("hermes"), notes=notes)
    assert spoken.messages[0].parts[0] == Reasoning("hm")
    assert spoken.messages[1].parts == (
        Text("<tool_response>\na clock [image: below]\n</tool_response>"),
        picture,
        Text("<tool_response>\n[image: below]\n</tool_response>"),
        picture,
    )
    assert "result of get_time: image kept behind its text" in notes


def test_arguments_that_are_no_object_are_told() -> None:
    notes: list[str] = []
    request = Request("m", (Message("assistant", (ToolCall("c", "get_time", '{"a":', sealed=False),)),))
    speak(request, dialect("tagged"), notes=notes)
    assert "call of get_time: its arguments are no JSON object; written as none" in notes


def test_names_of_people_are_not_mixed_up() -> None:
    request = Request("m", (Message("user", (Text("a"),), "ann"), Message("user", (Text("b"),), "bob")))
    assert speak(request, dialect("tagged")).messages == request.messages


def test_ids_are_shown_only_where_the_dialect_writes_them() -> None:
    for name in dialect_names():
        spoken = speak(TALK, dialect(name))
        called, answered = ("c2" in text(spoken.messages[at]) for at in (2, 3))
        assert called or not answered, name


SAFE = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=20)
ARGUMENTS = st.fixed_dictionaries(
    {"query": SAFE.map(lambda words: f"q {words}".strip())},
    optional={"limit": st.integers(-9, 9), "exact": st.booleans(), "tags": st.lists(SAFE, max_size=2)},
)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(["tagged", "hermes", "jamba", "deepseek_v31"]), st.lists(ARGUMENTS, min_size=1, max_size=3))
def test_any_calls_are_read_back(name: str, arguments: list[dict[str, Any]]) -> None:
    unique = list({json.dumps(one): one for one in arguments}.values())
    calls = tuple(ToolCall(f"c{at}", "search", json.dumps(one)) for at, one in enumerate(unique))
    spoken = speak(Request("m", (Message("assistant", calls),), TOOLS), dialect(name))
    found = extract(text(spoken.messages[1]), TOOLS, dialect=name)
    assert made(found.calls) == made(calls)


def test_behind_results_stands_what_to_do_with_them() -> None:
    made_up = "call_" + "0" * 24
    messages = (
        Message("user", (Text("Weather?"),)),
        Message("assistant", (ToolCall(made_up, "get_weather", '{"city": "Rome"}'),)),
        Message("tool", (ToolResult(made_up, "get_weather", (Text("sunny"),)),)),
    )
    asked = speak(Request("m", messages, TOOLS), dialect("tagged"))
    last = "".join(part.text for part in asked.messages[-1].parts if isinstance(part, Text))
    assert "sunny" in last
    assert last.endswith("only if something is still missing.")
    assert made_up not in str(asked)  # what we made up is written as a number: models copy what they see
    further = speak(Request("m", (*messages, Message("user", (Text("And in Oslo?"),))), TOOLS), dialect("tagged"))
    assert "still missing" not in str(further)
    refused = Message("tool", (ToolResult(made_up, "get_weather", (Text("no such city"),), is_error=True),))
    again = speak(Request("m", (*messages[:2], refused), TOOLS), dialect("tagged"))
    assert "still missing" not in str(again)
    assert "Make the call that is needed now" in str(again)


def test_results_in_words_leave_no_trace_of_calls() -> None:
    said = in_words(TALK.messages)
    assert not any(isinstance(part, ToolCall | ToolResult) for message in said for part in message.parts)
    assert [part.text for part in said[-1].parts if isinstance(part, Text)] == [
        "The result of get_time is: 12:30",
        "Write the answer in one sentence.",
    ]
    assert [message.role for message in said] == ["system", "user", "assistant", "user", "user", "user"]
    assert in_words(TALK.messages[:2]) == list(TALK.messages[:2])


def test_a_refused_call_is_remembered_until_it_is_made() -> None:
    refused = ToolResult("b", "get_time", (Text("Not run: get_time: zone is 'X', which stands nowhere"),), is_error=True)
    first = (
        Message("user", (Text("What time is it where it rains?"),)),
        Message("assistant", (ToolCall("a", "get_weather", "{}"), ToolCall("b", "get_time", '{"zone": "X"}'))),
        Message("tool", (ToolResult("a", "get_weather", (Text("rain in Oslo"),)), refused)),
    )
    told = str(speak(Request("m", first, TOOLS), dialect("tagged")).messages[-1])
    assert "get_time was not run yet." in told
    made = (
        *first,
        Message("assistant", (ToolCall("c", "get_time", '{"zone": "Oslo"}'),)),
        Message("tool", (ToolResult("c", "get_time", (Text("12:30"),)),)),
    )
    told = str(speak(Request("m", made, TOOLS), dialect("tagged")).messages[-1])
    assert "not run yet" not in told
    assert "Now answer the user" in told
    new = (*first, Message("user", (Text("Never mind. And here?"),)), *made[-2:])
    assert "not run yet" not in str(speak(Request("m", new, TOOLS), dialect("tagged")).messages[-1])
