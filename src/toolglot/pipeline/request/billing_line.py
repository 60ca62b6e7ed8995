"""Claude Code's billing line: the first text of the system prompt, with a hash that differs in each request.

Its own vendor takes it out. For any other server it would change the start of every prompt, and with it lose the prefix cache.
"""

from __future__ import annotations

import msgspec

from toolglot.core.messages import Message, Text

_HEADER = "x-anthropic-billing-header:"


def without_billing_line(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages unchanged if there is none."""
    first = messages[0] if messages and messages[0].role == "system" and messages[0].parts else None
    part = first.parts[0] if first is not None else None
    if first is None or not isinstance(part, Text) or not part.text.startswith(_HEADER):
        return messages
    rest = part.text.partition("\n")[2].lstrip("\n")
    parts = (*((msgspec.structs.replace(part, text=rest),) if rest else ()), *first.parts[1:])
    return (*((msgspec.structs.replace(first, parts=parts),) if parts else ()), *messages[1:])
