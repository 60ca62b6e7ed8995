"""The result of a run: the answer, the calls, the history, and why it ended."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from toolglot.core.messages import Message, ToolCall, ToolResult
from toolglot.core.reply import Decision, Usage
from toolglot.errors import UpstreamError
from toolglot.pipeline.request.route import wire_format

End = Literal["finished", "turns", "tokens", "time", "repeated", "refused", "stopped", "failed"]


class ToolRun(msgspec.Struct, frozen=True, omit_defaults=True, tag="tool_run"):
    """One call and its result. `error` is the error message, if the tool failed."""

    call: ToolCall
    result: ToolResult
    error: str | None = None
    cached: bool = False
    seconds: float = 0.0


class Run(msgspec.Struct, frozen=True, omit_defaults=True):
    """`end` is a keyword, `why` the same as a sentence. `calls` are the calls that were run."""

    id: str
    text: str
    end: End
    why: str = ""
    calls: tuple[ToolCall, ...] = ()
    history: tuple[Message, ...] = ()  # lossless; `messages` is the same in OpenAI Chat format
    usage: Usage | None = None
    decisions: tuple[Decision, ...] = ()
    notes: tuple[str, ...] = ()
    turns: int = 0
    error: UpstreamError | None = None

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The whole conversation in OpenAI Chat format. To continue it, append a message and run again."""
        openai = wire_format("openai-chat")
        return openai.wire.write_messages(self.history, [], openai.quirks)

    @property
    def ok(self) -> bool:
        return self.end == "finished"


def total_tokens(usage: Usage | None) -> int:
    return 0 if usage is None else (usage.input or 0) + (usage.output or 0)
