"""Read and write request bodies as bytes.

An agent sends the same tools with every turn, often most of the body. They are cached by their bytes, so each turn only
parses the rest of the body.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from toolglot.core.interfaces import Notes
from toolglot.core.messages import Message
from toolglot.core.request import Request
from toolglot.core.tools import Tool, Toolset
from toolglot.errors import CallerError
from toolglot.io.json_codec import JSON_ERRORS, decode, encode
from toolglot.io.request_validation import wrong_type
from toolglot.pipeline.convert import write_request
from toolglot.pipeline.request.declared_tools import with_declared_tools
from toolglot.pipeline.request.route import WireFormat
from toolglot.pipeline.request.toolset_cache import MARK, ToolsetCache

Inspect = Callable[[bytes], None]

_TOP = msgspec.json.Decoder(dict[str, msgspec.Raw])
_TOOLS = ToolsetCache()


def read_request_bytes(data: bytes, source_format: WireFormat, inspect: Inspect | None = None, **overrides: Any) -> Request:
    """Read a request body. `overrides` are values from the URL path. A body that is not a JSON object is a CallerError.

    `inspect` gets the new part of the body before it is parsed, and may raise. Cached tools were checked before.
    """
    wire = source_format.wire
    try:
        top, tools = _top_level(data, wire.name, inspect)
        history = _take_history(top, source_format)
        body: dict[str, Any] = {key: decode(value) for key, value in top.items()}
    except JSON_ERRORS as error:
        raise _not_an_object(data, error) from None
    request = wire.read_request({**body, **overrides} if overrides else body)
    if tools is None and not history:
        return with_declared_tools(request)
    if tools is not None and not isinstance(tools, Toolset):
        try:
            tools = _TOOLS.read(wire.name, bytes(tools))
        except JSON_ERRORS as error:  # the parser skipped them, so invalid UTF-8 or numbers show only here
            raise CallerError(f"is not JSON: {error}", "tools") from None
    messages = request.messages + history
    return with_declared_tools(msgspec.structs.replace(request, tools=_join(tools, request.tools), messages=messages))


def _top_level(data: bytes, wire: str, inspect: Inspect | None) -> tuple[dict[str, msgspec.Raw], msgspec.Raw | Toolset | None]:
    """The body without its tools; and the tools, cached or as raw JSON."""
    cut = _TOOLS.cut_out(wire, data)
    if cut is not None:
        rest, tools = cut
        if inspect is not None:
            inspect(rest)
        try:
            top = _TOP.decode(rest)
            if bytes(top.pop("tools", b"")) == MARK:  # else the key was nested, and not the request's
                return top, tools
        except JSON_ERRORS:
            pass  # the error must describe the original body
    if inspect is not None:
        inspect(data)
    top = _TOP.decode(data)
    return top, top.pop("tools", None)


def _take_history(top: dict[str, msgspec.Raw], source_format: WireFormat) -> tuple[Message, ...]:
    """The messages, if the wire parses them from bytes."""
    read = source_format.wire.read_history
    raw_messages = top.pop("messages", None) if read is not None else None
    return () if read is None or raw_messages is None else read(raw_messages)


def _join(tools: Toolset | None, others: tuple[Tool, ...]) -> tuple[Tool, ...]:
    if tools is None:
        return others
    return Toolset(tools + others) if others else tools


def write_request_bytes(request: Request, target_format: WireFormat, notes: Notes, model: str | None = None) -> bytes:
    """The body to send, without the values that are in the URL path."""
    body = write_request(request, target_format, notes, model)
    for key in target_format.wire.path_keys:
        body.pop(key, None)
    return encode(body)


def _not_an_object(data: bytes, error: BaseException) -> CallerError:
    try:
        value = decode(data)
    except JSON_ERRORS:
        return CallerError(f"the body is not JSON: {error}")
    return wrong_type("", "an object", value)
