"""Acme's API: OpenAI's Chat under another path. A wire that differs more has functions of its own."""

import msgspec

from toolglot.plugin import Wire, find_wire

CHAT = find_wire("openai-chat")
assert isinstance(CHAT, Wire)
WIRE = msgspec.structs.replace(CHAT, name="acme-chat", path=lambda model, stream: "/v1/acme/chat")
