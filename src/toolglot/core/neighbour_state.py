"""Another vendor's state on a text or a call (Gemini signs those), for wires on which only reasoning has a field for it.

It travels sealed in an empty reasoning block next to its owner: before it, or after it if it came late in a stream. It is
restored when the history is read. A client that reads such a reply keeps it with its neighbour and sends it back there.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from toolglot.core.envelope import seal, unseal
from toolglot.core.fold import merge_extra
from toolglot.core.messages import Extra, Part, Reasoning, Text, ToolCall

NEIGHBOUR_STATE = "beside"  # in a wire's `extra`: the sealed state that came before a text or a call
_OF = "toolglot"  # under this name, sealed state contains which neighbour it belongs to
_SIGNATURES = ("thoughtSignature", "extra_content")  # vendors reject a history without them


def _signed(extra: Extra, wire: str) -> Extra:
    return {name: fields for name, fields in extra.items() if name != wire and any(key in fields for key in _SIGNATURES)}


def unsigned(extra: Extra, wire: str) -> Extra:
    """`extra` without other wires' signatures, which are written separately."""
    signed = _signed(extra, wire)
    return {name: fields for name, fields in extra.items() if name not in signed} if signed else extra


def kept_neighbour_state(extra: Extra, wire: str) -> str | None:
    """The sealed state that came before a text or a call on this wire."""
    kept = extra.get(wire, {}).get(NEIGHBOUR_STATE) if extra else None
    return kept if isinstance(kept, str) else None


def sealed_neighbour_state(extra: Extra, wire: str, of: Literal["next", "last"] = "next") -> str | None:
    """The sealed state to write next to a text or a call with this `extra`."""
    if not extra:
        return None
    kept = kept_neighbour_state(extra, wire)
    if kept is not None:
        return kept
    signed = _signed(extra, wire)
    return seal({**signed, _OF: {"of": of}}, but=wire) if signed else None


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
