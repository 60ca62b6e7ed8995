"""Carrying one wire's reasoning state through another.

A client that speaks Anthropic gives back a thinking block's signature unread. So when the model behind is OpenAI's,
its encrypted reasoning travels in that signature: sealed here, opened when it comes back. The same goes for every
wire that has some place for an opaque string. What comes back is a stranger's word: it is checked like any input.
"""

from __future__ import annotations

from base64 import b64decode, b64encode

import msgspec

from toolglot.core.messages import Extra

# Of base64 so that it also fits where a wire insists on bytes (Gemini's thoughtSignature); decodes to "toolglot:".
_MARK = b64encode(b"toolglot:").decode()
_DECODER = msgspec.json.Decoder(Extra)
_STANDARD = str.maketrans("-_", "+/")  # Google's SDKs decode a signature and send it back in the URL-safe alphabet


def seal(extra: Extra, *, but: str) -> str | None:
    """The state of all wires but `but` as one opaque string; None if there is none."""
    foreign = {wire: own for wire, own in extra.items() if wire != but and own}
    return _MARK + b64encode(msgspec.json.encode(foreign)).decode() if foreign else None


def unseal(text: object) -> Extra | None:
    """What `seal` wrapped, or None where the string is not ours."""
    if not isinstance(text, str) or not text.startswith(_MARK):
        return None
    try:
        return _DECODER.decode(b64decode(text[len(_MARK) :].translate(_STANDARD), validate=True))
    except (ValueError, RecursionError, msgspec.MsgspecError):
        return None
