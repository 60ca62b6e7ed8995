"""The five targets: what is fuzzed, its seeds and its laws. `check` raises if a law is broken.

It returns a signature of what happened: an input with a new one is kept in the corpus.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Hashable, Iterator
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, TypeVar

import msgspec
from tests.laws.conversations import CASES, ROOT, the_wire
from tests.laws.dialect_cases import ALL, shared_tools

from fuzz import endpoints
from fuzz.mutate import mutate_bytes, mutate_json, mutate_lines, mutate_text
from toolglot import StreamExtractor
from toolglot.core.event_order import first_order_error
from toolglot.core.events import Event
from toolglot.core.extraction import Extraction
from toolglot.core.fold import fold, unfold
from toolglot.core.interfaces import ResponseContext
from toolglot.core.messages import Text, ToolCall
from toolglot.core.reply import Reply
from toolglot.core.request import Request
from toolglot.dialects import dialect_names
from toolglot.errors import ToolglotError
from toolglot.gateway.body_structure import check_structure
from toolglot.gateway.http_protocol import HttpProtocol
from toolglot.io.json_codec import JSON_ERRORS, decode, encode
from toolglot.pipeline.convert import write_request
from toolglot.pipeline.request.fit_request import fit_request
from toolglot.pipeline.request.request_bytes import read_request_bytes
from toolglot.pipeline.request.route import Route, resolve, wire_format
from toolglot.pipeline.response.call_validator import unsupported_schema, validate_call
from toolglot.wires import NAMES

Options = dict[str, Any]
Piece = TypeVar("Piece", str, bytes)
Mutate = Callable[[bytes, bytes, "tuple[bytes, ...]", Random], bytes]

_CHARS = range(0xE000, 0xE020)  # private use: part of no format, so each must come out again


class LawError(AssertionError):
    """A law is broken."""


class Target(msgspec.Struct, frozen=True):
    seeds: Callable[[], Iterator[tuple[Options, bytes]]]
    vary: Callable[[Options, Random], Options]  # other options for the same data
    mutate: Callable[[Options], Mutate]
    check: Callable[[Options, bytes], Hashable]


def law(holds: object, message: str, *values: object) -> None:
    if not holds:
        raise LawError(message + "".join(f"\n  {value!r}" for value in values))


def cut(data: Piece, seed: int) -> Iterator[Piece]:
    """The data in pieces; the seed decides where."""
    chance = Random(seed)
    longest = chance.choice((1, 3, 20, 200))
    at = 0
    while at < len(data):
        size = chance.randint(1, longest)
        yield data[at : at + size]
        at += size


# -- model texts


def _text_seeds() -> Iterator[tuple[Options, bytes]]:
    for dialect, case in ALL:
        if case.tools is None:
            yield {"dialect": dialect, "starts_in_reasoning": case.starts_in_reasoning}, case.text.encode()
            yield {"dialect": "auto", "starts_in_reasoning": case.starts_in_reasoning}, case.text.encode()


def _vary_text(options: Options, chance: Random) -> Options:
    return {
        "dialect": chance.choice(("auto", options["dialect"], options["dialect"], chance.choice(dialect_names()))),
        "policy": chance.choice(("balanced", "balanced", "eager", "strict")),
        "calls": chance.choice(("hold", "hold", "pass")),
        "starts_in_reasoning": chance.random() < (0.5 if options["starts_in_reasoning"] else 0.05),
        "tools": chance.random() < 0.85,
        "given": chance.random() < 0.1,  # the same text stands in a tool result
        "marks": chance.choice((0, 1, 3)),
        "cut": chance.randrange(1 << 30),
    }


def _check_text(options: Options, data: bytes) -> Hashable:
    text, marks = _with_marks(data.decode(), options.get("marks", 0), options.get("cut", 0))
    whole_events, whole = _extracted(options, text, [text])
    events, streamed = _extracted(options, text, cut(text, options.get("cut", 0)))
    law(first_order_error(events) is None, "the events are out of order", first_order_error(events), events)
    law(streamed == whole, "streamed and whole differ", streamed, whole)
    reply = fold(events)
    law(
        (reply.calls, reply.text, reply.reasoning) == (whole.calls, whole.text, whole.reasoning),
        "the events do not fold to the result",
        reply,
        whole,
    )
    codes = [decision.code for decision in whole.decisions]
    if not whole.calls and not any(code.startswith(("rejected", "duplicate", "quoted_input")) for code in codes):
        law(sorted(_marks_in(whole.text + whole.reasoning)) == marks, "text is lost", whole)
    law(_marks_in(whole.text) == sorted(_marks_in(whole.text)), "text is out of order or doubled", whole)
    if not options.get("marks"):
        law(_is_subsequence(whole.text, text), "text that the model did not write", whole)
    kinds = tuple(type(event).__name__[0] for event in whole_events[:8])
    return (options["dialect"], whole.dialect, len(whole.calls), tuple(sorted(set(codes))), kinds, bool(whole.reasoning))


def _extracted(options: Options, text: str, pieces: Any) -> tuple[list[Event], Extraction]:
    extractor = StreamExtractor(
        shared_tools() if options.get("tools", True) else (),
        messages=[{"role": "tool", "tool_call_id": "c", "content": text}] if options.get("given") else (),
        dialect=options["dialect"],
        policy=options.get("policy", "balanced"),
        calls=options.get("calls", "hold"),
        starts_in_reasoning=options["starts_in_reasoning"],
    )
    events = [event for piece in pieces for event in extractor.feed(piece)]
    events += extractor.close()
    return events, extractor.result()


def _with_marks(text: str, count: int, seed: int) -> tuple[str, list[str]]:
    """The text with so many characters put in that no format uses."""
    places = sorted(Random(seed).randint(0, len(text)) for _ in range(count))
    bounds = [0, *places, len(text)]
    marks = [chr(char) for char in _CHARS[:count]]
    parts = [text[a:b] for a, b in pairwise(bounds)]
    return "".join(part + mark for part, mark in zip(parts, [*marks, ""], strict=True)), marks


def _marks_in(text: str) -> list[str]:
    return [char for char in text if ord(char) in _CHARS]


def _is_subsequence(part: str, whole: str) -> bool:
    left = iter(whole)
    return all(char in left for char in part)


# -- wires: what an upstream sends


def _wire_seeds() -> Iterator[tuple[Options, bytes]]:
    for case in CASES:
        for wire in NAMES:
            for kind, name in (("stream", f"{wire}.stream"), ("reply", f"{wire}.reply.json")):
                data = (ROOT / "conversations" / case / name).read_bytes()
                if len(data) < 4000:
                    yield {"wire": wire, "kind": kind}, data


def _vary_wire(options: Options, chance: Random) -> Options:
    return {
        "wire": options["wire"] if chance.random() < 0.95 else chance.choice(NAMES),
        "kind": options["kind"],
        "to": chance.choice(NAMES),
        "cut": chance.randrange(1 << 30),
    }


def _check_wire(options: Options, data: bytes) -> Hashable:
    wire = the_wire(options["wire"])
    if options["kind"] == "reply":
        try:
            body = decode(data)
        except JSON_ERRORS:
            return None
        if not isinstance(body, dict):
            return None
        events = wire.read_events(body, None)
    else:
        events = _read(wire.reader(None), [data])
        streamed = fold(_read(wire.reader(None), cut(data, options.get("cut", 0))))
        law(streamed == fold(events), "streamed and whole differ", streamed, fold(events))
        half = len(data) // 2
        earlier = fold([*wire.reader(None).feed(data[:half])]).text
        law(fold(events).text.startswith(earlier), "text is taken back", earlier, fold(events).text)
    law(first_order_error(events) is None, "the events are out of order", first_order_error(events), events)
    reply = fold(events)
    law(reply.stop is not None, "no stop reason", reply)
    if options.get("to"):
        _check_writing(reply, events, options["to"])
    parts = tuple(type(part).__name__ for part in reply.parts[:6])
    return (
        options["wire"],
        options["kind"],
        parts,
        str(reply.stop and reply.stop.reason),
        len(reply.notes),
        _shape(reply.error),
    )


def _read(reader: Any, pieces: Any) -> list[Event]:
    return [*(event for piece in pieces for event in reader.feed(piece)), *reader.close()]


def _check_writing(reply: Reply, events: list[Event], target: str) -> None:
    """What was read is written on another wire, whole and streamed: no character of its text is lost."""
    wire = the_wire(target)
    writer = wire.writer(ResponseContext("id", "m", 1), [])
    written = b"".join([writer.feed(event) for event in events]) + writer.close()
    law(_letters(fold(_read(wire.reader(None), [written]))) == _letters(reply), "text is lost in the stream", reply, written)
    if reply.error is not None:
        status, body = wire.write_error(reply.error)
        law(400 <= status < 600 and encode(body), "an error without a status", status, body)
        return
    whole = wire.read_reply(decode(encode(wire.write_reply(reply, ResponseContext("id", "m", 1), []))), None)
    law(sorted(_letters(whole)) == sorted(_letters(reply)), "text is lost", reply, whole)  # Chat has one field per channel
    law(len(list(unfold(whole))) > 1, "no events")


def _letters(reply: Reply) -> str:
    """The text without white space: some wires need a separator between parts."""
    return "".join(reply.text.split())


def _shape(error: object) -> str:
    return re.sub(r"[^a-zA-Z ]+", "", str(error or ""))[:40]


# -- request bodies: what a client sends


def _request_seeds() -> Iterator[tuple[Options, bytes]]:
    for case in CASES:
        for wire in NAMES:
            data = (ROOT / "conversations" / case / f"{wire}.request.json").read_bytes()
            if len(data) < 5000:
                yield {"wire": wire}, data


@cache
def _routes() -> dict[str, Route]:
    names = ("vllm/qwen3", "openai/gpt-5", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-pro", "ollama/llama3.2:3b")
    return {name: resolve(name) for name in names}


def _vary_request(options: Options, chance: Random) -> Options:
    return {"wire": options["wire"], "route": chance.choice(tuple(_routes())), "words": chance.randrange(1 << 30)}


_ARGUMENTS = ("{}", '{"city":"Paris","days":"3"}', '{"a":[1,"2",{}],"query":null}', "[1", '{"path":{"x":1e999}}')


def _check_request(options: Options, data: bytes) -> Hashable:
    source = wire_format(options["wire"]).wire
    inspect = partial(check_structure, max_depth=64)
    try:
        request = read_request_bytes(data, source, inspect, model="m", stream=False)
    except ToolglotError as error:
        law(str(error), "an error without a message", error)
        return ("rejected", options["wire"], _shape(error))
    except RecursionError:
        return "deep"  # the gateway answers it
    again = read_request_bytes(data, source, inspect, model="m", stream=False)
    law(again == request, "read again, it is another request", request, again)
    route = _routes()[options.get("route", "vllm/qwen3")]
    notes: list[str] = []
    try:
        body = encode(write_request(request, wire_format(route.wire.name), notes))
        law(notes or _texts(request) <= _strings(body), "text is lost", _texts(request) - _strings(body), body)
        plan = fit_request(request, route)
        encode(write_request(plan.request, wire_format(route.wire.name), notes))
    except ToolglotError as error:
        return ("not sent", route.wire.name, _shape(error))
    unsupported_schema(request.tools)
    for tool in tuple(request.tools)[:3]:
        for arguments in _ARGUMENTS:
            validate_call(ToolCall("c", tool.name, arguments, tool.namespace), request.tools, "balanced", position=0)
    roles = "".join(message.role[0] for message in request.messages[:8])
    return (options["wire"], route.wire.name, roles, len(request.tools), _shape(notes[:1]), len(plan.notes))


def _texts(request: Request) -> set[str]:
    """The words that users and models wrote."""
    return {
        word
        for message in request.messages
        for part in message.parts
        if isinstance(part, Text)
        for word in part.text.split()
        if word.isalnum()
    }


def _strings(body: bytes) -> set[str]:
    left, found = [decode(body)], set[str]()
    while left:
        one = left.pop()
        if isinstance(one, str):
            found.update(re.split(r"\s+", one))
        elif isinstance(one, (dict, list)):
            left += one.values() if isinstance(one, dict) else one
    return found


# -- HTTP bytes


_HTTP = (
    b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n",
    b"POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nhello",
    b"POST /v1/messages?b=t HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n3;x=y\r\n to\r\n0\r\n\r\n",
    b"POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nhost: b\r\nx: y\r\n\r\n",
    b"POST /a HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\nok",
    b"GET /a%20b/%ff HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
    b"GET / HTTP/1.0\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n",
    b"CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n",
    b"HEAD /x HTTP/1.1\r\nhost: a\r\nx-long: " + b"y" * 300 + b"\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n",
    b"POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
)


def _http_seeds() -> Iterator[tuple[Options, bytes]]:
    for data in (*_HTTP, *(first + second for first in _HTTP for second in _HTTP[:4])):
        yield {}, data


def _vary_http(options: Options, chance: Random) -> Options:
    return {"cut": chance.randrange(1 << 30), "eof": chance.random() < 0.2, "small": chance.random() < 0.1}


class _Transport:
    """Keeps what is written, and stops giving bytes while reading is paused."""

    def __init__(self) -> None:
        self.written = bytearray()
        self.paused = self.ended = False

    def get_extra_info(self, name: str) -> Any:
        return {"sockname": ("127.0.0.1", 1), "peername": ("127.0.0.1", 2)}.get(name)

    def write(self, data: bytes) -> None:
        self.written += data

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False

    def write_eof(self) -> None:
        pass

    def close(self) -> None:
        self.ended = True

    abort = close

    def get_write_buffer_size(self) -> int:
        return 0


class _SmallHeads(HttpProtocol):
    max_head = 200


_LOOP = asyncio.new_event_loop()
_FAILED: list[Any] = []
_LOOP.set_exception_handler(lambda _, context: _FAILED.append(context))


async def _connection(
    pieces: Iterator[bytes] | list[bytes], eof: bool, kind: type[HttpProtocol]
) -> tuple[list[tuple[Any, ...]], bytes, bool]:
    """The complete requests that the application got, and all that was written."""
    requests: list[tuple[Any, ...]] = []

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body, more = body + message["body"], message["more_body"]
        requests.append((scope["method"], scope["path"], scope["query_string"], tuple(scope["headers"]), body))
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    config = SimpleNamespace(loaded_app=app, timeout_keep_alive=1000)
    state = SimpleNamespace(connections=set(), tasks=set(), total_requests=0, default_headers=[])
    protocol, transport = kind(config, state, None, _LOOP), _Transport()
    protocol.connection_made(transport)  # type: ignore[arg-type]
    for piece in pieces:
        turns = 0
        while transport.paused and not transport.ended:
            await asyncio.sleep(0)
            turns += 1
            law(turns < 500, "reading is paused forever")
        if transport.ended:
            break
        protocol.data_received(piece)
        await asyncio.sleep(0)
    if eof and not transport.ended:
        protocol.eof_received()
    for _ in range(100):
        if not state.tasks:
            break
        await asyncio.sleep(0)
    protocol.connection_lost(None)
    while state.tasks:
        await asyncio.gather(*state.tasks)
        await asyncio.sleep(0)
    return requests, bytes(transport.written).replace(b"HTTP/1.1 100 Continue\r\n\r\n", b""), transport.ended


def _check_http(options: Options, data: bytes) -> Hashable:
    _FAILED.clear()
    kind = _SmallHeads if options.get("small") else HttpProtocol
    eof = bool(options.get("eof"))
    requests, written, ended = _LOOP.run_until_complete(_connection([data], eof, kind))
    pieces = cut(data, options.get("cut", 0))
    cut_requests, cut_written, _ = _LOOP.run_until_complete(_connection(pieces, eof, kind))
    law(not _FAILED, "an exception in the event loop", _FAILED[:1])
    if not options.get("small") and not eof:  # both depend on what has arrived
        law(cut_requests == requests, "cut, it is another request", cut_requests, requests)
        law(cut_written == written, "cut, it is another response", cut_written, written)
    for _, _, _, headers, body in requests:
        law(not dict(headers).get(b"content-length") or body in data, "a body that was not sent", body)
    return (len(requests), ended, tuple(re.findall(rb"HTTP/1.1 (\d+)", written)), tuple(request[0] for request in requests[:4]))


TARGETS = {
    "texts": Target(_text_seeds, _vary_text, lambda _: mutate_text, _check_text),
    "wires": Target(
        _wire_seeds, _vary_wire, lambda options: mutate_lines if options["kind"] == "stream" else mutate_json, _check_wire
    ),
    "requests": Target(_request_seeds, _vary_request, lambda _: mutate_json, _check_request),
    "http": Target(_http_seeds, _vary_http, lambda _: mutate_bytes, _check_http),
    "endpoints": Target(endpoints.seeds, endpoints.vary, lambda _: endpoints.mutate, endpoints.check),
}

REPOSITORY = Path(__file__).parents[1]
