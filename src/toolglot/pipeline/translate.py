"""Requests from bytes to bytes: what a server does with each.

An agent sends the same tools again with every turn, often most of the body. They are read once, written once for each
target, and known again by their bytes: the rest of the body is all that a turn costs.
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
from toolglot.pipeline.convert import write_request
from toolglot.pipeline.known_tools import MARK, KnownTools
from toolglot.pipeline.route import Speech
from toolglot.reading.shape import misfit
from toolglot.text.json_text import BadJson, decode, encode

Look = Callable[[bytes], None]

_TOP = msgspec.json.Decoder(dict[str, msgspec.Raw])
_TOOLS = KnownTools()


def read_request_bytes(data: bytes, here: Speech, look: Look | None = None, **told: Any) -> Request:
    """A request's body; `told` is what the path says instead of it. What is no JSON object is the caller's error.

    `look` is given what is new in the body before it is read, and may refuse it: known tools were looked at before.
    """
    wire = here.wire
    try:
        top, tools = _top(data, wire.name, look)
        history = _take_history(top, here)
        body: dict[str, Any] = {key: decode(value) for key, value in top.items()}
    except BadJson as error:
        raise _not_an_object(data, error) from None
    request = wire.read_request({**body, **told} if told else body)
    if tools is None and not history:
        return request
    if tools is not None and not isinstance(tools, Toolset):
        tools = _TOOLS.read(wire.name, bytes(tools))
    return msgspec.structs.replace(request, tools=_join(tools, request.tools), messages=request.messages + history)


def _top(data: bytes, wire: str, look: Look | None) -> tuple[dict[str, msgspec.Raw], msgspec.Raw | Toolset | None]:
    """What a body holds, but for its tools; these, where they are known already, or their text."""
    cut = _TOOLS.cut_out(wire, data)
    if cut is not None:
        rest, tools = cut
        if look is not None:
            look(rest)
        try:
            top = _TOP.decode(rest)
            if bytes(top.pop("tools", b"")) == MARK:  # else they stood deeper, and are not the request's
                return top, tools
        except BadJson:
            pass  # the error shall speak of the body as it came
    if look is not None:
        look(data)
    top = _TOP.decode(data)
    return top, top.pop("tools", None)


def _take_history(top: dict[str, msgspec.Raw], here: Speech) -> tuple[Message, ...]:
    """The messages, of a wire that reads them from bytes: nothing is looked for in them that is not there."""
    read = here.wire.read_history
    said = top.pop("messages", None) if read is not None else None
    return () if read is None or said is None else read(said)


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


def _not_an_object(data: bytes, error: BaseException) -> CallerError:
    try:
        value = decode(data)
    except BadJson:
        return CallerError(f"the body is not JSON: {error}")
    return misfit("", "an object", value)
