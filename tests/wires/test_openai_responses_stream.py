"""OpenAI Responses: its stream and its whole replies, read."""

from __future__ import annotations

from typing import Any

import pytest

from tests.wires.responses_pieces import (
    DONE,
    EVENTS,
    MEANT,
    OURS,
    OUTPUT,
    PARIS,
    SAID,
    TEXT,
    at,
    call,
    heard,
    read,
    response,
    sse,
)
from toolglot.core.events import Delta, Fault
from toolglot.core.fold import fold
from toolglot.core.interfaces import ResponseContext
from toolglot.core.messages import Opaque, Reasoning, Text, ToolCall
from toolglot.core.reply import Stop
from toolglot.errors import UpstreamError
from toolglot.wires.openai_responses import WIRE


def test_the_example_in_pieces_and_whole() -> None:
    for size in (0, 1, 2, 3, 7):
        assert fold(read(sse(*EVENTS), size)) == MEANT
    assert WIRE.read_reply(response(), None) == MEANT


def test_a_stream_cut_anywhere_is_a_fault_and_its_calls_are_not_to_be_run() -> None:
    data = sse(*EVENTS)
    last = data.rindex(b"event: response.completed")
    for end in range(0, last, 41):
        found = read(data[:end])
        assert isinstance(found[-1], Fault)
        assert found[-1].error.code == "stream_truncated"
    cut = data[: data.index(b"event: response.function_call_arguments.done")]
    assert [part.sealed for part in fold(read(cut)).parts if isinstance(part, ToolCall)] == [False]


def test_servers_that_say_less_are_understood() -> None:
    quiet = [event for event in EVENTS if not event[0].endswith(".added")]
    assert heard(*quiet) == MEANT
    only_items = [event for event in EVENTS if event[0] in ("output_item.done", "completed", "created")]
    assert heard(*only_items) == MEANT
    only_the_end = heard(("completed", {"response": response()}))
    assert only_the_end == MEANT
    no_ends = [event for event in EVENTS if not event[0].endswith(".done")]
    assert heard(*no_ends[:-1], ("completed", {"response": response()})) == MEANT
    unplaced = [(kind, {key: value for key, value in body.items() if key != "output_index"}) for kind, body in EVENTS]
    assert heard(*unplaced) == MEANT
    unnamed = sse(*EVENTS).replace(b'"type": "response.', b'"was": "response.')
    assert fold(read(unnamed)) == MEANT


def test_no_ends_told_at_all() -> None:
    said = heard(*(event for event in EVENTS[:14] if not event[0].endswith(".done")), DONE)
    assert (said.text, said.reasoning) == ("Checking.", "Need two lookups.")
    assert [part.arguments_json for part in said.calls] == [PARIS]


def test_the_last_word_adds_what_is_missing_and_repeats_nothing() -> None:
    added = ("output_item.added", at(0, item={**SAID, "content": []}))
    delta = ("output_text.delta", at(0, content_index=0, delta="Check"))
    assert heard(added, delta, ("output_item.done", at(0, item=SAID)), DONE).text == "Checking."
    other = ("output_text.delta", at(0, content_index=0, delta="Wait"))
    said = heard(added, other, ("output_item.done", at(0, item=SAID)), DONE)
    assert said.text == "Wait"
    assert said.notes == ("an item's streamed form differs from its final form; the streamed form is used",)


def test_places_that_are_used_twice_and_ends_that_are_told_twice() -> None:
    items = [("output_item.done", at(0, item=item)) for item in OUTPUT]
    assert heard(EVENTS[0], *items, EVENTS[-1]) == MEANT
    assert heard(EVENTS[0], *(twice for item in items for twice in (item, item)), EVENTS[-1]) == MEANT
    nameless = {key: value for key, value in SAID.items() if key != "id"}
    other = {**nameless, "content": [{**TEXT, "text": "Done."}]}
    said = heard(*(("output_item.done", at(0, item=item)) for item in (nameless, nameless, other)), DONE)
    assert said.text == "Checking.Done."


