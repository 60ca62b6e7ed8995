"""Carrying one wire's reasoning state through another.

An Anthropic client returns a thinking block's signature unread. So when the upstream model is OpenAI's,
its encrypted reasoning travels in that signature: sealed here, unsealed when it comes back. The same works on every
wire with a field for an opaque string. What comes back is untrusted input and is validated like any other.
"""

from __future__ import annotations

from base64 import b64decode, b64encode

import msgspec

from toolglot.core.messages import Extra

# Base64, because Gemini's thoughtSignature must be bytes; decodes to "toolglot:".
_MARK = b64encode(b"toolglot:").decode()
_DECODER = msgspec.json.Decoder(Extra)
_STANDARD = str.maketrans("-_", "+/")  # Google's SDKs decode a signature and send it back in the URL-safe alphabet


def seal(extra: Extra, *, but: str) -> str | None:
    """The state of all wires except `but` as one opaque string; None if there is none."""
    foreign = {wire: fields for wire, fields in extra.items() if wire != but and fields}
    return _MARK + b64encode(msgspec.json.encode(foreign)).decode() if foreign else None


def unseal(text: object) -> Extra | None:
    """The value that `seal` wrapped, or None if `seal` did not make the string."""
    if not isinstance(text, str) or not text.startswith(_MARK):
        return None
    try:
        return _DECODER.decode(b64decode(text[len(_MARK) :].translate(_STANDARD), validate=True))
    except (ValueError, RecursionError, msgspec.MsgspecError):
        return None
