from __future__ import annotations

from typing import Any

import pytest

from toolglot import CallerError, Fault, Tool, UpstreamError, convert, convert_stream, fold, read_stream

LONG = "a_very_long_tool_name_that_no_wire_would_take_because_it_has_more_than_sixty_four_letters"
REQUEST = {
    "model": "m",
    "messages": [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "functions.f:0", "type": "function", "function": {"name": LONG, "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "functions.f:0", "content": "ok"},
    ],
    "tools": [{"type": "function", "function": {"name": LONG}}, {"type": "function", "function": {"name": "my.tool"}}],
}


def test_names_and_ids_are_legalised_alike_everywhere_and_come_back() -> None:
    out = convert(REQUEST, "openai-chat", "anthropic")
    names = [tool["name"] for tool in out["tools"]]
    use, result = out["messages"][1]["content"][0], out["messages"][2]["content"][0]
    assert use["name"] == names[0]
    assert use["id"] == result["tool_use_id"]
    for word in (*names, use["id"]):
        assert len(word) <= 64
        assert word.replace("_", "").replace("-", "").isalnum()
    reply = {"type": "message", "role": "assistant", "content": [{**use, "id": "x"}, {**use, "id": "y", "name": names[1]}]}
    back = convert({**reply, "stop_reason": "tool_use"}, "anthropic", "openai-chat", "response", tools=REQUEST["tools"])
    calls = back["choices"][0]["message"]["tool_calls"]
    assert [call["function"]["name"] for call in calls] == [LONG, "my.tool"]


def test_a_namespace_and_a_free_text_tool_travel_and_are_restored() -> None:
    tools = [
        {"type": "namespace", "name": "crm", "tools": [{"type": "function", "name": "find", "parameters": {"type": "object"}}]},
        {"type": "custom", "name": "apply_patch", "format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"}},
    ]
    out = convert({"model": "m", "input": "hi", "tools": tools}, "openai-responses", "anthropic")
    assert [tool["name"] for tool in out["tools"]] == ["crm__find", "apply_patch"]
    assert "lark" in str(out["tools"][1])
    content = [
        {"type": "tool_use", "id": "a", "name": "crm__find", "input": {"q": 1}},
        {"type": "tool_use", "id": "b", "name": "apply_patch", "input": {"input": "*** Begin"}},
    ]
    reply = {"type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use"}
    output = convert(reply, "anthropic", "openai-responses", "response", tools=tools)["output"]
    assert [(item["type"], item["name"], item.get("namespace")) for item in output] == [
        ("function_call", "find", "crm"),
        ("custom_tool_call", "apply_patch", None),
    ]
    assert output[1]["input"] == "*** Begin"


def test_a_call_without_a_result_and_a_result_without_a_call() -> None:
    asked = {**REQUEST, "messages": [*REQUEST["messages"][:2], {"role": "user", "content": "and?"}]}
    notes: list[str] = []
    out = convert(asked, "openai-chat", "anthropic", notes=notes)
    assert out["messages"][2]["content"][0]["type"] == "tool_result"
    assert any("no result" in note for note in notes)
    stray = {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "z", "content": "18C"}],
    }
    notes = []
    out = convert(stray, "openai-chat", "anthropic", notes=notes)
    assert "tool_result" not in str(out)
    assert "18C" in str(out["messages"])
    assert any("it has no call" in note for note in notes)


def test_the_forms_of_old() -> None:
    old = {
        "model": "m",
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"a":1}'}},
            {"role": "function", "name": "f", "content": "ok"},
        ],
        "functions": [{"name": "f", "parameters": {"type": "object", "properties": {}}}],
        "function_call": {"name": "f"},
    }
    out = convert(old, "openai-chat", "anthropic")
    assert out["tools"][0]["name"] == "f"
    assert out["tool_choice"] == {"type": "tool", "name": "f"}
    assert out["messages"][2]["content"][0]["tool_use_id"] == out["messages"][1]["content"][0]["id"]


def test_one_message_and_one_that_becomes_several() -> None:
    message = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "a", "content": "18C"}, {"type": "text", "text": "brief"}],
    }
    assert convert(message, "anthropic", "openai-chat", "message") == [
        {"role": "tool", "tool_call_id": "a", "content": "18C"},
        {"role": "user", "content": "brief"},
    ]
    assert convert({"role": "user", "content": "hi"}, "openai-chat", "gemini", "message") == {
        "role": "user",
        "parts": [{"text": "hi"}],
    }


def test_the_model_can_be_replaced() -> None:
    assert convert(REQUEST, "openai-chat", "ollama", model="other")["model"] == "other"
    assert convert(REQUEST, "openai-chat", "gemini", model="other")["model"] == "other"


def test_an_error_body_is_carried_as_an_error() -> None:
    body = {"error": {"message": "slow down", "type": "rate_limit_error", "code": "rate_limit_exceeded"}}
    out = convert(body, "openai-chat", "anthropic", "response")
    assert out["type"] == "error"
    assert out["error"]["type"] == "rate_limit_error"


