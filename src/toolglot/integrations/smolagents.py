"""smolagents: `ToolCallingAgent(model=ToolglotModel(model), tools=[...])`, for any model of smolagents.

Calls that the model writes as text become tool calls, and each satisfies its tool's schema. If the model has no native tools,
they go into its prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Unpack

from smolagents import models as own

from toolglot.core.interfaces import Body
from toolglot.core.messages import Part, Text, ToolCall
from toolglot.integrations.model_turn import ModelTurn
from toolglot.integrations.response_filter import Options, TurnOptions
from toolglot.io.json_codec import dumps


class ToolglotModel(own.Model):
    """Wraps a model. `ask` is the tool mode; `options` are policy, weak_forms and on_decision."""

    def __init__(self, wrapped: Any, *, ask: str = "auto", **options: Unpack[TurnOptions]) -> None:
        super().__init__(flatten_messages_as_text=wrapped.flatten_messages_as_text, model_id=wrapped.model_id)
        self.wrapped, self.options = wrapped, Options(ask, **options)

    def generate(self, messages: list[Any], *args: Any, tools_to_call_from: Any = None, **kwargs: Any) -> Any:
        turn, sent, tools = self._turn(messages, tools_to_call_from)
        message = self.wrapped.generate(sent, *args, tools_to_call_from=tools, **kwargs)
        found = turn.whole([Text(_text(message.content)), *map(_read, message.tool_calls or ())])
        return own.ChatMessage(
            message.role,
            "".join(part.text for part in found if isinstance(part, Text)),
            [_call(part) for part in found if isinstance(part, ToolCall)] or None,
            message.raw,
            message.token_usage,
        )

    @property
    def generate_stream(self) -> Callable[..., Iterator[Any]]:
        """smolagents streams if the model has this."""
        if not hasattr(self.wrapped, "generate_stream"):
            raise AttributeError("generate_stream")
        return self._generate_stream

    def _generate_stream(self, messages: list[Any], *args: Any, tools_to_call_from: Any = None, **kwargs: Any) -> Iterator[Any]:
        turn, sent, tools = self._turn(messages, tools_to_call_from)
        count, native = 0, []
        for delta in self.wrapped.generate_stream(sent, *args, tools_to_call_from=tools, **kwargs):
            native.append(own.ChatMessageStreamDelta(tool_calls=delta.tool_calls))
            made = _delta(turn.feed(Text(delta.content or "")), count, delta.token_usage)
            count += len(made.tool_calls or ())
            yield made
        calls = own.agglomerate_stream_deltas(native).tool_calls
        yield _delta([*turn.feed(*map(_read, calls)), *turn.close()], count)

    def _turn(self, messages: list[Any], tools: Any) -> tuple[ModelTurn, list[Any], Any]:
        """The turn, the messages to send, and the tools to send."""
        chat = [{"role": str(one["role"].value), "content": _text(one["content"])} for one in _clean(messages)]
        known = [own.get_tool_json_schema(tool) for tool in tools or ()]
        turn = ModelTurn(chat, known, self.options, model=self.model_id, tool_choice="required" if known else None)
        if turn.sent is None:
            return turn, messages, tools
        return turn, [_message(one) for one in turn.sent], None


def _clean(messages: list[Any]) -> list[Body]:
    """smolagents writes earlier calls and results as text itself."""
    found: list[Body] = own.get_clean_message_list(messages, role_conversions=own.tool_role_conversions)
    return found


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(one["text"] for one in content if one.get("type") == "text")
    return content or ""


def _message(chat: Body) -> Any:
    return own.ChatMessage(own.MessageRole(chat["role"]), [{"type": "text", "text": chat["content"] or ""}])


def _read(call: Any) -> ToolCall:
    given = call.function.arguments
    return ToolCall(call.id, call.function.name, given if isinstance(given, str) else dumps(given))


def _call(part: ToolCall) -> Any:
    return own.ChatMessageToolCall(_function(part), part.id, "function")


def _function(call: ToolCall) -> Any:
    return own.ChatMessageToolCallFunction(call.arguments_json, call.name)


def _delta(parts: list[Part], first: int, usage: Any = None) -> Any:
    """`first`: the number of the first call."""
    calls = [
        own.ChatMessageToolCallStreamDelta(number, call.id, "function", _function(call))
        for number, call in enumerate([part for part in parts if isinstance(part, ToolCall)], first)
    ]
    return own.ChatMessageStreamDelta("".join(part.text for part in parts if isinstance(part, Text)), calls or None, usage)
