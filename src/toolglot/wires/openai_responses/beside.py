"""State of another vendor's that sits on a text or a call (Gemini signs those), for which no item has a place.

It travels sealed in an empty reasoning item beside its owner: before it, or behind it where a stream told it late. Who
reads such a history puts it back. Who reads such a reply as a client keeps it with its neighbour, and sends it back there.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from toolglot.core.envelope import seal, unseal
from toolglot.core.fold import join_extra
from toolglot.core.messages import Extra, Part, Reasoning, Text, ToolCall
from toolglot.wires.openai_responses.shapes import WIRE, Body

BESIDE = "beside"  # in `extra`: the sealed state that came before a text or a call
_OF = "toolglot"  # under this name a sealed state says which neighbour it belongs to
_SIGNATURES = ("thoughtSignature", "extra_content")  # what vendors refuse a history without


def _signed(extra: Extra) -> Extra:
    return {wire: own for wire, own in extra.items() if wire != WIRE and any(key in own for key in _SIGNATURES)}


def unsigned(extra: Extra) -> Extra:
    """What `extra` holds beside a signature, which goes its own way."""
    signed = _signed(extra)
    return {wire: own for wire, own in extra.items() if wire not in signed} if signed else extra


def sealed_beside(extra: Extra, of: Literal["next", "last"] = "next") -> str | None:
    """What is to stand beside a text or a call that has this `extra`."""
    if not extra:
        return None
    kept = extra.get(WIRE, {}).get(BESIDE)
    if isinstance(kept, str):
        return kept
    signed = _signed(extra)
    return seal({**signed, _OF: {"of": of}}, but=WIRE) if signed else None


def kept_beside(extra: Extra) -> list[Body]:
    """The item that stood before a text or a call when it came from this wire."""
    kept = extra.get(WIRE, {}).get(BESIDE)
    return [reasoning_beside(kept)] if isinstance(kept, str) else []


def reasoning_beside(sealed: str) -> Body:
    return {"type": "reasoning", "summary": [], "encrypted_content": sealed}


def belongs_to_next(sealed: object) -> bool:
    return (unseal(sealed) or {}).get(_OF, {}).get("of") == "next"


def reattach(parts: list[Part]) -> list[Part]:
    """The parts of one turn, with the state that travelled beside them put back."""
    if not any(type(part) is Reasoning and _OF in part.extra for part in parts):
        return parts
    kept: list[Part] = []
    ahead: Extra = {}
    for part in parts:
        if isinstance(part, Reasoning) and _OF in part.extra:
            state = {wire: own for wire, own in part.extra.items() if wire != _OF}
            if part.extra[_OF].get("of") == "next":
                ahead = join_extra(ahead, state)
            elif kept and isinstance(kept[-1], (Text, ToolCall)):
                kept[-1] = msgspec.structs.replace(kept[-1], extra=join_extra(kept[-1].extra, state))
            continue
        if ahead and isinstance(part, (Text, ToolCall)):
            part, ahead = msgspec.structs.replace(part, extra=join_extra(part.extra, ahead)), {}
        kept.append(part)
    return kept
