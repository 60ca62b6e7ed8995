"""Detect the format of a reply: which wire, and whether it is a response, a message, or a list of calls."""

from __future__ import annotations

from itertools import islice
from typing import Any

from toolglot.core.interfaces import Wire
from toolglot.core.reply import Decision, Reply
from toolglot.errors import CallerError
from toolglot.io.json_codec import without_surrogates
from toolglot.io.request_validation import json_type
from toolglot.pipeline.request.route import wire_format
from toolglot.wires import wires

Body = dict[str, Any]
_NOT_JSON = (ValueError, TypeError, RecursionError)


def read_any_reply(payload: Any, name: str) -> Reply:
    """`name`: the wire or provider as a hint. The format of the payload decides."""
    named = wire_format(name).wire
    if isinstance(payload, list):
        wire, body = _detect_calls(payload, named)
    elif isinstance(payload, dict):
        wire, body = _detect_object(payload, named)
    else:
        hint = "; pass the result of its model_dump()" if hasattr(payload, "model_dump") else ""  # an SDK object
        raise CallerError(f"expected a response, a message or a list of tool calls, got {json_type(payload)}{hint}", "response")
    return wire.read_reply(body, None)


def read_any_reply_or_reject(payload: Any, name: str) -> Reply:
    """As `read_any_reply`, for a payload that may contain what JSON does not have. Half a surrogate pair becomes U+FFFD."""
    try:
        return read_any_reply(payload, name)
    except _NOT_JSON:
        pass
    try:
        return read_any_reply(without_surrogates(payload), name)
    except _NOT_JSON:
        return Reply(decisions=(Decision("rejected_malformed", "the response contains values that JSON does not have"),))


def _detect_object(body: Body, named: Wire) -> tuple[Wire, Body]:
    for wire in wires(named):
        if wire.forms.is_response(body):
            return wire, body
    if "error" in body:
        return named, body
    for wire in wires(named):
        if wire.forms.around_message is not None and wire.forms.is_message(body, wire is named):
            return wire, wire.forms.around_message(body)
    if named.forms.around_message is not None and {"role", "content"} & body.keys():
        return named, named.forms.around_message(body)
    return _detect_calls([body], named)


def _detect_calls(calls: list[Any], named: Wire) -> tuple[Wire, Body]:
    """A list of calls (or parts, blocks, items, steps). The first recognized one decides for all."""
    found = (wire for call in calls if isinstance(call, dict) for wire in wires(named) if wire.forms.is_call(call))
    for wire in (*islice(found, 1), named, *wires()):
        if wire.forms.around_calls is not None:
            return wire, wire.forms.around_calls(calls)
    return named, {}
