"""What a request, a response or a stream of a chat API states, in words that all of them share. One file for each API.

A request: `tools`, `choice`, `system`, `texts`, `calls`, `results`, `errors`, `images`, `output` and options. A response:
`text`, `calls`, `stop`, `tokens`. A fact that an API has no place for is None. Ids are compared by what they connect: each
result has the place of its call.
"""

from __future__ import annotations

from typing import Any

from conformance.facts import anthropic, gemini, gemini_interactions, ollama, openai_chat, openai_responses

Body = dict[str, Any]
Facts = dict[str, Any]

_APIS: dict[str, Any] = {
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "gemini-interactions": gemini_interactions,
    "ollama": ollama,
}
WIRES = tuple(_APIS)
HISTORY = {wire: api.HISTORY for wire, api in _APIS.items()}  # the key of the conversation in a request


def facts(wire: str, kind: str, body: Any) -> Facts:
    """`kind`: request, response or stream (its text)."""
    api = _APIS[wire]
    return dict(api.request(body) if kind == "request" else api.response(api.fold(body) if kind == "stream" else body))


def expected(source: Facts, target: Facts) -> Facts:
    """What a translation from one API to the other must state: all that both APIs state alike of the same conversation."""
    return {key: value for key, value in target.items() if value is not None and source.get(key) == value}