def test_a_message_whose_text_is_complete_holds_nobody_up() -> None:
    added = ("output_item.added", at(2, item=call("a", "f", "")))
    events = [*EVENTS[5:9], added, ("function_call_arguments.delta", at(2, delta=PARIS))]
    reader = WIRE.reader(None)
    assert reader.feed(sse(*events))[-1] == Delta(1, PARIS)
    late = heard(*events, EVENTS[9], DONE)  # the message's end, told after all
    assert late.text == "Checking."
    part = ("content_part.done", at(1, content_index=0, part={**TEXT, "annotations": ["a"]}))
    assert heard(*events[:4], part, *events[4:], DONE).parts[0] == Text(
        "Checking.", None, {OURS: {"id": "msg_1", "annotations": ["a"]}}
    )


def test_items_that_interleave() -> None:
    first, second = {**SAID, "content": []}, {**SAID, "id": "msg_2", "content": []}
    said = heard(
        ("output_item.added", at(0, item=first)),
        ("output_item.added", at(1, item=second)),
        ("output_item.added", at(2, item=call("a", "f", ""))),
        ("output_item.added", at(3, item=call("b", "g", ""))),
        ("output_text.delta", at(1, content_index=0, delta="c")),
        ("function_call_arguments.delta", at(3, delta='{"y":')),
        ("output_text.delta", at(0, content_index=0, delta="a")),
        ("function_call_arguments.delta", at(2, delta='{"x":')),
        ("output_text.delta", at(1, content_index=0, delta="d")),
        ("output_text.delta", at(0, content_index=0, delta="b")),
        ("function_call_arguments.delta", at(3, delta="2}")),
        ("function_call_arguments.delta", at(2, delta="1}")),
        ("output_item.done", at(0, item={**first, "content": [{**TEXT, "text": "ab"}]})),
        ("output_item.done", at(1, item={**second, "content": [{**TEXT, "text": "cd"}]})),
        DONE,
    )
    assert [part.text for part in said.parts if isinstance(part, Text)] == ["ab", "cd"]
    assert [part.arguments_json for part in said.calls] == ['{"x":1}', '{"y":2}']


def test_text_held_behind_another_item_survives_a_fault() -> None:
    events = [
        ("output_item.added", at(0, item={**SAID, "content": []})),
        ("output_text.delta", at(0, content_index=0, delta="a")),
        ("output_text.delta", at(1, content_index=0, delta="b")),
    ]
    for end in (b"", b'data: {"error": {"message": "no", "code": "server_error"}}\n\n'):
        broken = fold(read(sse(*events) + end))
        assert broken.text == "ab"
        assert broken.error is not None


def test_summaries_and_raw_thoughts() -> None:
    lists = {"summary": [{"type": "summary_text", "text": t} for t in ("a", "b")]}
    item = {"type": "reasoning", "id": "rs_1", **lists}
    said = heard(
        ("reasoning_summary_text.delta", at(0, item_id="rs_1", summary_index=0, delta="a")),
        ("reasoning_summary_text.delta", at(0, item_id="rs_1", summary_index=1, delta="b")),
        ("output_item.done", at(0, item=item)),
        DONE,
    )
    assert said.parts == (Reasoning("a\n\nb", {OURS: {"id": "rs_1", **lists}}),)
    raw = {"content": [{"type": "reasoning_text", "text": "long"}], "summary": [{"type": "summary_text", "text": "short"}]}
    item = {"type": "reasoning", "id": "rs_1", **raw}
    said = heard(
        ("reasoning_text.delta", at(0, content_index=0, delta="lo")),
        ("reasoning_text.delta", at(0, content_index=0, delta="ng")),
        ("reasoning_summary_text.delta", at(0, summary_index=0, delta="short")),
        ("output_item.done", at(0, item=item)),
        DONE,
    )
    assert said.parts == (Reasoning("long", {OURS: {"id": "rs_1", **raw}}),)
    assert WIRE.read_reply(response(output=[item]), None).parts == said.parts


def test_free_text_becomes_the_json_that_it_is_inside() -> None:
    text = 'say "hi"\n\\o/ \u20ac'
    item = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c1", "name": "run", "namespace": "ns", "input": text}
    pieces = [("custom_tool_call_input.delta", at(0, delta=letter)) for letter in text]
    end = ("output_item.done", at(0, item=item))
    said = heard(("output_item.added", at(0, item={**item, "input": ""})), *pieces, end, DONE)
    (made,) = said.calls
    assert (made.arguments, made.custom, made.namespace) == ({"input": text}, True, "ns")
    assert WIRE.read_reply(response(output=[item]), None).calls == [made]
    assert heard(end, DONE).calls == [made]
    cut = heard(("output_item.added", at(0, item={**item, "input": ""})), *pieces)
    assert [(part.sealed, part.arguments_json[:10]) for part in cut.parts if isinstance(part, ToolCall)] == [
        (False, '{"input":"')
    ]


