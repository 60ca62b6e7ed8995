"""Thinking blocks, and the state that a model wants back.

A thinking block's signature is an opaque string that clients return unread. It holds our own signature or, in a reply,
another wire's state under seal. Calls and texts have no such place; where another vendor signed one (Gemini does), its
state travels in a redacted_thinking block beside it, and is put back when the history is read. Who reads such a reply
as a client keeps that block with its neighbour (`extra["anthropic"]["redacted_thinking"]`), and sends it back there.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from toolglot.core.envelope import seal, unseal
from toolglot.core.fold import join_extra
from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra, Part, Reasoning, Text, ToolCall
from toolglot.reading.shape import a_string
from toolglot.wires.anthropic.shapes import WIRE, Body

_REDACTED = "redacted_thinking"

# What vendors sign calls and texts with, and refuse a history without.
_SIGNATURES = ("thoughtSignature", "extra_content")
_BESIDE = "toolglot"  # under this name a sealed state says which neighbour it belongs to


# -- reading a history


def read_thinking(held: Body) -> Reasoning | None:
    text = a_string(held.get("thinking") or "", "thinking")
    signature = a_string(held.get("signature") or "", "signature")
    foreign = unseal(signature)
    if foreign is not None:
        return Reasoning(text, foreign)
    own = {key: value for key, value in held.items() if key not in ("type", "thinking") and value not in (None, "")}
    return Reasoning(text, {WIRE: own} if own else {}) if text or own else None


def read_redacted(held: Body) -> Reasoning:
    data = a_string(held.get("data"), "data")
    foreign = unseal(data)
    return Reasoning("", {WIRE: {_REDACTED: data}} if foreign is None else foreign)


def reattach(parts: list[Part]) -> list[Part]:
    """State that travelled beside a call or a text, put back on it."""
    if not any(type(part) is Reasoning and _BESIDE in part.extra for part in parts):
        return parts
    signed: dict[int, Extra] = {}
    kept: list[Part] = []
    for part in parts:
        if isinstance(part, Reasoning) and _BESIDE in part.extra:
            state = {wire: own for wire, own in part.extra.items() if wire != _BESIDE}
            place = part.extra[_BESIDE].get("of")
            if place == "alone":
                kept.append(Text("", extra=state))
                continue
            at = len(kept) - (place == "last")
            signed[at] = join_extra(signed.get(at, {}), state)
        else:
            kept.append(part)
    return [_signed(part, signed[at]) if at in signed else part for at, part in enumerate(kept)]


def _signed(part: Part, state: Extra) -> Part:
    if isinstance(part, (Text, ToolCall)):
        return msgspec.structs.replace(part, extra=join_extra(part.extra, state))
    return part


# -- writing a history: only what Anthropic itself signed


def write_kept(part: Reasoning, notes: list[str], quirks: Quirks) -> Body | None:
    foreign = sorted(wire for wire in part.extra if wire != WIRE)
    if foreign:
        notes.append(f"reasoning: its signature is for {', '.join(foreign)} alone; left out")
    own = part.extra.get(WIRE, {})
    if _REDACTED in own:
        return {"type": _REDACTED, "data": own[_REDACTED]}
    if own.get("signature"):
        return {"type": "thinking", "thinking": part.text, **own}
    if quirks.reasoning_key and part.text:  # a server that copies the API and signs nothing
        return {"type": "thinking", "thinking": part.text, "signature": ""}
    if not foreign:
        notes.append("reasoning in the history: anthropic takes none that it did not sign; left out")
    return None


# -- writing a reply: all of it is shown


def write_shown(part: Reasoning) -> Body | None:
    """A whole block, or None where there is nothing to show or keep."""
    data = redacted(part.extra)
    if data is not None and not part.text:
        return {"type": _REDACTED, "data": data}
    signature = write_signature(part.extra)
    return {"type": "thinking", "thinking": part.text, "signature": signature} if part.text or signature else None


def redacted(extra: Extra) -> str | None:
    data = extra.get(WIRE, {}).get(_REDACTED)
    return data if isinstance(data, str) else None


def write_signature(extra: Extra) -> str:
    own = extra.get(WIRE, {}).get("signature") if extra else None
    if isinstance(own, str) and own:
        return own
    return seal(extra, but=WIRE) or ""


def take_kept(extra: Extra) -> tuple[list[Body], Extra]:
    """The block that stood beside a call or a text when it came, and what else is known of it."""
    data = redacted(extra)
    if data is None:
        return [], extra
    own = {key: value for key, value in extra[WIRE].items() if key != _REDACTED}
    return [{"type": _REDACTED, "data": data}], {**extra, WIRE: own}


def take_signed(extra: Extra) -> tuple[Extra, Extra]:
    """What another vendor signed a call or a text with, and what else is known of it."""
    signed = {wire: own for wire, own in extra.items() if wire != WIRE and any(key in own for key in _SIGNATURES)}
    return signed, {wire: own for wire, own in extra.items() if wire not in signed}


def take_beside(extra: Extra, of: Literal["next", "alone"] = "next") -> tuple[list[Body], Extra]:
    """The blocks that go before a call or a text in a reply, and what else is known of it."""
    if not extra:
        return [], extra
    blocks, rest = take_kept(extra)
    signed, rest = take_signed(rest)
    return [*blocks, write_beside(signed, of)] if signed else blocks, rest


def belongs_to_next(data: str) -> bool:
    """Whether a redacted_thinking block holds the state of the block behind it."""
    return (unseal(data) or {}).get(_BESIDE, {}).get("of") == "next"


def write_beside(signed: Extra, of: Literal["next", "last", "alone"]) -> Body:
    """The block that carries a neighbour's state; or a text's that is empty, and so can't be its neighbour."""
    return {"type": _REDACTED, "data": seal({**signed, _BESIDE: {"of": of}}, but=WIRE)}
