"""Requests from bytes to bytes: what a server does with each.

An agent sends the same tools again with every turn, often most of the body. They are read once, written once for each
target, and known again by their bytes: the rest of the body is all that a turn costs.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from toolglot.core.interfaces import Notes
from toolglot.core.messages import Message
from toolglot.core.request import Request
from toolglot.core.tools import Tool, Toolset
from toolglot.errors import CallerError
from toolglot.pipeline.convert import write_request
from toolglot.pipeline.route import Speech, speech
from toolglot.reading.shape import misfit
from toolglot.text.json_text import BadJson, decode, encode

_KNOWN_TOOLSETS = 64
_LARGEST_KEPT = 512 * 1024  # bytes; what is larger is read anew each time

_TOP = msgspec.json.Decoder(dict[str, msgspec.Raw])


def read_request_bytes(data: bytes, here: Speech, **told: Any) -> Request:
    """A request's body; `told` is what the path says instead of it. What is no JSON object is the caller's error."""
    try:
        top = _TOP.decode(data)
        tools, history = top.pop("tools", None), _take_history(top, here)
        body: dict[str, Any] = {key: decode(value) for key, value in top.items()}
    except BadJson as error:
        raise _not_an_object(data, error) from None
    request = here.wire.read_request({**body, **told} if told else body)
    if tools is None and not history:
        return request
    return msgspec.structs.replace(
        request, tools=_join(_tools_of(tools, here), request.tools), messages=request.messages + history
    )


def _take_history(top: dict[str, msgspec.Raw], here: Speech) -> tuple[Message, ...]:
    """The messages, of a wire that reads them from bytes: nothing is looked for in them that is not there."""
    read = here.wire.read_history
    said = top.pop("messages", None) if read is not None else None
    return () if read is None or said is None else read(said)


def _tools_of(given: msgspec.Raw | None, here: Speech) -> Toolset | None:
    if given is None:
        return None
    raw = bytes(given)
    read = _known_tools if len(raw) <= _LARGEST_KEPT else _read_tools
    return read(here.wire.name, raw)


def _join(tools: Toolset | None, others: tuple[Tool, ...]) -> tuple[Tool, ...]:
    if tools is None:
        return others
    return Toolset(tools + others) if others else tools


def write_request_bytes(request: Request, there: Speech, notes: Notes, model: str | None = None) -> bytes:
    """The body as it is sent: without what the path tells."""
    body = write_request(request, there, notes, model)
    for key in there.wire.path_keys:
        body.pop(key, None)
    return encode(body)


def _read_tools(wire: str, raw: bytes) -> Toolset:
    return Toolset(speech(wire).wire.read_tools(decode(raw)))


_known_tools = lru_cache(_KNOWN_TOOLSETS)(_read_tools)


def _not_an_object(data: bytes, error: BaseException) -> CallerError:
    try:
        value = decode(data)
    except BadJson:
        return CallerError(f"the body is not JSON: {error}")
    return misfit("", "an object", value)
