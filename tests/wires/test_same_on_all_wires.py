"""Values that every provider reports are read the same way on all wires."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.fold import fold
from toolglot.core.interfaces import Quirks, ResponseContext
from toolglot.core.reply import Stop, Usage
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool, Toolset
from toolglot.errors import UpstreamError
from toolglot.io.json_codec import decode, encode
from toolglot.wires import NAMES, find_wire

Body = dict[str, Any]

every_wire = pytest.mark.parametrize("name", NAMES)


def wire(name: str) -> Any:
    found = find_wire(name)
    assert found is not None
    return found


def reply_with_usage(name: str, tokens_in: Any, tokens_out: Any, created: Any = None) -> Body:
    """A whole reply that reports these counts."""
    match name:
        case "anthropic":
            usage = {"input_tokens": tokens_in, "output_tokens": tokens_out}
            return {"type": "message", "content": [], "stop_reason": "end_turn", "usage": usage}
        case "gemini":
            usage = {"promptTokenCount": tokens_in, "candidatesTokenCount": tokens_out}
            candidate = {"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}
            return {"candidates": [candidate], "usageMetadata": usage, "createTime": created}
        case "gemini-interactions":
            usage = {"total_input_tokens": tokens_in, "total_output_tokens": tokens_out}
            steps = [{"type": "model_output", "content": [{"type": "text", "text": "a"}]}]
            return {"object": "interaction", "status": "completed", "steps": steps, "usage": usage, "created": created}
        case "ollama":
            end: Body = {"message": {"content": "a"}, "done": True, "done_reason": "stop", "created_at": created}
            return {**end, "prompt_eval_count": tokens_in, "eval_count": tokens_out}
        case "openai-chat":
            usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
            choice = {"message": {"content": "a"}, "finish_reason": "stop"}
            return {"choices": [choice], "usage": usage, "created": created}
        case _:
            usage = {"input_tokens": tokens_in, "output_tokens": tokens_out}
            return {"object": "response", "status": "completed", "output": [], "usage": usage, "created_at": created}


@every_wire
@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (12, 12),
        (12.0, 12),
        (0, 0),
        (None, None),
        (True, None),
        (-1, None),
        (1.5, None),
        ("12", None),
        (2**60, None),
        (1e300, None),
        (float("inf"), None),
        ([12], None),
    ],
)
def test_a_token_count_is_a_whole_number_from_0_on(name: str, sent: Any, expected: int | None) -> None:
    usage = wire(name).read_reply(reply_with_usage(name, sent, 7), None).usage
    assert usage == Usage(expected, 7)


@every_wire
def test_usage_without_a_valid_count_is_absent(name: str) -> None:
    assert wire(name).read_reply(reply_with_usage(name, None, "x"), None).usage is None


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"openai-responses"}))  # there only the last event has usage
def test_a_later_zero_does_not_replace_a_count(name: str) -> None:
    prefix = "" if name == "ollama" else "data: "

    def line(body: Body) -> bytes:
        return prefix.encode() + encode(body) + b"\n\n"

    first, last = reply_with_usage(name, 5, 3), reply_with_usage(name, 0, None)
    if name == "anthropic":
        start = {"type": "message_start", "message": {"usage": first["usage"]}}
        end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": last["usage"]}
        chunks = [start, end, {"type": "message_stop"}]
    elif name == "gemini-interactions":
        update = {"event_type": "interaction.status_update", "status": "in_progress", "usage": first["usage"]}
        chunks = [update, {"event_type": "interaction.completed", "interaction": last}]
    elif name == "ollama":
        chunks = [{**first, "done": False, "done_reason": None}, last]
    else:
        chunks = [first, last]
    reader = wire(name).reader(None)
    events = [event for chunk in chunks for event in reader.feed(line(chunk))] + reader.close()
    assert fold(events).usage == Usage(5, 3)


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"anthropic"}))  # it reports no time
@pytest.mark.parametrize("sent", [0, -1, True, "soon", 2**70, "0001-01-01T00:00:00Z", []])
def test_a_time_that_is_not_one_is_absent(name: str, sent: Any) -> None:
    assert wire(name).read_reply(reply_with_usage(name, 1, 1, created=sent), None).created is None


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"anthropic"}))
@pytest.mark.parametrize("sent", [1700000000, 1700000000.7, "2023-11-14T22:13:20Z", "2023-11-14T22:13:20"])
def test_a_time_is_seconds_or_rfc_3339(name: str, sent: Any) -> None:
    assert wire(name).read_reply(reply_with_usage(name, 1, 1, created=sent), None).created == 1700000000


def reply_with_calls(name: str, *ids: Any) -> Body:
    """A whole reply with one call of `f` per id."""
    match name:
        case "anthropic":
            blocks = [{"type": "tool_use", "id": id, "name": "f", "input": {}} for id in ids]
            return {"type": "message", "content": blocks, "stop_reason": "tool_use"}
        case "gemini":
            parts = [{"functionCall": {"id": id, "name": "f", "args": {}}} for id in ids]
            return {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}
        case "gemini-interactions":
            steps = [{"type": "function_call", "id": id, "name": "f", "arguments": {}} for id in ids]
            return {"object": "interaction", "status": "requires_action", "steps": steps}
        case "ollama":
            calls = [{"id": id, "function": {"name": "f", "arguments": {}}} for id in ids]
            return {"message": {"tool_calls": calls}, "done": True, "done_reason": "stop"}
        case "openai-chat":
            call = {"function": {"name": "f", "arguments": "{}"}}
            calls = [{**call, "id": id, "index": at} for at, id in enumerate(ids)]
            return {"choices": [{"message": {"tool_calls": calls}, "finish_reason": "tool_calls"}]}
        case _:
            items = [{"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"} for id in ids]
            return {"object": "response", "status": "completed", "output": items}


@every_wire
def test_an_id_is_made_for_a_call_without_one(name: str) -> None:
    reply = wire(name).read_reply(reply_with_calls(name, "a", None, "", "null", 7, "a"), None)
    assert [call.id for call in reply.calls] == ["a", "f_1", "f_2", "f_3", "7", "f_5"]
    assert reply.notes == ("two calls came with the id a; the second got a new id",)


@every_wire
def test_tools_that_a_server_lacks(name: str) -> None:
    """A custom tool becomes a function; another vendor's server tool is left out; both are noted."""
    tools = (Tool("patch", kind="custom"), Tool("search", kind="server", extra={"elsewhere": {"type": "search"}}))
    notes: list[str] = []
    written = wire(name).write_tools(tools, notes, Quirks(custom_tools=False))
    (read,) = wire(name).read_tools(written)
    assert (read.name, read.kind, read.schema["required"]) == ("patch", "function", ["input"])
    assert notes == [
        "tool patch: a custom tool is sent as a function with one string",
        "tool search: a server tool of another vendor; left out",
    ]


