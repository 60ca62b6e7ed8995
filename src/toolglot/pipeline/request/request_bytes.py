"""Read and write request bodies as bytes.

An agent sends the same tools and its whole history with every turn. Both are cached by their bytes, so each turn only checks
and parses what is new.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from toolglot.core.conversation import Conversation
from toolglot.core.interfaces import Notes, Wire
from toolglot.core.messages import Message
from toolglot.core.request import Request
from toolglot.core.tools import Tool, Toolset
from toolglot.errors import CallerError
from toolglot.io.json_codec import JSON_ERRORS, decode, decode_in_parts, encode_in_parts
from toolglot.io.request_validation import wrong_type
from toolglot.pipeline.convert import write_request
from toolglot.pipeline.request.declared_tools import with_declared_tools
from toolglot.pipeline.request.history_cache import HistoryCache, Known
from toolglot.pipeline.request.route import WireFormat
from toolglot.pipeline.request.toolset_cache import MARK, ToolsetCache

Inspect = Callable[[bytes], None]

_TOP = msgspec.json.Decoder(dict[str, msgspec.Raw])
_TOOLS = ToolsetCache()
_HISTORIES = HistoryCache()


def read_request_bytes(data: bytes, wire: Wire, inspect: Inspect | None = None, owner: str = "", **overrides: Any) -> Request:
    """Read a request body. `overrides` are values from the URL path. A body that is not a JSON object is a CallerError.

    `inspect` gets the new part of the body before it is parsed, and may raise. Cached parts were checked before. `owner`: whose
    messages are cached; no other owner finds them.
    """
    try:
        top, tools, known = _top_level(data, wire, owner, inspect)
        history = _take_history(top, wire, known)
        body: dict[str, Any] = {key: decode_in_parts(value) for key, value in top.items()}
    except JSON_ERRORS as error:
        raise _not_an_object(data, error) from None
    request = wire.read_request({**body, **overrides} if overrides else body)
    if tools is not None and not isinstance(tools, Toolset):
        try:
            tools = _TOOLS.read(wire.name, bytes(tools))
        except JSON_ERRORS as error:  # the parser skipped them, so invalid UTF-8 or numbers show only here
            raise CallerError(f"is not JSON: {error}", "tools") from None
    sent: tuple[Tool, ...] = request.tools
    if tools is not None:
        sent = Toolset(tools + sent) if sent else tools
    messages = Conversation(request.messages + history)
    return with_declared_tools(msgspec.structs.replace(request, tools=sent, messages=messages))


def _top_level(
    data: bytes, wire: Wire, owner: str, inspect: Inspect | None
) -> tuple[dict[str, msgspec.Raw], msgspec.Raw | Toolset | None, Known]:
    """The body without its tools; the tools, cached or as raw JSON; and the messages that are cut out of the body."""
    unknown = Known((wire.name, owner))
    rest, known = (_HISTORIES.cut_out(unknown.reader, data) if wire.read_history is not None else None) or (data, unknown)
    rest, toolset = _TOOLS.cut_out(wire.name, rest) or (rest, None)
    if rest is not data:
        if inspect is not None:
            inspect(rest)
        try:
            top = _TOP.decode(rest)
            tools = top.pop("tools", None)
            is_cut = toolset is None or (tools is not None and bytes(tools) == MARK)
            if is_cut and _HISTORIES.is_cut(known, top.get("messages")):  # else a key was nested, and not the request's
                return top, tools if toolset is None else toolset, known
        except JSON_ERRORS:
            pass  # the error must describe the original body
    if inspect is not None:
        inspect(data)
    top = _TOP.decode(data)
    return top, top.pop("tools", None), unknown


def _take_history(top: dict[str, msgspec.Raw], wire: Wire, known: Known) -> tuple[Message, ...]:
    """The messages, if the wire parses them from bytes."""
    raw = top.pop("messages", None) if wire.read_history is not None else None
    if raw is None or wire.read_history is None:
        return ()
    read = _HISTORIES.read(wire.read_history, known, bytes(raw))
    return wire.read_history(raw) if read is None else wire.read_history.join(read)


def write_request_bytes(request: Request, target_format: WireFormat, notes: Notes, model: str | None = None) -> bytes:
    """The body to send, without the values that are in the URL path."""
    body = write_request(request, target_format, notes, model)
    for key in target_format.wire.path_keys:
        body.pop(key, None)
    return encode_in_parts(body)


def _not_an_object(data: bytes, error: BaseException) -> CallerError:
    try:
        value = decode(data)
    except JSON_ERRORS:
        return CallerError(f"the body is not JSON: {error}")
    return wrong_type("", "an object", value)
