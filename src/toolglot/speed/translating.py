"""Translates requests and streams as a gateway does, from bytes to bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from toolglot.io.json_codec import decode, encode
from toolglot.pipeline.convert import convert_stream, read_request, write_request
from toolglot.pipeline.request.request_bytes import read_request_bytes, write_request_bytes
from toolglot.pipeline.request.route import wire_format
from toolglot.speed.as_chat import CHAT_MODEL, chat_request, chat_stream
from toolglot.speed.subject import Subject, json_floor
from toolglot.wires import DEFAULT, NAMES

CHAT = DEFAULT
_FRAME = re.compile(rb".+?(?:\r?\n){2}", re.DOTALL)
_DATA = re.compile(rb"^(?:data: )?(\{.*\})\r?$", re.MULTILINE)


# -- functions to run repeatedly


def request(source: str, target: str, data: bytes, model: str | None = None) -> Callable[[], bytes]:
    """A later turn of a conversation: the tools are cached, because an agent sends them with every turn."""
    here, there = wire_format(source), wire_format(target)
    path_fields: dict[str, Any] = {} if model is None else {"model": model}  # from the URL path
    return lambda: write_request_bytes(read_request_bytes(data, here.wire, **path_fields), there, [])


def first_request(source: str, target: str, data: bytes, model: str | None = None) -> Callable[[], bytes]:
    """The first turn: nothing is cached."""
    here, there = wire_format(source), wire_format(target)

    def run() -> bytes:
        body = decode(data)
        if model is not None:  # from the URL path
            body["model"] = model
        written = write_request(read_request(body, here), there, [])
        for key in there.wire.path_keys:
            written.pop(key, None)
        return encode(written)

    return run


def stream(source: str, target: str, pieces: list[bytes]) -> Callable[[], bytes]:
    return lambda: b"".join(convert_stream(pieces, source, target))


# -- from OpenAI Chat to each other wire, and back


def requests() -> list[Subject]:
    bodies = {wire: request(CHAT, wire, chat_request())() for wire in NAMES}
    bodies[CHAT] = chat_request()
    floors = {wire: json_floor(f"a request of {wire}", body) for wire, body in bodies.items()}
    found = []
    for turn, translate in (("", request), (", first turn", first_request)):
        for source, target in _wire_pairs():
            model = CHAT_MODEL if "model" in wire_format(source).wire.path_keys else None
            run = translate(source, target, bodies[source], model)
            found.append(Subject(f"{source} > {target}{turn}", run, "request", floor=floors[source]))
    return found


def streams() -> list[Subject]:
    chunks = {wire: _frames(wire, stream(CHAT, wire, chat_stream())()) for wire in NAMES}
    chunks[CHAT] = chat_stream()
    floors = {
        wire: json_floor(f"a chunk of {wire}", *(data for piece in pieces for data in _DATA.findall(piece)))
        for wire, pieces in chunks.items()
    }
    return [
        Subject(
            f"{source} > {target}", stream(source, target, chunks[source]), "chunk", len(chunks[source]), floor=floors[source]
        )
        for source, target in _wire_pairs()
    ]


def _wire_pairs() -> Iterator[tuple[str, str]]:
    others = [wire for wire in NAMES if wire != CHAT]
    yield from ((CHAT, wire) for wire in others)
    yield from ((wire, CHAT) for wire in others)


def _frames(wire: str, data: bytes) -> list[bytes]:
    """A stream in the chunks that a server sends."""
    return _FRAME.findall(data) if wire_format(wire).wire.media_type == "text/event-stream" else data.splitlines(keepends=True)
