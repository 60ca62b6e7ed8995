"""What is timed does what it says: a measurement of work that is not done would be fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from toolglot.core.fold import fold
from toolglot.core.messages import ToolCall
from toolglot.pipeline.convert import read_stream
from toolglot.pipeline.request.request_bytes import read_request_bytes
from toolglot.pipeline.request.route import wire_format
from toolglot.pipeline.response.call_validator import Verdict
from toolglot.pipeline.response.extract import StreamExtractor
from toolglot.speed.as_chat import chat_request, chat_stream
from toolglot.speed.conversation import REPLY_CALLS, REPLY_TEXT, SYSTEM, TOOLS
from toolglot.speed.parsing import DIALECTS, SIZE, content, pieces_of, prose, texts
from toolglot.speed.parts import PARTS
from toolglot.speed.subject import Subject, json_floor
from toolglot.speed.translating import CHAT, requests, streams
from toolglot.speed.validating import calls
from toolglot.wires import NAMES

WAYS = {f"{CHAT} > {wire}" for wire in NAMES if wire != CHAT} | {f"{wire} > {CHAT}" for wire in NAMES if wire != CHAT}


def target_of(subject: Subject) -> str:
    return subject.name.partition(",")[0].partition(" > ")[2]


def test_every_wire_is_translated_to_and_from() -> None:
    assert {one.name for one in requests()} == WAYS | {f"{tool_mode}, first turn" for tool_mode in WAYS}
    assert {one.name for one in streams()} == WAYS


@pytest.mark.parametrize("subject", requests(), ids=lambda one: one.name)
def test_a_request_arrives_whole(subject: Subject) -> None:
    written = cast("Callable[[], bytes]", subject.run)()
    path_fields: dict[str, Any] = {"model": "m"} if "model" in wire_format(target_of(subject)).wire.path_keys else {}
    read = read_request_bytes(written, wire_format(target_of(subject)).wire, **path_fields)
    sent = read_request_bytes(chat_request(), wire_format(CHAT).wire)
    assert [tool.name for tool in read.tools] == [tool.name for tool in sent.tools] == [name for name, _, _ in TOOLS]
    made = [part.arguments for message in sent.messages for part in message.parts if isinstance(part, ToolCall)]
    assert len(made) == 10
    assert [part.arguments for message in read.messages for part in message.parts if isinstance(part, ToolCall)] == made


@pytest.mark.parametrize("subject", streams(), ids=lambda one: one.name)
def test_a_stream_arrives_whole(subject: Subject) -> None:
    written = cast("Callable[[], bytes]", subject.run)()
    reply = fold(read_stream([written], target_of(subject)))
    assert reply.text == REPLY_TEXT
    assert [(call.name, call.arguments) for call in reply.calls] == REPLY_CALLS
    assert subject.floor is not None
    ends = subject.name.startswith((CHAT, "gemini-interactions"))  # with [DONE], which is no JSON
    assert subject.units == subject.floor.units + ends > len(chat_stream()) / 2


@pytest.mark.parametrize("subject", texts(), ids=lambda one: one.name)
def test_calls_are_extracted(subject: Subject) -> None:
    heard = cast("Callable[[], StreamExtractor]", subject.run)().result()
    if subject.name.startswith("prose"):
        assert (heard.calls, heard.text) == ([], prose(SIZE))
    else:
        assert [call.arguments for call in heard.calls] == [{"path": "page.py", "content": content(SIZE)}]
    assert subject.size >= SIZE
    assert subject.units == (1 if subject.name.endswith("whole") else -(-subject.size // 4))


def test_each_text_is_extracted_whole_and_streamed() -> None:
    assert [one.name.rpartition(", ")[0] for one in texts()[::2]] == [*DIALECTS, "prose, as auto"]
    assert "".join(pieces_of(SYSTEM)) == SYSTEM


def test_calls_are_accepted_repaired_and_rejected() -> None:
    verdicts = [cast("Callable[[], Verdict]", one.run)() for one in calls()]
    assert [verdict.call is not None for verdict in verdicts] == [True, True, False]
    assert [[one.code for one in verdict.decisions] for verdict in verdicts] == [[], ["coerced_type"], ["rejected_schema"]]
    assert verdicts[1].call is not None
    assert verdicts[1].call.arguments == REPLY_CALLS[0][1]


def test_a_floor_reads_all_of_the_json() -> None:
    assert json_floor("two", b"{}", b"[1]").units == 2
    with pytest.raises(ValueError, match="truncated"):
        json_floor("bad", b"{}", b"{").run()


def test_no_two_of_a_part_have_the_same_name() -> None:
    for part in PARTS.values():
        names = [one.name for one in part.subjects()]
        assert len(set(names)) == len(names)
