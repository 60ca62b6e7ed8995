"""From any wire to any other: requests, responses, tools, single messages, and streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from toolglot.catalog.providers import unknown
from toolglot.core.events import Event
from toolglot.core.interfaces import Answering, Notes, Reader, Wire
from toolglot.core.names import legalise
from toolglot.core.request import Request
from toolglot.errors import CallerError
from toolglot.pipeline.restore_names import RestoreNames, restore_reply
from toolglot.pipeline.route import Speech, speech
from toolglot.pipeline.settle import settle
from toolglot.pipeline.tool_forms import read_any_tools
from toolglot.reading.shape import a_list, an_object, misfit
from toolglot.wires import find_wire

Body = dict[str, Any]

KINDS = ("request", "response", "tools", "message")


def convert(
    payload: Any,
    source: str = "openai-chat",
    target: str = "anthropic",
    kind: str = "request",
    *,
    tools: Iterable[Any] = (),
    model: str | None = None,
    notes: Notes | None = None,
) -> Any:
    """`payload` as `target` has it. Source and target are wires or providers.

    kind: request | response | tools | message. What can't be carried is appended to `notes`. In a response,
    `tools` are those of the request: calls get back the names that the source's wire could not carry.
    A message may become several: then a list is returned.
    """
    here, there = speech(source), speech(target)
    notes = _kept(notes)
    if kind == "request":
        return write_request(adopted(read_request(payload, here), here.wire.name, there.wire), there, notes, model)
    if kind == "response":
        reply = here.wire.read_reply(an_object(payload, "response"), None)
        if reply.error is not None:
            return there.wire.write_fault(reply.error)[1]
        reply = restore_reply(reply, read_any_tools(tools), here.wire.names)
        return there.wire.write_reply(reply, Answering(model=model), notes)
    if kind == "tools":
        return write_tools(here.wire.read_tools(_listed(payload)), there, notes)
    if kind == "message":
        return _message(payload, here, there, notes)
    raise CallerError(unknown("kind", kind, list(KINDS)), "kind")


def _kept(notes: Notes | None) -> Notes:
    """Where notes go: the caller's own list, or nowhere."""
    return [] if notes is None else a_list(notes, "notes")


def read_request(payload: Any, here: Speech) -> Request:
    return here.wire.read_request(an_object(payload, "request"))


def adopted(request: Request, wire: str, there: Wire) -> Request:
    """The request of one wire as another means it, where silence means something else there."""
    return request if there.adopt is None or there.name == wire else there.adopt(request)


def write_request(request: Request, there: Speech, notes: Notes, model: str | None = None) -> Body:
    """A request on a wire: calls and results settled, names legalised."""
    if model is not None:
        request = msgspec.structs.replace(request, model=model)
    request = legalise(settle(request, notes), there.wire.names)
    return there.wire.write_request(request, notes, there.quirks)


def write_tools(tools: Any, there: Speech, notes: Notes) -> list[Any]:
    request = legalise(Request("", tools=tools), there.wire.names)
    return there.wire.write_tools(request.tools, notes, there.quirks)


def _listed(payload: Any) -> list[Any]:
    """A list of tools; Gemini's may come as one object."""
    return [payload] if isinstance(payload, dict) else a_list(payload, "tools")


def _message(payload: Any, here: Speech, there: Speech, notes: Notes) -> Any:
    if not isinstance(payload, (dict, list)):
        raise misfit("message", "a message", payload)
    messages = here.wire.read_messages(payload if isinstance(payload, list) else [payload])
    request = legalise(Request("", messages), there.wire.names)
    written = there.wire.write_messages(request.messages, notes, there.quirks)
    return written[0] if len(written) == 1 else written


# -- streams


def read_stream(chunks: Iterable[bytes | str], provider: str, tools: Iterable[Any] = ()) -> Iterator[Event]:
    """A provider's raw bytes to events, neither rescued nor guarded; `fold` makes a Reply of them."""
    here = speech(provider)
    if isinstance(chunks, (bytes, str)):
        chunks = [chunks]
    if not isinstance(chunks, Iterable):
        raise misfit("chunks", "an iterable of bytes", chunks)
    restore = RestoreNames(read_any_tools(tools), here.wire.names)
    reader = open_reader(here)
    for chunk in chunks:
        for event in reader.feed(chunk.encode() if isinstance(chunk, str) else chunk):
            yield from restore.feed(event)
    for event in reader.close():
        yield from restore.feed(event)


def convert_stream(
    chunks: Iterable[bytes | str],
    source: str = "openai-chat",
    target: str = "anthropic",
    *,
    tools: Iterable[Any] = (),
    model: str | None = None,
    notes: Notes | None = None,
) -> Iterator[bytes]:
    """One wire's raw stream as another's, piece by piece."""
    writer = speech(target).wire.writer(Answering(model=model), _kept(notes))
    for event in read_stream(chunks, source, tools):
        written = writer.feed(event)
        if written:
            yield written
    last = writer.close()
    if last:
        yield last


def open_reader(here: Speech, channel: str | None = None) -> Reader[bytes]:
    """The wire's reader. What goes by Ollama's name may be its own NDJSON or the Chat stream it copies: the bytes tell."""
    wire = here.wire
    if wire.media_type == "text/event-stream":
        return wire.reader(channel)
    return _Sniffing(wire.reader(channel), channel)


class _Sniffing:
    """Waits for the first byte that is not white space: `{` is NDJSON, all else is SSE."""

    def __init__(self, reader: Reader[bytes], channel: str | None) -> None:
        self._reader = reader
        self._channel = channel
        self._sure = False

    def feed(self, piece: bytes) -> list[Event]:
        if not self._sure:
            head = piece.lstrip()
            if not head:
                return []
            self._sure = True
            chat = find_wire("openai-chat")
            if head[:1] not in (b"{", b"[") and chat is not None:
                self._reader = chat.reader(self._channel)
        return self._reader.feed(piece)

    def close(self) -> list[Event]:
        return self._reader.close()
