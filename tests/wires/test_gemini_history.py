"""Gemini's wire: contents, calls, results, and the signatures that must come back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.wires.gemini_pieces import Body, model, read, signed, user, with_messages, write
from toolglot.core.envelope import seal
from toolglot.core.messages import Extra, Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult
from toolglot.core.request import Output, Request, Thinking
from toolglot.wires.gemini import WIRE
from toolglot.wires.gemini.shapes import UNSIGNED


def test_results_are_linked_by_id_then_name_then_position() -> None:
    contents = [
        {"role": "model", "parts": [{"functionCall": {"name": name}} for name in ("f", "f", "g")]},
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "g", "response": {"output": "3"}}},
                {"functionResponse": {"name": "f", "response": {"output": "1"}}},
                {"functionResponse": {"name": "some other", "response": {"output": "2"}}},
            ],
        },
    ]
    results = [part for part in read(contents).messages[1].parts if isinstance(part, ToolResult)]
    assert [(part.call_id, part.name, part.text) for part in results] == [
        ("g_2", "g", "3"),
        ("f_0", "f", "1"),
        ("f_1", "f", "2"),
    ]


def test_results_leave_in_the_order_of_their_calls() -> None:
    a, b = ToolCall("a", "f"), ToolCall("b", "g")
    results = Message("tool", (ToolResult("b", "g", (Text("2"),)), ToolResult("a", "f", (Text("1"),))))
    for turn in ([model(a, b)], [model(a), model(b)]):
        answers = [part["functionResponse"] for part in write(with_messages(*turn, results))[0]["contents"][1]["parts"]]
        assert answers == [
            {"id": "a", "name": "f", "response": {"output": "1"}},
            {"id": "b", "name": "g", "response": {"output": "2"}},
        ]


def test_an_id_that_the_client_made_up_for_the_result_alone_does_not_unlink_it() -> None:
    contents = [
        {"role": "model", "parts": [{"functionCall": {"name": "f"}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "made-up", "name": "f", "response": {}}}]},
    ]
    assert read(contents).messages[1].parts == (ToolResult("f_0", "f"),)


def test_what_the_user_says_beside_results_is_a_message_behind_them() -> None:
    answer = {"functionResponse": {"id": "a", "name": "f", "response": {"output": "1"}}}
    contents = [
        {"role": "model", "parts": [{"functionCall": {"id": "a", "name": "f", "args": {}}}]},
        {"role": "user", "parts": [{"text": "And hurry."}, answer]},
    ]
    messages = read(contents).messages
    assert [message.role for message in messages] == ["assistant", "tool", "user"]
    written = write(with_messages(*messages))[0]["contents"]
    assert written[1] == {"role": "user", "parts": [answer, {"text": "And hurry."}]}


def test_contents_that_are_one_turn_become_one_message() -> None:
    contents: list[Any] = [
        {"role": "model", "parts": [{"text": "Think", "thought": True}]},
        {"role": "model", "parts": [{"text": "ing.", "thought": True}]},
        {"role": "model", "parts": [{"text": "Hel"}]},
        {"role": "model", "parts": [{"text": "lo", "thoughtSignature": "Cg=="}]},
        {"role": "model", "parts": [{"text": "!"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "a", "name": "f"}}]},
        {"role": "model", "parts": []},
        {"role": "function", "parts": [{"functionResponse": {"id": "a", "name": "f"}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "b", "name": "g"}}]},
    ]
    first, second = read(contents).messages
    assert first.parts == (
        Reasoning("Thinking."),
        Text("Hello", extra=signed("Cg==")),
        Text("!"),
        ToolCall("a", "f"),
    )
    assert len(second.parts) == 2


def test_turns_in_a_row_are_written_as_one() -> None:
    written = write(with_messages(model(Text("a")), model(ToolCall("c", "f")), user(Text("b")), user(Text("c"))))[0]["contents"]
    assert [content["role"] for content in written] == ["model", "user", "user"]
    assert len(written[0]["parts"]) == 2


def test_system_messages_lead_or_are_tagged() -> None:
    request = with_messages(
        Message("system", (Text("A"),)),
        Message("developer", (Text("B"),)),
        user(Text("x")),
        Message("system", (Text("Now C."),)),
    )
    body, notes = write(request)
    assert body["systemInstruction"] == {"parts": [{"text": "A"}, {"text": "B"}]}
    assert body["contents"][1] == {"role": "user", "parts": [{"text": "<system>\nNow C.\n</system>"}]}
    assert notes == ["system message inside the conversation: gemini has none; sent as a user message in a <system> tag"]


@pytest.mark.parametrize(
    ("response", "text", "is_error"),
    [
        ({"output": "18C"}, "18C", False),
        ({"output": [1, 2]}, "[1,2]", False),
        ({"output": ""}, "", False),
        ({"error": "broken"}, "broken", True),
        ({"error": {"code": 5}}, '{"code":5}', True),
        ({"result": "x"}, '{"result":"x"}', False),
        ({"output": "x", "error": None}, '{"output":"x","error":null}', False),
        ({}, "", False),
    ],
)
def test_what_a_response_says(response: Body, text: str, is_error: bool) -> None:
    request = read([{"parts": [{"functionResponse": {"id": "a", "name": "f", "response": response}}]}])
    (result,) = request.messages[0].parts
    assert isinstance(result, ToolResult)
    assert (result.text, result.is_error) == (text, is_error)
    again = WIRE.read_request(write(request)[0])
    assert again.messages == request.messages


@pytest.mark.parametrize(
    ("text", "response"),
    [
        ("plain", {"output": "plain"}),
        ('{"temp": 18}', {"temp": 18}),
        ("{broken", {"output": "{broken"}),
        ("[1]", {"output": "[1]"}),
        ("{}", {"output": "{}"}),
        ('{"output":"x"}', {"output": '{"output":"x"}'}),
        ('{"error":"x"}', {"output": '{"error":"x"}'}),
    ],
)
def test_a_result_that_is_an_object_goes_as_one(text: str, response: Body) -> None:
    body, notes = write(with_messages(Message("tool", (ToolResult("a", "f", (Text(text),)),))))
    assert body["contents"][0]["parts"][0]["functionResponse"]["response"] == response
    assert notes == []


def test_results_with_several_parts() -> None:
    parts = (
        Text("one"),
        Text("two"),
        Media("image", "image/png", "AA=="),
        Media("file", "application/pdf", url="https://x/y.pdf", name="y.pdf"),
        Media("image"),
        Opaque("anthropic", {"type": "search_result"}),
    )
    body, notes = write(with_messages(Message("tool", (ToolResult("a", "f", parts),))))
    assert body["contents"][0]["parts"][0]["functionResponse"] == {
        "id": "a",
        "name": "f",
        "response": {"output": "one\ntwo"},
        "parts": [
            {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
            {"fileData": {"fileUri": "https://x/y.pdf", "mimeType": "application/pdf", "displayName": "y.pdf"}},
        ],
    }
    assert notes == [
        "result a: its 2 texts were joined",
        "image: it has neither data nor a URL; left out",
        "a block that only anthropic has (search_result) was left out",
    ]


def test_unknown_keys_stay_where_they_were() -> None:
    contents = [
        {
            "role": "user",
            "id": 5,
            "parts": [
                {"text": "t", "partMetadata": {"a": 1}},
                {"inlineData": {"mimeType": "video/mp4", "data": "AA==", "odd": 1}, "videoMetadata": {"fps": 2}},
                {"fileData": {"fileUri": "gs://x", "mimeType": "audio/wav"}},
                {"executableCode": {"language": "PYTHON", "code": "1"}},
            ],
        },
        {
            "role": "model",
            "parts": [{"functionCall": {"id": "a", "name": "f", "args": {}, "odd": 1}, "thoughtSignature": "Cg=="}],
        },
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "id": "a",
                        "name": "f",
                        "response": {"output": ""},
                        "parts": [{"odd": 1}],
                        "scheduling": "SILENT",
                    },
                    "partMetadata": {"b": 2},
                }
            ],
        },
    ]
    request = read(contents, cachedContent="c", labels={"a": "b"})
    body, notes = write(request)
    assert notes == []
    assert body == {"model": "m", "contents": contents, "cachedContent": "c", "labels": {"a": "b"}}


def test_arguments_that_are_no_object_go_as_an_empty_one_with_a_note() -> None:
    request = with_messages(model(ToolCall("a", "f", "[1]"), ToolCall("b", "f", "")), user(Text("x")))
    body, notes = write(request)
    assert [part["functionCall"]["args"] for part in body["contents"][0]["parts"]] == [{}, {}]
    assert notes == ["call a: its arguments are not a JSON object; sent as {}"]


def test_what_has_no_place_is_noted() -> None:
    request = Request(
        "m",
        (Message("user", (Text("x", extra={"anthropic": {"cache_control": {}}}),), "bob", {"openai-chat": {"odd": 1}}),),
        verbosity="low",
        user="u1",
        output=Output(None, "answer", "An answer."),
        thinking=Thinking(extra={"openai-chat": {"exclude": True}}),
        extra={"openai": {"metadata": {}, "store": True}},
    )
    body, notes = write(request)
    assert body["generationConfig"] == {"responseMimeType": "application/json"}
    assert notes == [
        "text: cache_control exists only on anthropic; left out",
        "user message: gemini has no place for the name bob; left out",
        "user message: odd exists only on openai-chat; left out",
        "request: metadata, store exists only on openai; left out",
        "verbosity: gemini has no such option; left out",
        "user: gemini has no such option; left out",
        "thinking: exclude exists only on openai-chat; left out",
        "output name: gemini has no place for it; left out",
        "output description: gemini has no place for it; left out",
    ]


def test_signatures_are_given_back_on_the_part_they_stood_on() -> None:
    parts = (
        Reasoning("T", signed("Cg==")),
        Text("", extra=signed("Ch==")),
        Text("S", extra=signed("Ci==")),
        ToolCall("a", "f", extra=signed("Cj==")),
        ToolCall("b", "f"),
    )
    body, notes = write(with_messages(user(Text("x")), model(*parts)))
    assert [part.get("thoughtSignature") for part in body["contents"][1]["parts"]] == ["Cg==", "Ch==", "Ci==", "Cj==", None]
    assert notes == []
    assert WIRE.read_request(body).messages[1].parts == parts


def test_foreign_calls_of_the_current_turn_are_marked_once_a_step() -> None:
    def step(at: int) -> tuple[Message, Message]:
        calls = ToolCall(f"{at}a", "f"), ToolCall(f"{at}b", "f")
        return model(*calls), Message("tool", tuple(ToolResult(call.id, "f", (Text("r"),)) for call in calls))

    request = with_messages(user(Text("x")), *step(0), user(Text("y")), *step(1), *step(2))
    contents = write(request)[0]["contents"]
    marks = [[part.get("thoughtSignature") for part in held["parts"]] for held in contents if held["role"] == "model"]
    assert marks == [[None, None], [UNSIGNED, None], [UNSIGNED, None]]


def test_reasoning_that_gemini_did_not_sign_is_left_out() -> None:
    body, notes = write(with_messages(model(Reasoning("hm"), Reasoning("", {"anthropic": {"signature": "s"}}), Text("x"))))
    assert body["contents"] == [{"role": "model", "parts": [{"text": "x"}]}]
    assert notes == ["reasoning in the history: gemini accepts only what it signed; left out"] * 2


def test_sealed_state_of_other_wires_is_opened_also_in_the_other_alphabet() -> None:
    # chosen so that its base64 has letters that differ
    state: Extra = {"anthropic": {"signature": "ÿþ~~~???>>>ûï¾"}}
    sealed = seal(state, but="gemini")
    assert sealed is not None
    turned = sealed.replace("+", "-").replace("/", "_")
    assert turned != sealed
    for signature in (sealed, turned):
        request = read(
            [
                {
                    "role": "model",
                    "parts": [
                        {"text": "T", "thought": True, "thoughtSignature": signature},
                        {"functionCall": {"id": "a", "name": "f"}, "thoughtSignature": signature},
                    ],
                }
            ]
        )
        assert request.messages[0].parts == (Reasoning("T", state), ToolCall("a", "f", extra=state))
