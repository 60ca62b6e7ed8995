"""Convert requests, responses, tools, messages and streams from any wire to any other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from toolglot.catalog.providers import unknown
from toolglot.core.events import Event
from toolglot.core.interfaces import Notes, Reader, ResponseContext, Wire
from toolglot.core.names import NameMap, sanitize_names
from toolglot.core.request import Request
from toolglot.errors import CallerError
from toolglot.io.request_validation import require_list, require_object, wrong_type
from toolglot.pipeline.detect_tool_format import read_any_tools
from toolglot.pipeline.request.declared_tools import with_declared_tools
from toolglot.pipeline.request.pair_results import pair_results
from toolglot.pipeline.request.route import WireFormat, wire_format
from toolglot.pipeline.response.restore_names import RestoreNames, restore_reply
from toolglot.wires import DEFAULT, find_wire

Body = dict[str, Any]

KINDS = ("request", "response", "tools", "message")


def convert(
    payload: Any,
    source: str = DEFAULT,
    target: str = "anthropic",
    kind: str = "request",
    *,
    tools: Iterable[Any] = (),
    model: str | None = None,
    notes: Notes | None = None,
) -> Any:
    """Convert `payload` to the format of `target`. Source and target are wires or providers.

    kind: request | response | tools | message. What can't be translated is reported in `notes`. For a response, `tools` are
    those of the request: they restore tool names that the source wire does not allow. A message may become several: then a
    list is returned. An empty object is an error.

    Examples:
        >>> request = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 9}
        >>> convert(request, "openai-chat", "anthropic")
        {'model': 'm', 'messages': [{'role': 'user', 'content': 'Hi'}], 'max_tokens': 9}
    """
    source_format, target_format = wire_format(source), wire_format(target)
    notes = _notes_list(notes)
    if kind in KINDS and payload == {}:
        raise CallerError("is an empty object", kind)
    if kind == "request":
        request = with_defaults(read_request(payload, source_format), source_format.wire.name, target_format.wire)
        return write_request(request, target_format, notes, model)
    if kind == "response":
        reply = source_format.wire.read_reply(require_object(payload, "response"), None)
        if reply.error is not None:
            return target_format.wire.write_error(reply.error)[1]
        notes.extend(reply.notes)
        reply = restore_reply(reply, read_any_tools(tools), source_format.wire.names)
        return target_format.wire.write_reply(reply, ResponseContext(model=model), notes)
    if kind == "tools":
        return write_tools(source_format.wire.read_tools(_tool_list(payload)), target_format, notes)
    if kind == "message":
        return _message(payload, source_format, target_format, notes)
    raise CallerError(unknown("kind", kind, list(KINDS)), "kind")


def _notes_list(notes: Notes | None) -> Notes:
    """The caller's list, or a new one."""
    return [] if notes is None else require_list(notes, "notes")


def read_request(payload: Any, source_format: WireFormat) -> Request:
    return with_declared_tools(source_format.wire.read_request(require_object(payload, "request")))


def with_defaults(request: Request, wire: str, target_format: Wire) -> Request:
    """Set options that are missing in the request, where the target wire has other defaults."""
    return request if target_format.adopt is None or target_format.name == wire else target_format.adopt(request)


def write_request(request: Request, target_format: WireFormat, notes: Notes, model: str | None = None) -> Body:
    """Write a request: pair results with calls, sanitize tool names."""
    if model is not None:
        request = msgspec.structs.replace(request, model=model)
    request = sanitize_names(pair_results(request, notes), target_format.wire.names)
    return target_format.wire.write_request(request, notes, target_format.quirks)


def write_tools(tools: Any, target_format: WireFormat, notes: Notes) -> list[Any]:
    request = sanitize_names(Request("", tools=tools), target_format.wire.names)
    return target_format.wire.write_tools(request.tools, notes, target_format.quirks)


def _tool_list(payload: Any) -> list[Any]:
    """The tools as a list; Gemini allows a single object."""
    return [payload] if isinstance(payload, dict) else require_list(payload, "tools")


def _message(payload: Any, source_format: WireFormat, target_format: WireFormat, notes: Notes) -> Any:
    if not isinstance(payload, (dict, list)):
        raise wrong_type("message", "a message", payload)
    messages = source_format.wire.read_messages(payload if isinstance(payload, list) else [payload])
    request = sanitize_names(Request("", messages), target_format.wire.names)
    written = target_format.wire.write_messages(request.messages, notes, target_format.quirks)
    return written[0] if len(written) == 1 else written


# -- streams


def read_stream(chunks: Iterable[bytes | str], provider: str, tools: Iterable[Any] = ()) -> Iterator[Event]:
    """Parse a provider's raw stream into events, without extracting or validating calls. `fold` turns them into a Reply.

    Examples:
        >>> events = read_stream([b'{"message":{"content":"Hi"},"done":true}\\n'], "ollama")
        >>> [type(event).__name__ for event in events]
        ['Start', 'Open', 'Delta', 'Close', 'Finish']
    """
    source_format = wire_format(provider)
    if isinstance(chunks, (bytes, str)):
        chunks = [chunks]
    if not isinstance(chunks, Iterable):
        raise wrong_type("chunks", "an iterable of bytes", chunks)
    restore = RestoreNames(NameMap(read_any_tools(tools), source_format.wire.names))
    reader = open_reader(source_format)
    for chunk in chunks:
        yield from map(restore.event, reader.feed(chunk.encode() if isinstance(chunk, str) else chunk))
    yield from map(restore.event, reader.close())


def convert_stream(
    chunks: Iterable[bytes | str],
    source: str = DEFAULT,
    target: str = "anthropic",
    *,
    tools: Iterable[Any] = (),
    model: str | None = None,
    notes: Notes | None = None,
) -> Iterator[bytes]:
    """Convert one wire's raw stream to another's, chunk by chunk.

    Examples:
        >>> chunks = [b'{"message":{"content":"Hi"},"done":true}\\n']
        >>> b"".join(convert_stream(chunks, "ollama", "anthropic")).count(b"event: content_block_delta")
        1
    """
    writer = wire_format(target).wire.writer(ResponseContext(model=model), _notes_list(notes))
    for event in read_stream(chunks, source, tools):
        written = writer.feed(event)
        if written:
            yield written
    last = writer.close()
    if last:
        yield last


def open_reader(source_format: WireFormat, channel: str | None = None) -> Reader[bytes]:
    """The wire's reader. An Ollama server may send NDJSON or an OpenAI Chat stream: the first byte decides."""
    wire = source_format.wire
    if wire.media_type == "text/event-stream":
        return wire.reader(channel)
    return _SniffingReader(wire.reader(channel), channel)


class _SniffingReader:
    """Decides by the first byte that is not white space: `{` or `[` is NDJSON, all else is SSE."""

    def __init__(self, reader: Reader[bytes], channel: str | None) -> None:
        self._reader = reader
        self._channel = channel
        self._decided = False

    def feed(self, piece: bytes) -> list[Event]:
        if not self._decided:
            head = piece.lstrip()
            if not head:
                return []
            self._decided = True
            chat = find_wire(DEFAULT)
            if head[:1] not in (b"{", b"[") and chat is not None:
                self._reader = chat.reader(self._channel)
        return self._reader.feed(piece)

    def close(self) -> list[Event]:
        return self._reader.close()
