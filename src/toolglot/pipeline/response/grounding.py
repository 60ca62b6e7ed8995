"""Reject calls of small models that are not related to the conversation, once, with the reason.

A call is grounded if any of its required free values (not an enumeration) shares a word, a four-letter stem or a number with
the conversation. Only tokens are compared, so it works in any language. A call that already has a result is
rejected once as well. If the model repeats the call, it is accepted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from toolglot.core.messages import Message, Part, Text, ToolCall, ToolResult
from toolglot.core.tools import Tool, custom_as_function
from toolglot.grammars.known_names import parameters, required
from toolglot.io.json_codec import loads_object
from toolglot.pipeline.response.call_validator import call_key

UNGROUNDED, REPEATED = "rejected_ungrounded", "rejected_repeat"
ONCE = frozenset({UNGROUNDED, REPEATED})  # if the last message reports one of these, calls are accepted
_TOKEN = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
_STEM = 4  # letters
_MAX_TEXT = 200_000  # characters of the conversation that count, the latest first


class Grounding:
    """The tokens and calls of a conversation, computed for the first call."""

    def __init__(self, messages: tuple[Message, ...]) -> None:
        self._messages = messages

    def rejection(self, call: ToolCall, tool: Tool) -> tuple[str, str] | None:
        """The code and the reason if the call is rejected."""
        if call_key(call) in self._answered:
            return REPEATED, "this call was made before and already has a result"
        any_value = False
        for value in _free_values(call, tool):
            text, tokens = value.strip().casefold(), _tokens(value)
            if tokens and ((len(text) > 1 and text in self._text) or not tokens.isdisjoint(self._known)):
                return None
            any_value = any_value or bool(tokens)
        return (UNGROUNDED, "none of its values occurs in the conversation") if any_value else None

    @cached_property
    def _text(self) -> str:
        found: list[str] = []
        room = _MAX_TEXT
        for message in reversed(self._messages):
            for part in message.parts:
                text = part.text if isinstance(part, Text | ToolResult) and not getattr(part, "rejected", None) else ""
                found.append(text[:room].casefold())
                room -= len(found[-1])
        return "\n".join(found)

    @cached_property
    def _known(self) -> frozenset[str]:
        return _tokens(self._text)

    @cached_property
    def _answered(self) -> frozenset[tuple[str, str]]:
        """The calls that have a result since the user last wrote."""
        parts: list[Part] = []
        for message in reversed(self._messages):
            parts += message.parts
            if message.role == "user" and not message.rejected:
                break
        done = {part.call_id for part in parts if isinstance(part, ToolResult) and not part.is_error}
        made = [part for part in parts if isinstance(part, ToolCall) and part.id in done] if done else ()
        return frozenset(map(call_key, made))


def _tokens(text: str) -> frozenset[str]:
    """Words, numbers in one spelling, and the stems of longer words."""
    found: set[str] = set()
    for token in _TOKEN.findall(text.casefold()):
        found.add(f"{float(token):g}" if token[0].isdecimal() and len(token) < 16 else token)
        if len(token) >= _STEM and not token[0].isdecimal():
            found.add(f"{token[:_STEM]}-")
    return frozenset(found)


def _free_values(call: ToolCall, tool: Tool) -> Iterator[str]:
    tool = custom_as_function(tool)
    properties, arguments = parameters(tool), loads_object(call.arguments_json)
    if arguments is None:
        return
    for name in required(tool):
        about = properties.get(name)
        if isinstance(about, dict) and not about.keys() & {"enum", "const"}:
            yield from _leaves(arguments.get(name))


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)
