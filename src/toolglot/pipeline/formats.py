"""The three steps of tool use by hand, for those who talk to a provider themselves."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from toolglot.core.messages import Media, Message, Opaque, Text, ToolCall, ToolResult
from toolglot.core.reply import Decision
from toolglot.errors import ArgumentsError, CallerError
from toolglot.pipeline.convert import write_tools
from toolglot.pipeline.reply_forms import read_any_reply
from toolglot.pipeline.route import speech
from toolglot.pipeline.tool_forms import read_any_tools
from toolglot.text.json_text import dumps

log = logging.getLogger("toolglot")


class Calls(list[ToolCall]):
    """The calls of a response, and beside them why others are not among them."""

    def __init__(self, calls: Iterable[ToolCall], decisions: Iterable[Decision]) -> None:
        super().__init__(calls)
        self.decisions = list(decisions)


def format_tools(tools: Any, provider: str) -> list[Any]:
    """Tools in any form, as the provider's requests have them. No key is added that was not asked for."""
    there = speech(provider)
    return write_tools(read_any_tools(tools, there.wire.name), there, [])


def parse_tool_calls(response: Any, provider: str = "openai-chat") -> Calls:
    """The calls in a response, a message or a bare list of calls. One that is malformed is left out, with a decision."""
    reply = read_any_reply(response, provider)
    calls: list[ToolCall] = []
    decisions = list(reply.decisions)
    for part in reply.parts:
        if isinstance(part, ToolCall):
            refusal = _refusal(part)
            if refusal is None:
                calls.append(part)
            else:
                log.warning("%s refused: %s", part.name, refusal.code)
                decisions.append(refusal)
    return Calls(calls, decisions)


def _refusal(call: ToolCall) -> Decision | None:
    if not call.sealed:
        return Decision("rejected_truncated", f"{call.name}: the call was cut short", call)
    try:
        call.arguments  # noqa: B018  (read for its error)
    except ArgumentsError as error:
        return Decision("rejected_arguments", str(error), call)
    return None


def format_tool_result(call_id: str, name: str, result: Any, provider: str, is_error: bool = False) -> Any:
    """A tool's result as the provider's history has it. Text goes as it is, anything else as JSON."""
    there = speech(provider)
    message = Message("tool", (ToolResult(call_id, name, _parts(result), is_error),))
    written = there.wire.write_messages((message,), [], there.quirks)
    return written[0] if len(written) == 1 else written


def _parts(result: Any) -> tuple[Text | Media | Opaque, ...]:
    if isinstance(result, (Text, Media)):
        return (result,)
    if isinstance(result, (list, tuple)) and result and all(isinstance(part, (Text, Media)) for part in result):
        return tuple(result)
    if isinstance(result, str):
        return (Text(result),)
    try:
        return (Text(dumps(result)),)
    except (TypeError, ValueError) as error:
        raise CallerError(f"a result must be text or JSON: {error}", "result") from None