def test_a_server_tools_work_is_kept_as_it_is() -> None:
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}}
    said = heard(
        ("output_item.added", at(0, item={**search, "status": "in_progress"})),
        ("web_search_call.searching", at(0, item_id="ws_1")),
        ("output_item.done", at(0, item=search)),
        DONE,
    )
    assert said.parts == (Opaque(OURS, search),)


def test_annotations_and_several_parts() -> None:
    content: list[dict[str, Any]] = [
        {**TEXT, "annotations": [{"type": "url_citation", "url": "u"}]},
        {"type": "refusal", "refusal": "no"},
    ]
    item = {**SAID, "content": content}
    whole = WIRE.read_reply(response(output=[item]), None)
    said = heard(
        ("output_item.added", at(0, item={**SAID, "content": []})),
        ("output_text.delta", at(0, content_index=0, delta="Checking.")),
        ("content_part.done", at(0, content_index=0, part=content[0])),
        ("refusal.delta", at(0, content_index=1, delta="no")),
        ("output_item.done", at(0, item=item)),
        DONE,
    )
    assert said.parts == whole.parts
    assert said.parts[0].extra == {OURS: {"id": "msg_1", "annotations": content[0]["annotations"]}}  # type: ignore[union-attr]
    assert whole.stop == Stop("filter", "completed")


@pytest.mark.parametrize(
    ("status", "details", "stop"),
    [
        ("incomplete", {"reason": "max_output_tokens"}, Stop("length", "max_output_tokens")),
        ("incomplete", {"reason": "content_filter"}, Stop("filter", "content_filter")),
        ("incomplete", {"reason": "steered"}, Stop("pause", "steered")),
        ("incomplete", None, Stop("length", "incomplete")),
        ("in_progress", None, Stop("pause", "in_progress")),
        ("cancelled", None, Stop("other", "cancelled")),
        ("completed", None, Stop("stop", "completed")),
    ],
)
def test_how_it_ended(status: str, details: Any, stop: Stop) -> None:
    body = response(status, [SAID], incomplete_details=details)
    assert WIRE.read_reply(body, None).stop == stop
    if stop.reason not in ("pause", "other"):
        again = WIRE.read_reply(WIRE.write_reply(WIRE.read_reply(body, None), ResponseContext(), []), None)
        assert again.stop is not None
        assert again.stop.reason == stop.reason


def test_a_call_cut_short_is_not_to_be_run() -> None:
    for arguments in ("", '{"city":"Pa'):
        item = call("a", "f", arguments, "incomplete")
        body = response("incomplete", [item], incomplete_details={"reason": "max_output_tokens"})
        whole = WIRE.read_reply(body, None)
        assert whole.calls == []
        assert [part.arguments_json for part in whole.parts if isinstance(part, ToolCall)] == [arguments]
        assert heard(EVENTS[0], ("output_item.done", at(0, item=item)), ("incomplete", {"response": body})) == whole


def test_failures() -> None:
    error = {"code": "rate_limit_exceeded", "message": "slow down"}
    body = response("failed", [SAID], error=error)
    for reply in (WIRE.read_reply(body, None), heard(("failed", {"response": body}))):
        assert reply.text == "Checking."
        assert reply.error == UpstreamError("slow down", 429, "rate_limit_exceeded")
    flat = sse(*EVENTS[:8]) + b'event: error\ndata: {"type":"error","code":"server_error","message":"no","param":null}\n\n'
    broken = fold(read(flat))
    assert broken.text == "Checking."
    assert broken.error == UpstreamError("no", 500, "server_error")


def test_what_a_response_says_beyond_the_request_is_kept() -> None:
    body = response(service_tier="flex", conversation={"id": "c"}, tools=[], tool_choice="auto", store=True)
    assert WIRE.read_reply(body, None).extra == {"openai": {"service_tier": "flex"}, OURS: {"conversation": {"id": "c"}}}


def test_structured_output_is_on_its_channel() -> None:
    assert [part.channel for part in fold(read(sse(*EVENTS), channel="json")).parts if isinstance(part, Text)] == ["json"]
