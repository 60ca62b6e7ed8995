"""The result of a run: the answer, the calls, the history, and why it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, cast

import msgspec

from toolglot.core.messages import Message, ToolCall, ToolResult
from toolglot.core.reply import Decision, Usage
from toolglot.errors import OutputError, UpstreamError
from toolglot.io.json_codec import preview
from toolglot.pipeline.request.route import wire_format
from toolglot.wires import DEFAULT

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    OutputT = TypeVar("OutputT", default=str)  # so that `Run` alone is a run whose output is text
else:
    from typing import TypeVar

    OutputT = TypeVar("OutputT")

End = Literal["finished", "invalid", "turns", "tokens", "time", "repeated", "refused", "stopped", "failed"]
_SHOWN = 60  # characters of a text in a repr


class ToolRun(msgspec.Struct, frozen=True, omit_defaults=True, tag="tool_run"):
    """One call and its result. `error` is the error message, if the tool failed."""

    call: ToolCall
    result: ToolResult
    error: str | None = None
    cached: bool = False
    seconds: float = 0.0

    def __repr__(self) -> str:
        outcome = f"error={self.error!r}" if self.error is not None else repr(preview(self.result.text, _SHOWN))
        return f"ToolRun({_shown(self.call)} -> {outcome})"


class Run(msgspec.Struct, Generic[OutputT], frozen=True, omit_defaults=True):
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
    value: Any = None  # the answer as the type of `Agent(output=...)`: read it as `output`

    @property
    def output(self) -> OutputT:
        """The answer as the type of `Agent(output=...)`; without one, the text. An OutputError if the run has no answer."""
        if not self.ok:
            raise OutputError(f"the run has no answer: {self.why}") from self.error
        return cast("OutputT", self.text if self.value is None else self.value)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The whole conversation in OpenAI Chat format. To continue it, append a message and run again."""
        openai = wire_format(DEFAULT)
        return openai.wire.write_messages(self.history, [], openai.quirks)

    @property
    def ok(self) -> bool:
        return self.end == "finished"

    def __repr__(self) -> str:
        calls = f", calls=[{', '.join(map(_shown, self.calls))}]" if self.calls else ""
        why = "" if self.ok else f", why={preview(self.why, _SHOWN)!r}"
        return f"Run({self.end}, {preview(self.text, _SHOWN)!r}{calls}, turns={self.turns}{why})"

    def _repr_html_(self) -> str:
        """The view of a notebook."""
        from toolglot.agent.run_html import run_html  # noqa: PLC0415  (only a notebook needs it)

        return run_html(self)


def _shown(call: ToolCall) -> str:
    return f"{call.full_name}({preview(call.arguments_json, _SHOWN)})"


def total_tokens(usage: Usage | None) -> int:
    return 0 if usage is None else (usage.input or 0) + (usage.output or 0)
