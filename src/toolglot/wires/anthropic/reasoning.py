"""Thinking blocks, and the state that a model expects back.

A thinking block's signature is an opaque string that clients return unread. It contains Anthropic's signature or, in a reply,
another wire's sealed state. Calls and texts have no such field. If another vendor signed one (Gemini does), its
state travels in a redacted_thinking block next to it and is restored when the history is read. A client that reads such
a reply keeps the block with its neighbour (`extra["anthropic"]["redacted_thinking"]`), and sends it back there.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from toolglot.core.envelope import seal, unseal
from toolglot.core.fold import merge_extra
from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra, Part, Reasoning, Text, ToolCall
from toolglot.io.request_validation import Body, require_string
from toolglot.wires.anthropic.shapes import WIRE

_REDACTED = "redacted_thinking"

# Keys of signatures on calls and texts. Vendors reject a history without them.
_SIGNATURES = ("thoughtSignature", "extra_content")
_NEIGHBOUR = "toolglot"  # under this name, sealed state contains which neighbour it belongs to


# -- reading a history


def read_thinking(obj: Body) -> Reasoning | None:
    text = require_string(obj.get("thinking") or "", "thinking")
    signature = require_string(obj.get("signature") or "", "signature")
    foreign = unseal(signature)
    if foreign is not None:
        return Reasoning(text, foreign)
    fields = {key: value for key, value in obj.items() if key not in ("type", "thinking") and value not in (None, "")}
    return Reasoning(text, {WIRE: fields} if fields else {}) if text or fields else None


def read_redacted(obj: Body) -> Reasoning:
    data = require_string(obj.get("data"), "data")
    foreign = unseal(data)
    return Reasoning("", {WIRE: {_REDACTED: data}} if foreign is None else foreign)


def reattach(parts: list[Part]) -> list[Part]:
    """Restores state that travelled next to a call or a text."""
    if not any(type(part) is Reasoning and _NEIGHBOUR in part.extra for part in parts):
        return parts
    signed: dict[int, Extra] = {}
    kept: list[Part] = []
    for part in parts:
        if isinstance(part, Reasoning) and _NEIGHBOUR in part.extra:
            state = {wire: fields for wire, fields in part.extra.items() if wire != _NEIGHBOUR}
            place = part.extra[_NEIGHBOUR].get("of")
            if place == "alone":
                kept.append(Text("", extra=state))
                continue
            at = len(kept) - (place == "last")
            signed[at] = merge_extra(signed.get(at, {}), state)
        else:
            kept.append(part)
    return [_signed(part, signed[at]) if at in signed else part for at, part in enumerate(kept)]


def _signed(part: Part, state: Extra) -> Part:
    if isinstance(part, (Text, ToolCall)):
        return msgspec.structs.replace(part, extra=merge_extra(part.extra, state))
    return part


# -- writing a history: only what Anthropic itself signed


def write_kept(part: Reasoning, notes: list[str], quirks: Quirks) -> Body | None:
    foreign = sorted(wire for wire in part.extra if wire != WIRE)
    if foreign:
        notes.append(f"reasoning: its signature is for {', '.join(foreign)} only; left out")
    fields = part.extra.get(WIRE, {})
    if _REDACTED in fields:
        return {"type": _REDACTED, "data": fields[_REDACTED]}
    if fields.get("signature"):
        return {"type": "thinking", "thinking": part.text, **fields}
    if quirks.reasoning_key and part.text:  # a compatible server that signs nothing
        return {"type": "thinking", "thinking": part.text, "signature": ""}
    if not foreign:
        notes.append("reasoning in the history: anthropic accepts only what it signed; left out")
    return None


# -- writing a reply: all of it is shown


def write_shown(part: Reasoning) -> Body | None:
    """A whole block, or None if there is nothing to write."""
    data = redacted(part.extra)
    if data is not None and not part.text:
        return {"type": _REDACTED, "data": data}
    signature = write_signature(part.extra)
    return {"type": "thinking", "thinking": part.text, "signature": signature} if part.text or signature else None


def redacted(extra: Extra) -> str | None:
    data = extra.get(WIRE, {}).get(_REDACTED)
    return data if isinstance(data, str) else None


def write_signature(extra: Extra) -> str:
    signature = extra.get(WIRE, {}).get("signature") if extra else None
    if isinstance(signature, str) and signature:
        return signature
    return seal(extra, but=WIRE) or ""


def take_kept(extra: Extra) -> tuple[list[Body], Extra]:
    """The block that came next to a call or a text, and the rest of its extra."""
    data = redacted(extra)
    if data is None:
        return [], extra
    fields = {key: value for key, value in extra[WIRE].items() if key != _REDACTED}
    return [{"type": _REDACTED, "data": data}], {**extra, WIRE: fields}


def take_signed(extra: Extra) -> tuple[Extra, Extra]:
    """Another vendor's signature on a call or a text, and the rest of its extra."""
    signed = {wire: fields for wire, fields in extra.items() if wire != WIRE and any(key in fields for key in _SIGNATURES)}
    return signed, {wire: fields for wire, fields in extra.items() if wire not in signed}


def take_state_blocks(extra: Extra, of: Literal["next", "alone"] = "next") -> tuple[list[Body], Extra]:
    """The blocks before a call or a text in a reply, and the rest of its extra."""
    if not extra:
        return [], extra
    blocks, rest = take_kept(extra)
    signed, rest = take_signed(rest)
    return [*blocks, write_state_block(signed, of)] if signed else blocks, rest


def belongs_to_next(data: str) -> bool:
    """Whether a redacted_thinking block contains the state of the next block."""
    return (unseal(data) or {}).get(_NEIGHBOUR, {}).get("of") == "next"


def write_state_block(signed: Extra, of: Literal["next", "last", "alone"]) -> Body:
    """The block with a neighbour's state, or with that of an empty text, which is not written."""
    return {"type": _REDACTED, "data": seal({**signed, _NEIGHBOUR: {"of": of}}, but=WIRE)}