@every_wire
def test_a_toolset_is_encoded_once(name: str) -> None:
    tools = Toolset((Tool("f", schema={"type": "object", "properties": {}}), Tool("patch", kind="custom")))
    first: list[str] = []
    again: list[str] = []
    written = wire(name).write_tools(tools, first, Quirks(custom_tools=False))
    assert wire(name).write_tools(tools, again, Quirks(custom_tools=False)) is written
    assert first == again == ["tool patch: a custom tool is sent as a function with one string"]
    assert decode(written) == wire(name).write_tools(tuple(tools), [], Quirks(custom_tools=False))


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"ollama"}))  # it has no tool_choice
def test_a_choice_is_left_out_where_the_server_has_none(name: str) -> None:
    request = Request("m", tools=(Tool("f"),))
    for choice, noted in ((Choice(), []), (Choice("required"), ["required"])):
        notes: list[str] = []
        body = wire(name).write_request(msgspec.structs.replace(request, choice=choice), notes, Quirks(tool_choice=False))
        assert not {"tool_choice", "toolConfig", "generation_config"} & body.keys()
        found = [note for note in notes if note.startswith("tool_choice")]
        assert found == [f"tool_choice {mode}: the server does not support it; left out" for mode in noted]


@every_wire
@pytest.mark.parametrize("custom", [False, True])
def test_interleaved_calls_leave_in_the_order_they_were_opened(name: str, custom: bool) -> None:
    events: list[Event] = [Start("r1", "m", 1)]
    for index, tool in enumerate(("first", "second", "third")):
        events.append(Open(index, "call", tool, f"id_{index}", custom=custom))
    events += [Delta(index, '{"input":') for index in (2, 0, 1)]
    events += [Delta(index, f'"{index}"}}') for index in (1, 2, 0)]
    events += [Close(index) for index in (1, 2, 0)]
    writer = wire(name).writer(ResponseContext(), [])
    reader = wire(name).reader(None)
    written = b"".join([writer.feed(event) for event in [*events, Finish(Stop("calls"))]]) + writer.close()
    calls = fold(reader.feed(written) + reader.close()).calls
    assert [(call.name, call.arguments_json) for call in calls] == [
        ("first", '{"input":"0"}'),
        ("second", '{"input":"1"}'),
        ("third", '{"input":"2"}'),
    ]


@every_wire
@pytest.mark.parametrize("last", [Finish(Stop("stop")), Fault(UpstreamError("lost", 502))])
def test_a_stream_without_a_start_event_is_written_as_with_one(name: str, last: Event) -> None:
    events: list[Event] = [Open(0, "text"), Delta(0, "a"), Close(0), last]
    written = [
        b"".join([writer.feed(event) for event in stream])
        for stream, writer in ((each, wire(name).writer(ResponseContext(), [])) for each in (events, [Start(), *events]))
    ]
    assert written[0] == written[1]
    assert b"a" in written[0]
