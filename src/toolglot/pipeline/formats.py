"""Format tools, parse calls, format results: for callers that send requests themselves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolglot.core.messages import Media, Message, Opaque, Text, ToolCall, ToolResult
from toolglot.core.reply import Decision
from toolglot.errors import ArgumentsError, CallerError
from toolglot.io.json_codec import dumps
from toolglot.pipeline.convert import write_tools
from toolglot.pipeline.detect_reply_format import read_any_reply
from toolglot.pipeline.detect_tool_format import read_any_tools
from toolglot.pipeline.request.route import wire_format
from toolglot.wires import DEFAULT


class Calls(list[ToolCall]):
    """The calls of a response, with decisions about those left out."""

    def __init__(self, calls: Iterable[ToolCall], decisions: Iterable[Decision]) -> None:
        super().__init__(calls)
        self.decisions = list(decisions)


def format_tools(tools: Any, provider: str) -> list[Any]:
    """Tools in any format as the provider's requests have them. No key is added.

    Examples:
        >>> format_tools([{"name": "now", "description": "The time"}], "anthropic")
        [{'name': 'now', 'description': 'The time', 'input_schema': {'type': 'object', 'properties': {}}}]
    """
    target_format = wire_format(provider)
    return write_tools(read_any_tools(tools, target_format.wire.name), target_format, [])


def parse_tool_calls(response: Any, provider: str = DEFAULT) -> Calls:
    """The calls in a response, a message or a bare list of calls. A malformed call is left out, with a decision.

    Examples:
        >>> response = {"content": [{"type": "tool_use", "id": "a", "name": "add", "input": {"a": 1}}]}
        >>> [(call.name, call.arguments) for call in parse_tool_calls(response, "anthropic")]
        [('add', {'a': 1})]
    """
    reply = read_any_reply(response, provider)
    calls: list[ToolCall] = []
    decisions = list(reply.decisions)
    for part in reply.parts:
        if isinstance(part, ToolCall):
            rejection = _rejection(part)
            if rejection is None:
                calls.append(part)
            else:
                decisions.append(rejection)
    return Calls(calls, decisions)


def _rejection(call: ToolCall) -> Decision | None:
    if not call.sealed:
        return Decision("rejected_truncated", f"{call.name}: the call is truncated", call)
    try:
        call.arguments  # noqa: B018  (raises if invalid)
    except ArgumentsError as error:
        return Decision("rejected_arguments", str(error), call)
    return None


def format_tool_result(call_id: str, name: str, result: Any, provider: str, is_error: bool = False) -> Any:
    """A tool result as the provider's message. Text is kept, anything else becomes JSON.

    Examples:
        >>> format_tool_result("a", "add", 3, "openai")
        {'role': 'tool', 'tool_call_id': 'a', 'content': '3'}
    """
    target_format = wire_format(provider)
    message = Message("tool", (ToolResult(call_id, name, _parts(result), is_error),))
    written = target_format.wire.write_messages((message,), [], target_format.quirks)
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
