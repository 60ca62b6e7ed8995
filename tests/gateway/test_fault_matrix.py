"""The fault matrix: what an upstream can do wrong, by name, whole and streamed, each with its right outcome.

An outcome is the status that the client gets, the code in the gateway's record, and how often the upstream was asked: a fault
before the first byte is retried once, one in a stream never. In a stream the fault is reported as the last event, and the text
that came before it stays.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
import pytest

from tests.gateway.running import WIRES, config, request_of, run, serving
from tests.gateway.scripts import question
from toolglot.core.fold import fold
from toolglot.core.reply import Reply
from toolglot.io.json_codec import encode
from toolglot.pipeline.convert import open_reader
from toolglot.pipeline.request.route import wire_format

TEXT = "Hello there"
REJECTED = "(The model made a tool call that was rejected. get_weather: the call is truncated.)"
OK_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\n"
SSE, JSON = b"text/event-stream", b"application/json"
FIRST = b'data: {"id":"r","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello there"}}]}\n\n'
LAST = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
CALL_EVENT = (
    b'data: {"choices":[{"index":0,"delta":{"tool_calls":'
    b'[{"index":0,"id":"c","function":{"name":"get_weather","arguments":"{\\"ci"}}]}}]}\n\n'
)
DONE = b"data: [DONE]\n\n"
CALL = {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Rome"}'}}

CLOSE, RESET, HANG = "close", "reset", "hang"
Answer = tuple[bytes, str]  # what the upstream writes, and what it does then


class Fault(msgspec.Struct, frozen=True):
    """`answer(stream)`; an outcome is (status, code, requests to the upstream, text)."""

    name: str
    answer: Callable[[bool], Answer]
    whole: tuple[int, str, int, str]
    streamed: tuple[int, str, int, str] | None = None  # None: the same


# -- what the upstream writes


def raw(data: bytes, then: str = CLOSE) -> Callable[[bool], Answer]:
    return lambda _: (data, then)


def reply(**changes: Any) -> dict[str, Any]:
    """A whole reply; `message` and `choice` change parts of it, other names its top level."""
    message = {"role": "assistant", "content": TEXT, **changes.pop("message", {})}
    choice = {"index": 0, "message": message, "finish_reason": "stop", **changes.pop("choice", {})}
    return {"id": "r", "model": "m", "choices": [choice], **changes}


def sized(body: bytes, kind: bytes = JSON, head: bytes = OK_HEAD) -> bytes:
    return (head % kind if b"%b" in head else head) + b"content-length: %d\r\n\r\n" % len(body) + body


def chunked(*pieces: bytes, kind: bytes = JSON, end: bytes = b"0\r\n\r\n") -> bytes:
    sent = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    return OK_HEAD % kind + b"transfer-encoding: chunked\r\n\r\n" + sent + end


def good(stream: bool) -> bytes:
    return chunked(FIRST, LAST, DONE, kind=SSE) if stream else sized(encode(reply()))


def status(number: int, body: bytes = b'{"error":{"message":"no","code":"c"}}', *headers: str) -> Callable[[bool], Answer]:
    lines = "".join(f"{header}\r\n" for header in headers).encode()
    return raw(
        b"HTTP/1.1 %d X\r\ncontent-type: application/json\r\n" % number
        + lines
        + b"content-length: %d\r\n\r\n" % len(body)
        + body
    )


def body(content: Any) -> Callable[[bool], Answer]:
    """The body of a 200: as it is, or as the only event of a stream. Bytes, or a value as JSON."""
    data = content if isinstance(content, bytes) else encode(content)
    return lambda stream: ((chunked(b"data: " + data + b"\n\n", kind=SSE) if stream else sized(data)), CLOSE)


def events(*pieces: bytes, whole: Any = None, then: str = CLOSE, end: bytes = b"0\r\n\r\n") -> Callable[[bool], Answer]:
    """These events; `whole`: what stands for them in a whole reply."""
    data = b"" if whole is None else whole if isinstance(whole, bytes) else encode(whole)
    return lambda stream: (chunked(*pieces, kind=SSE, end=end) if stream else sized(data), then)


def cut(where: Callable[[bytes], int], then: str = CLOSE) -> Callable[[bool], Answer]:
    """A good answer, cut off."""

    def answer(stream: bool) -> Answer:
        data = good(stream)
        return data[: where(data)], then

    return answer


def head_end(data: bytes) -> int:
    return data.index(b"\r\n\r\n") + 4


def middle(data: bytes) -> int:
    """Behind the first event of a stream."""
    return data.index(FIRST) + len(FIRST) + 2 if FIRST in data else head_end(data) + 20


def with_head(line: bytes) -> Callable[[bool], Answer]:
    """A good answer with another header line."""

    def answer(stream: bool) -> Answer:
        data = good(stream)
        return data.replace(b"\r\n", b"\r\n" + line + b"\r\n", 1), CLOSE

    return answer


FAULTS: tuple[Fault, ...] = (
    # the connection
    Fault("closes at once", raw(b""), (502, "cut_off", 2, "")),
    Fault("resets at once", raw(b"", RESET), (502, "cut_off", 2, "")),
    Fault("does not answer", raw(b"", HANG), (504, "timeout_first_byte", 1, "")),
    Fault("closes in the status line", raw(b"HTTP/1.1 20"), (502, "cut_off", 2, "")),
    Fault("closes in the head", cut(lambda data: head_end(data) - 9), (502, "cut_off", 2, "")),
    Fault("resets in the head", cut(lambda data: head_end(data) - 9, RESET), (502, "cut_off", 2, "")),
    Fault("hangs in the head", cut(lambda data: head_end(data) - 9, HANG), (504, "timeout_idle", 1, "")),
    Fault("closes after the head", cut(head_end), (502, "cut_off", 2, "")),
    Fault("resets after the head", cut(head_end, RESET), (502, "cut_off", 2, "")),
    Fault("hangs after the head", cut(head_end, HANG), (504, "timeout_idle", 1, "")),
    Fault("closes in the body", cut(middle), (502, "cut_off", 2, ""), (200, "cut_off", 1, TEXT)),
    Fault("resets in the body", cut(middle, RESET), (502, "cut_off", 2, ""), (200, "cut_off", 1, TEXT)),
    Fault("hangs in the body", cut(middle, HANG), (504, "timeout_idle", 1, ""), (200, "timeout_idle", 1, TEXT)),
    Fault("closes before the last byte", cut(lambda data: len(data) - 1), (502, "cut_off", 2, ""), (200, "", 1, TEXT)),
    Fault(
        "closes without the last chunk",
        lambda stream: (chunked(FIRST, LAST, DONE, kind=SSE, end=b"") if stream else chunked(encode(reply()), end=b""), CLOSE),
        (502, "cut_off", 2, ""),
        (200, "", 1, TEXT),
    ),
    # HTTP
    Fault("does not speak HTTP", raw(b"220 mail.example.org ESMTP\r\n\r\n"), (502, "bad_answer", 1, "")),
    Fault("speaks another version", raw(b"HTTP/9.9 200 OK\r\ncontent-length: 2\r\n\r\n{}"), (502, "bad_answer", 1, "")),
    Fault("has no status", raw(b"HTTP/1.1 OK\r\ncontent-length: 2\r\n\r\n{}"), (502, "bad_answer", 1, "")),
    Fault("a status of 999", status(999), (502, "c", 2, "")),
    Fault("a status of 304", status(304, b""), (502, "redirected", 1, "")),
    Fault(
        "a status of 204", raw(b"HTTP/1.1 204 No Content\r\n\r\n"), (502, "cut_off", 2, ""), (502, "stream_truncated", 1, "")
    ),
    Fault("a redirect", status(307, b"", "location: /elsewhere"), (502, "redirected", 1, "")),
    Fault(
        "switches protocols",
        raw(b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
        (502, "bad_answer", 1, ""),
    ),
    Fault("continues first", lambda stream: (b"HTTP/1.1 100 Continue\r\n\r\n" + good(stream), CLOSE), (200, "", 1, TEXT)),
    Fault(
        "early hints first",
        lambda stream: (b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + good(stream), CLOSE),
        (200, "", 1, TEXT),
    ),
    Fault("continues forever", raw(b"HTTP/1.1 100 Continue\r\n\r\n" * 5000), (502, "too_large", 1, "")),
    Fault("two lengths", with_head(b"content-length: 7\r\ncontent-length: 9"), (502, "bad_answer", 1, "")),
    Fault("a length that is none", with_head(b"content-length: seven"), (502, "bad_answer", 1, "")),
    Fault("a negative length", with_head(b"content-length: -1"), (502, "bad_answer", 1, "")),
    Fault("an unknown coding", with_head(b"content-encoding: br"), (502, "bad_answer", 1, "")),
    Fault("gzip that is not gzip", with_head(b"content-encoding: gzip"), (502, "bad_answer", 1, "")),
    Fault("a header without a colon", with_head(b"what"), (502, "bad_answer", 1, "")),
    Fault("a header with a NUL", with_head(b"x: \x00"), (502, "bad_answer", 1, "")),
    Fault("an endless header", with_head(b"x: " + b"y" * 200_000), (502, "too_large", 1, "")),
    Fault("100,000 headers", with_head(b"\r\n".join([b"x: y"] * 100_000)), (502, "too_large", 1, "")),
    Fault(
        "a chunk size that is none",
        raw(OK_HEAD % JSON + b"transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"),
        (502, "bad_answer", 1, ""),
    ),
    Fault(
        "an endless chunk size",
        raw(OK_HEAD % JSON + b"transfer-encoding: chunked\r\n\r\n" + b"f" * 5000),
        (502, "bad_answer", 1, ""),
    ),
    Fault(
        "trailers",
        lambda stream: (
            chunked(FIRST, LAST, DONE, kind=SSE, end=b"0\r\nx: y\r\n\r\n")
            if stream
            else chunked(encode(reply()), end=b"0\r\nx: y\r\n\r\n"),
            CLOSE,
        ),
        (200, "", 1, TEXT),
    ),
    Fault("bytes behind the end", lambda stream: (good(stream) + b"HTTP/1.1 500 X\r\n\r\n", CLOSE), (200, "", 1, TEXT)),
    # errors
    Fault("400", status(400), (400, "c", 1, "")),
    Fault("401", status(401), (401, "c", 1, "")),
    Fault("403", status(403), (403, "c", 1, "")),
    Fault("404", status(404), (404, "c", 1, "")),
    Fault("413", status(413), (413, "c", 1, "")),
    Fault("429", status(429), (429, "c", 1, "")),
    Fault("429 and wait forever", status(429, b"{}", "retry-after: inf"), (429, "", 1, "")),
    Fault("500", status(500), (500, "c", 2, "")),
    Fault("503 and wait", status(503, b"{}", "retry-after: 30"), (503, "", 1, "")),
    Fault("529", status(529), (529, "c", 2, "")),
    Fault("an error as HTML", status(502, b"<html><h1>Bad Gateway</h1></html>"), (502, "", 2, "")),
    Fault("an error without a body", status(500, b""), (500, "", 2, "")),
    Fault("an error of NULs", status(500, b"\0" * 100), (500, "", 2, "")),
    Fault("an error with a strange body", status(400, b'{"error":[null,{"message":{}}],"detail":5}'), (400, "", 1, "")),
    Fault("an error with status 200", body({"error": {"message": "no", "code": "c"}}), (502, "c", 1, "")),
    # the body
    Fault("nothing", body(b""), (502, "cut_off", 2, ""), (502, "stream_truncated", 1, "")),
    Fault("null", body(None), (502, "bad_answer", 1, ""), (502, "stream_truncated", 1, "")),
    Fault("a list", body([]), (502, "bad_answer", 1, ""), (502, "stream_truncated", 1, "")),
    Fault("a string", body("x"), (502, "bad_answer", 1, ""), (502, "stream_truncated", 1, "")),
    Fault("HTML", body(b"<html></html>"), (502, "bad_answer", 1, ""), (502, "stream_truncated", 1, "")),
    Fault("JSON that is cut off", body(encode(reply())[:-9]), (502, "cut_off", 2, ""), (502, "stream_truncated", 1, "")),
    Fault("invalid UTF-8", body(encode(reply()).replace(b"Hello", b"H\xffllo")), (200, "", 1, "H�llo there")),
    Fault("half a surrogate pair", body(encode(reply()).replace(b"Hello", b"H\\ud83dllo")), (200, "", 1, "H�llo there")),
    Fault("a byte order mark", body(b"\xef\xbb\xbf" + encode(reply())), (200, "", 1, TEXT)),
    Fault("text behind the JSON", body(encode(reply()) + b" and so on"), (502, "cut_off", 2, ""), (200, "", 1, TEXT)),
    Fault(
        "deep nesting",
        body(b'{"choices":' + b"[" * 5000 + b"]" * 5000 + b"}"),
        (502, "cut_off", 2, ""),
        (502, "stream_truncated", 1, ""),
    ),
    Fault("no choices", body(reply(choices=[])), (502, "bad_answer", 1, ""), (502, "stream_truncated", 1, "")),
    Fault("choices that are null", body(reply(choices=None)), (502, "bad_answer", 1, ""), (502, "stream_truncated", 1, "")),
    Fault(
        "choices that are no list", body(reply(choices={"a": 1})), (502, "bad_answer", 1, ""), (502, "stream_truncated", 1, "")
    ),
    Fault("a message that is null", body(reply(choice={"message": None})), (200, "", 1, "")),
    Fault("content that is a number", body(reply(message={"content": 5})), (200, "", 1, "5")),
    Fault("content that is null", body(reply(message={"content": None})), (200, "", 1, "")),
    Fault("calls that are no list", body(reply(message={"tool_calls": "x"})), (200, "", 2, TEXT)),
    Fault(
        "a call without a name",
        body(reply(message={"tool_calls": [{**CALL, "function": {"arguments": "{}"}}]})),
        (200, "", 2, TEXT),
    ),
    Fault(
        "a call of another tool",
        body(reply(message={"tool_calls": [{**CALL, "function": {"name": "rm", "arguments": "{}"}}]})),
        (200, "", 2, TEXT),
    ),
    Fault(
        "arguments that are cut off",
        body(reply(message={"tool_calls": [{**CALL, "function": {"name": "get_weather", "arguments": '{"city": "Ro'}}]})),
        (200, "", 1, TEXT),
    ),
    Fault(
        "arguments against the schema",
        body(reply(message={"tool_calls": [{**CALL, "function": {"name": "get_weather", "arguments": '{"days": "many"}'}}]})),
        (200, "", 2, TEXT),
    ),
    Fault("an unknown finish reason", body(reply(choice={"finish_reason": "tired"})), (200, "", 1, TEXT)),
    Fault(
        "no finish reason", body(reply(choice={"finish_reason": None})), (200, "", 1, TEXT), (200, "stream_truncated", 1, TEXT)
    ),
    Fault("usage that is huge", body(reply(usage={"prompt_tokens": 10**30, "completion_tokens": -5})), (200, "", 1, TEXT)),
    Fault("usage that is text", body(reply(usage="many")), (200, "", 1, TEXT)),
    # events
    Fault("no event", events(whole=reply(choices=[])), (502, "bad_answer", 1, ""), (502, "stream_truncated", 1, "")),
    Fault(
        "comments only",
        events(*[b": keep-alive\n\n"] * 50, whole=b": keep-alive"),
        (502, "bad_answer", 1, ""),
        (502, "stream_truncated", 1, ""),
    ),
    Fault("the end first", events(DONE, FIRST, LAST, whole=b"[DONE]"), (502, "bad_answer", 1, ""), (200, "", 1, TEXT)),
    Fault("no end", events(FIRST, whole=encode(reply())[:50]), (502, "cut_off", 2, ""), (200, "stream_truncated", 1, TEXT)),
    Fault("no DONE", events(FIRST, LAST, whole=reply()), (200, "", 1, TEXT)),
    Fault("no finish reason before DONE", events(FIRST, DONE, whole=reply(choice={"finish_reason": None})), (200, "", 1, TEXT)),
    Fault(
        "events behind the end",
        events(FIRST, LAST, DONE, FIRST, whole=encode(reply()) * 2),
        (502, "cut_off", 2, ""),
        (200, "", 1, TEXT),
    ),
    Fault(
        "a damaged event",
        events(FIRST, b'data: {"choices": [{\n\n', LAST, DONE, whole=encode(reply())[:-1]),
        (502, "cut_off", 2, ""),
        (200, "", 1, TEXT),
    ),
    Fault(
        "an event of another kind",
        events(b'event: x\ndata: {"y": 1}\n\n', FIRST, LAST, DONE, whole={**reply(), "y": 1}),
        (200, "", 1, TEXT),
    ),
    Fault(
        "an error in the stream",
        events(
            FIRST,
            b'data: {"error":{"message":"no","code":"c"}}\n\n',
            whole={**reply(), "error": {"message": "no", "code": "c"}},
        ),
        (502, "c", 1, ""),
        (200, "c", 1, TEXT),
    ),
    Fault(
        "half an event at the end",
        events(FIRST, LAST[:30], whole=encode(reply())[:-30]),
        (502, "cut_off", 2, ""),
        (200, "stream_truncated", 1, TEXT),
    ),
    Fault(
        "lines that end in CR",
        events(
            FIRST.replace(b"\n", b"\r"), LAST.replace(b"\n", b"\r"), DONE.replace(b"\n", b"\r"), whole=encode(reply()) + b"\r\r"
        ),
        (200, "", 1, TEXT),
    ),
    Fault("a whole reply for a stream", lambda stream: (sized(encode(reply())), CLOSE), (200, "", 1, TEXT)),
    Fault("a stream for a whole reply", lambda stream: (chunked(FIRST, LAST, DONE, kind=SSE), CLOSE), (200, "", 1, TEXT)),
    Fault(
        "one byte at a time",
        lambda stream: (
            chunked(
                *(bytes([each]) for each in (FIRST + LAST + DONE if stream else encode(reply()))), kind=SSE if stream else JSON
            ),
            CLOSE,
        ),
        (200, "", 1, TEXT),
    ),
    Fault(
        "a call that is cut off",
        events(
            CALL_EVENT,
            LAST,
            DONE,
            whole=reply(
                message={"content": None, "tool_calls": [{**CALL, "function": {"name": "get_weather", "arguments": '{"ci'}}]},
                choice={"finish_reason": "tool_calls"},
            ),
        ),
        (200, "", 1, REJECTED),
    ),
)


# -- the upstream and the test


@contextlib.asynccontextmanager
async def raw_upstream(answer: Answer) -> AsyncIterator[tuple[str, list[int]]]:
    """Answers every request with these bytes."""
    asked = [0]

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            lengths = [int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            await reader.readexactly(lengths[0] if lengths else 0)
            asked[0] += 1
            data, then = answer
            writer.write(data)
            await writer.drain()
            if then == RESET:
                await asyncio.sleep(0.05)  # else the reset overtakes the bytes
                writer.transport.abort()
                return
            if then == HANG:
                await reader.read()
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked
    finally:
        server.close()


async def outcome(fault: Fault, client: str, *, stream: bool) -> tuple[int, str, int, str]:
    answer = fault.answer(stream)
    limits = "first_byte_timeout = 0.5\nidle_timeout = 0.5" if answer[1] == HANG else ""
    async with raw_upstream(answer) as (url, asked), serving(config(url, "openai-chat", server=limits)) as gateway:
        path, sent = request_of(client, question(client, "openai-chat/m"), stream=stream)
        got, data, _ = await gateway.ask("POST", path, sent)
        record = gateway.gateway.records.recent()[0]
        assert record.status == got
        said = read(client, data, stream=stream) if got == 200 else None
        if stream and said is not None:  # what breaks off ends with an error, anything else without one
            assert (said.error is not None) == bool(record.code), (said, record.code)
        calls = "".join(call.name for call in said.calls) if said is not None else ""
        return got, record.code, asked[0], (said.text if said is not None else "") + calls


def read(client: str, data: Any, *, stream: bool) -> Reply:
    here = wire_format(client)
    if not stream:
        return here.wire.read_reply(data, None)
    reader = open_reader(here)
    found = reader.feed(data)
    assert found, data
    return fold([*found, *reader.close()])


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("number", range(len(FAULTS)), ids=[fault.name for fault in FAULTS])
def test_fault(number: int, stream: bool) -> None:
    fault = FAULTS[number]

    async def work() -> None:
        found = await outcome(fault, WIRES[number % len(WIRES)], stream=stream)
        assert found == ((fault.streamed or fault.whole) if stream else fault.whole)

    run(work())


def test_there_are_as_many_as_promised() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 60
