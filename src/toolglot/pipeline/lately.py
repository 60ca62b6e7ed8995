"""What was said lately: the user's last question, and what tools gave since."""

from __future__ import annotations

import msgspec

from toolglot.core.messages import Message, Text, ToolCall, ToolResult
from toolglot.text.json_text import dumps, loads_object


class Lately(msgspec.Struct, frozen=True):
    asked: str
    results: tuple[ToolResult, ...]
    called: frozenset[str]  # the names of what was called since

    @property
    def given(self) -> list[str]:
        """The results as text; JSON as lines of words."""
        return [flat(part.text) for result in self.results for part in result.parts if isinstance(part, Text)]


def lately(messages: tuple[Message, ...]) -> Lately:
    at = max((at for at, message in enumerate(messages) if message.role == "user"), default=len(messages))
    asked = " ".join(part.text for message in messages[at : at + 1] for part in message.parts if isinstance(part, Text))
    since = [part for message in messages[at + 1 :] for part in message.parts]
    results = tuple(part for part in since if isinstance(part, ToolResult))
    return Lately(asked, results, frozenset(part.full_name for part in since if isinstance(part, ToolCall)))


def flat(result: str) -> str:
    """A result in JSON as lines of words: `city Ghent`."""
    held = loads_object(result)
    if held is None:
        return result
    return "\n".join(f"{key} {value if isinstance(value, str) else dumps(value)}" for key, value in held.items())
