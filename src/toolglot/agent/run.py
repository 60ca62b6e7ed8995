"""What came of a question: the answer, the way there, and why it ended."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from toolglot.core.messages import Message, ToolCall, ToolResult
from toolglot.core.reply import Decision, Usage
from toolglot.errors import UpstreamError
from toolglot.pipeline.route import speech

End = Literal["finished", "turns", "tokens", "time", "repeated", "refused", "stopped", "failed"]


class ToolRun(msgspec.Struct, frozen=True, omit_defaults=True, tag="tool_run"):
    """One call and what came of it. `error` says what went wrong, where something did."""

    call: ToolCall
    result: ToolResult
    error: str | None = None
    cached: bool = False
    seconds: float = 0.0


class Run(msgspec.Struct, frozen=True, omit_defaults=True):
    """`end` is a word, `why` the same as a sentence. `calls` are those that were handed to their tools."""

    id: str
    text: str
    end: End
    why: str = ""
    calls: tuple[ToolCall, ...] = ()
    history: tuple[Message, ...] = ()  # lossless; `messages` are the same for other programs
    usage: Usage | None = None
    decisions: tuple[Decision, ...] = ()
    notes: tuple[str, ...] = ()
    turns: int = 0
    error: UpstreamError | None = None

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The whole conversation as OpenAI Chat has it; it can be passed in again, with the next question behind it."""
        spoken = speech("openai-chat")
        return spoken.wire.write_messages(self.history, [], spoken.quirks)

    @property
    def ok(self) -> bool:
        return self.end == "finished"


def total_tokens(usage: Usage | None) -> int:
    return 0 if usage is None else (usage.input or 0) + (usage.output or 0)
