"""What has come of a conversation so far: what was asked, which calls were made, and what came of each."""

from __future__ import annotations

from functools import cached_property

from toolglot.core.messages import Message, Text, ToolCall, ToolResult
from toolglot.pipeline.guard_calls import NO_SUCH_TOOL, canonical
from toolglot.pipeline.lately import Lately, lately
from toolglot.pipeline.refusals import is_ours
from toolglot.pipeline.relevance import as_words, words_of


class SoFar:
    """Each is looked for when it is first asked for, and then once."""

    def __init__(self, messages: tuple[Message, ...]) -> None:
        self._messages = messages

    @cached_property
    def asked(self) -> tuple[Message, ...]:
        """What the user said, without what we told the model in his place."""
        return tuple(message for message in self._messages if message.role == "user" and not is_ours(message))

    @property
    def questions(self) -> list[str]:
        return [part.text for message in self.asked for part in message.parts if isinstance(part, Text)]

    @cached_property
    def lately(self) -> Lately:
        return lately(tuple(message for message in self._messages if not is_ours(message)))

    @cached_property
    def told(self) -> str:
        """What the model was told of replies without a call."""
        ours = filter(is_ours, self._messages)
        return "\n".join(part.text for message in ours for part in message.parts if isinstance(part, Text))

    @cached_property
    def calls(self) -> list[ToolCall]:
        return [part for message in self._messages for part in message.parts if isinstance(part, ToolCall)]

    @cached_property
    def results(self) -> list[ToolResult]:
        return [part for message in self._messages for part in message.parts if isinstance(part, ToolResult)]

    @cached_property
    def has_results(self) -> bool:
        return any(not part.is_error for part in self.results)

    @cached_property
    def just_made(self) -> frozenset[tuple[str, str]]:
        """Calls whose results came last, and are no errors."""
        if len(self._messages) < 2 or self._messages[-1].role != "tool":
            return frozenset()
        good = {part.call_id for part in self._messages[-1].parts if isinstance(part, ToolResult) and not part.is_error}
        made = self._messages[-2].parts
        return frozenset(canonical(part) for part in made if isinstance(part, ToolCall) and part.id in good)

    @cached_property
    def wanted_another(self) -> frozenset[str]:
        """The words of a tool that there is not, and that the model called for: what has none of them does not stand for it."""
        missed = {part.call_id for part in self.results if part.is_error and NO_SUCH_TOOL in part.text}
        names = [as_words(part.name) for part in self.calls if part.id in missed]
        return frozenset(word for name in names for word in [name, *words_of(name)])

    def refused(self, call: ToolCall) -> list[str]:
        """Why this very call was refused before: made again all the same, it is meant."""
        return self._refused.get(canonical(call), [])

    @cached_property
    def _refused(self) -> dict[tuple[str, str], list[str]]:
        failed = {part.call_id: part.text for part in self.results if part.is_error}
        told: dict[tuple[str, str], list[str]] = {}
        for part in self.calls:
            if part.id in failed:
                told.setdefault(canonical(part), []).append(failed[part.id])
        return told
