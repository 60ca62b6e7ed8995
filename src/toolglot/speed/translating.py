"""What a gateway does with requests and streams, from bytes to bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from toolglot.pipeline.convert import convert_stream, read_request, write_request
from toolglot.pipeline.route import speech
from toolglot.pipeline.translate import read_request_bytes, write_request_bytes
from toolglot.speed.as_chat import CHAT_MODEL, chat_request, chat_stream
from toolglot.speed.subject import Subject, json_floor
from toolglot.text.json_text import decode, encode
from toolglot.wires import NAMES

CHAT = "openai-chat"
_FRAME = re.compile(rb".+?(?:\r?\n){2}", re.DOTALL)
_DATA = re.compile(rb"^(?:data: )?(\{.*\})\r?$", re.MULTILINE)


# -- each is made ready to be run again and again


def request(source: str, target: str, data: bytes, model: str | None = None) -> Callable[[], bytes]:
    """A turn of a conversation: the tools were seen before, as an agent sends them with every turn."""
    here, there = speech(source), speech(target)
    told: dict[str, Any] = {} if model is None else {"model": model}  # by the path
    return lambda: write_request_bytes(read_request_bytes(data, here, **told), there, [])


def first_request(source: str, target: str, data: bytes, model: str | None = None) -> Callable[[], bytes]:
    """The first turn: everything is read and written anew."""
    here, there = speech(source), speech(target)

    def run() -> bytes:
        body = decode(data)
        if model is not None:  # told by the path
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
    for turn, way in (("", request), (", first turn", first_request)):
        for source, target in _ways():
            model = CHAT_MODEL if "model" in speech(source).wire.path_keys else None
            run = way(source, target, bodies[source], model)
            found.append(Subject(f"{source} > {target}{turn}", run, "request", floor=floors[source]))
    return found


def streams() -> list[Subject]:
    chunks = {wire: _frames(wire, stream(CHAT, wire, chat_stream())()) for wire in NAMES}
    chunks[CHAT] = chat_stream()
    floors = {
        wire: json_floor(f"a chunk of {wire}", *(held for piece in pieces for held in _DATA.findall(piece)))
        for wire, pieces in chunks.items()
    }
    return [
        Subject(
            f"{source} > {target}", stream(source, target, chunks[source]), "chunk", len(chunks[source]), floor=floors[source]
        )
        for source, target in _ways()
    ]


def _ways() -> Iterator[tuple[str, str]]:
    others = [wire for wire in NAMES if wire != CHAT]
    yield from ((CHAT, wire) for wire in others)
    yield from ((wire, CHAT) for wire in others)


def _frames(wire: str, data: bytes) -> list[bytes]:
    """A stream in the pieces that a server sends."""
    return _FRAME.findall(data) if speech(wire).wire.media_type == "text/event-stream" else data.splitlines(keepends=True)