@pytest.mark.parametrize(
    ("payload", "source", "target", "kind", "message"),
    [
        ("x", "openai-chat", "anthropic", "request", "expected an object, got a string"),
        (
            {"model": "m", "messages": [{"role": "robot"}]},
            "openai-chat",
            "anthropic",
            "request",
            "got 'robot'",
        ),
        ({}, "openai-chat", "antropic", "request", "did you mean anthropic"),
        ({}, "openai-chat", "anthropic", "reqest", "did you mean request"),
        (3, "openai-chat", "anthropic", "tools", "tools: expected a list"),
        (3, "openai-chat", "anthropic", "message", "message: expected a message"),
    ],
)
def test_wrong_use_is_an_error(payload: Any, source: str, target: str, kind: str, message: str) -> None:
    with pytest.raises(CallerError, match=message):
        convert(payload, source, target, kind)


CHAT_STREAM = (
    b'data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}\n\n'
    b'data: {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)
OLLAMA_STREAM = (
    b'{"model":"m","message":{"role":"assistant","content":"hi"},"done":false}\n'
    b'{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}\n'
)


@pytest.mark.parametrize("data", [CHAT_STREAM, OLLAMA_STREAM, b"\n\n" + CHAT_STREAM, b": hello\n\n" + CHAT_STREAM])
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_both_ollama_formats_are_detected(data: bytes, size: int) -> None:
    reply = fold(read_stream((data[at : at + size] for at in range(0, len(data), size)), "ollama"))
    assert (reply.text, reply.stop and reply.stop.reason) == ("hi", "stop")


def test_text_is_taken_for_bytes_and_names_are_restored_in_a_stream() -> None:
    data = CHAT_STREAM.decode().replace(
        '"content":"hi"', '"tool_calls":[{"index":0,"id":"a","function":{"name":"crm__find","arguments":"{}"}}]'
    )
    tools = [Tool("find", namespace="crm")]
    (call,) = fold(read_stream([data], "openai-chat", tools)).calls
    assert (call.namespace, call.name) == ("crm", "find")


def test_notes_are_a_list() -> None:
    for use in (lambda notes: convert({}, notes=notes), lambda notes: list(convert_stream([], notes=notes))):
        with pytest.raises(CallerError, match="notes: expected a list, got tuple"):
            use(())


def test_a_whole_stream_may_come_in_one_piece() -> None:
    assert fold(read_stream(CHAT_STREAM, "openai-chat")).text == "hi"  # type: ignore[arg-type]
    whole = b"".join(convert_stream([CHAT_STREAM], "openai-chat", "ollama"))
    assert b"".join(convert_stream(CHAT_STREAM, "openai-chat", "ollama")) == whole  # type: ignore[arg-type]
    with pytest.raises(CallerError, match="chunks: expected an iterable of bytes, got null"):
        list(read_stream(None, "openai-chat"))  # type: ignore[arg-type]


def test_a_broken_stream_is_a_fault_for_the_client_too() -> None:
    found = list(read_stream([CHAT_STREAM[:90]], "openai-chat"))
    assert isinstance(found[-1], Fault)
    assert isinstance(found[-1].error, UpstreamError)
    written = b"".join(convert_stream([CHAT_STREAM[:120]], "openai-chat", "anthropic"))
    assert b"event: error" in written
    assert b"message_stop" not in written


def test_silence_about_keeping_means_what_it_meant_at_home() -> None:
    """OpenAI's Chat API stores nothing by default, its Responses API everything."""
    chat: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    assert convert(chat, "openai-chat", "openai-responses")["store"] is False
    assert convert({**chat, "store": True}, "openai-chat", "openai-responses")["store"] is True
    assert "store" not in convert({"model": "m", "input": "hi"}, "openai-responses", "openai-responses")
    assert "store" not in convert(chat, "openai-chat", "openai-chat")


def test_the_last_turn_is_settled_too_and_strays_stand_behind_its_answers() -> None:
    """Two calls with one result, and a result without a call: a server would reject the request."""
    made = [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}} for id in ("a", "b")]
    results = [{"role": "tool", "tool_call_id": id, "content": id} for id in ("stray", "a")]
    history = [{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": made}, *results]
    notes: list[str] = []
    sent = convert({"model": "m", "messages": history}, "openai-chat", "anthropic", notes=notes)["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert [block.get("tool_use_id", block.get("text")) for block in sent[2]["content"]] == [
        "a",
        "b",
        "(result of a tool, stray) stray",
    ]
    assert sent[2]["content"][1]["content"] == "(no result)"
    assert [note.partition(":")[0] for note in notes[:2]] == ["call b", "result stray"]
    unanswered = convert({"model": "m", "messages": history[:2]}, "openai-chat", "openai-chat")["messages"]
    assert len(unanswered) == 2, "the client may still answer them"


@pytest.mark.parametrize("kind", ["request", "response", "tools", "message"])
def test_an_empty_object_is_an_error(kind: str) -> None:
    with pytest.raises(CallerError, match=f"{kind}: is an empty object"):
        convert({}, "openai-chat", "anthropic", kind)
