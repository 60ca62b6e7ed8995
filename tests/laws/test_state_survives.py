"""Reasoning state of one vendor survives a client of another wire that does not understand it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from tests.laws.conversations import meaning, the_wire
from toolglot.core.interfaces import Quirks, ResponseContext
from toolglot.core.messages import Extra, Message, Text
from toolglot.core.request import Request

SIGNED = {
    "signed_anthropic": "anthropic",
    "signed_responses": "openai-responses",
    "signed_gemini": "gemini",
    "signed_openrouter": "openai-chat",
    "signed_interactions": "gemini-interactions",
}

# How a client of each wire puts a reply into its next request.
ECHO: dict[str, Callable[[dict[str, Any]], list[Any]]] = {
    "openai-chat": lambda reply: [reply["choices"][0]["message"]],
    "openai-responses": lambda reply: reply["output"],
    "anthropic": lambda reply: [{"role": "assistant", "content": reply["content"]}],
    "gemini": lambda reply: [reply["candidates"][0]["content"]],
    "gemini-interactions": lambda reply: reply["steps"],
}


def states(parts: Any) -> list[Extra]:
    return [part.extra for part in parts if getattr(part, "extra", None)]


@pytest.mark.parametrize("client", ECHO)
@pytest.mark.parametrize("case", SIGNED)
def test_state_comes_back_through_a_client_of_another_wire(case: str, client: str) -> None:
    reply, owner = meaning(case).reply, SIGNED[case]
    wanted = [extra[owner] for extra in states(reply.parts)]
    assert wanted
    shown = the_wire(client).write_reply(reply, ResponseContext(), [])
    (message,) = the_wire(client).read_messages(ECHO[client](shown))
    found = [extra[owner] for extra in states(message.parts) if owner in extra]
    assert found == wanted


@pytest.mark.parametrize("client", ECHO)
@pytest.mark.parametrize("case", SIGNED)
def test_state_is_sent_back_to_the_wire_that_made_it(case: str, client: str) -> None:
    owner = SIGNED[case]
    shown = the_wire(client).write_reply(meaning(case).reply, ResponseContext(), [])
    history = (Message("user", (Text("hi"),)), *the_wire(client).read_messages(ECHO[client](shown)))
    request = Request("m", history)
    sent = msgspec.json.encode(the_wire(owner).write_request(request, [], Quirks()))
    direct = Request("m", (Message("user", (Text("hi"),)), Message("assistant", meaning(case).reply.parts)))
    wanted = msgspec.json.encode(the_wire(owner).write_request(direct, [], Quirks()))
    assert sent == wanted
