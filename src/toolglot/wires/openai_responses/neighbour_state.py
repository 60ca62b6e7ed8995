"""Another vendor's state on a text or a call (Gemini signs those), for which no item has a field.

It travels sealed in an empty reasoning item next to its owner: before it, or after it if it came late in a stream. It is
restored when the history is read. A client that reads such a reply keeps it with its neighbour and sends it back there.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from toolglot.core.envelope import seal, unseal
from toolglot.core.fold import merge_extra
from toolglot.core.messages import Extra, Part, Reasoning, Text, ToolCall
from toolglot.io.request_validation import Body
from toolglot.wires.openai_responses.shapes import WIRE

NEIGHBOUR_STATE = "beside"  # in `extra`: the sealed state that came before a text or a call
_OF = "toolglot"  # under this name, sealed state contains which neighbour it belongs to
_SIGNATURES = ("thoughtSignature", "extra_content")  # vendors reject a history without them


def _signed(extra: Extra) -> Extra:
    return {wire: fields for wire, fields in extra.items() if wire != WIRE and any(key in fields for key in _SIGNATURES)}


def unsigned(extra: Extra) -> Extra:
    """`extra` without signatures, which are written separately."""
    signed = _signed(extra)
    return {wire: fields for wire, fields in extra.items() if wire not in signed} if signed else extra


def sealed_neighbour_state(extra: Extra, of: Literal["next", "last"] = "next") -> str | None:
    """The sealed state to write next to a text or a call with this `extra`."""
    if not extra:
        return None
    kept = extra.get(WIRE, {}).get(NEIGHBOUR_STATE)
    if isinstance(kept, str):
        return kept
    signed = _signed(extra)
    return seal({**signed, _OF: {"of": of}}, but=WIRE) if signed else None


def kept_state_items(extra: Extra) -> list[Body]:
    """The item that came before a text or a call on this wire."""
    kept = extra.get(WIRE, {}).get(NEIGHBOUR_STATE)
    return [state_item(kept)] if isinstance(kept, str) else []


def state_item(sealed: str) -> Body:
    return {"type": "reasoning", "summary": [], "encrypted_content": sealed}


def belongs_to_next(sealed: object) -> bool:
    return (unseal(sealed) or {}).get(_OF, {}).get("of") == "next"


def reattach(parts: list[Part]) -> list[Part]:
    """The parts of one turn, with the state that travelled next to them restored."""
    if not any(type(part) is Reasoning and _OF in part.extra for part in parts):
        return parts
    kept: list[Part] = []
    ahead: Extra = {}
    for part in parts:
        if isinstance(part, Reasoning) and _OF in part.extra:
            state = {wire: fields for wire, fields in part.extra.items() if wire != _OF}
            if part.extra[_OF].get("of") == "next":
                ahead = merge_extra(ahead, state)
            elif kept and isinstance(kept[-1], (Text, ToolCall)):
                kept[-1] = msgspec.structs.replace(kept[-1], extra=merge_extra(kept[-1].extra, state))
            continue
        if ahead and isinstance(part, (Text, ToolCall)):
            part, ahead = msgspec.structs.replace(part, extra=merge_extra(part.extra, ahead)), {}
        kept.append(part)
    return kept
