"""LangChain: `create_agent(model, tools, middleware=[ToolglotMiddleware()])`, and an output parser for chains.

Calls that the model writes as text become tool calls, and each satisfies its tool's schema. If the model has no native tools,
the middleware puts them into its prompt.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, Unpack

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, SystemMessage, convert_to_messages, convert_to_openai_messages
from langchain_core.output_parsers import BaseGenerationOutputParser
from langchain_core.utils.function_calling import convert_to_openai_tool

from toolglot.core.messages import Part, Text, ToolCall
from toolglot.integrations.model_turn import ModelTurn
from toolglot.integrations.response_filter import Options, TurnOptions
from toolglot.io.json_codec import dumps

_CALL_BLOCKS = ("text", "tool_use", "tool_call", "function_call")


class ToolglotMiddleware(AgentMiddleware):
    """For an agent's model. `ask` is the tool mode; `options` are policy, weak_forms and on_decision."""

    def __init__(self, *, ask: str = "auto", **options: Unpack[TurnOptions]) -> None:
        super().__init__()
        self.options = Options(ask, **options)

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        turn, sent = self._turn(request)
        return _response(handler(sent), turn)

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        turn, sent = self._turn(request)
        return _response(await handler(sent), turn)

    def _turn(self, request: Any) -> tuple[ModelTurn, Any]:
        system = [] if request.system_message is None else [request.system_message]
        chat = convert_to_openai_messages([*system, *request.messages])
        tools = [convert_to_openai_tool(tool) for tool in request.tools]
        model = str(getattr(request.model, "model_name", None) or getattr(request.model, "model", None) or "")
        turn = ModelTurn([*chat], tools, self.options, model=model, tool_choice=request.tool_choice)
        if turn.sent is None:
            return turn, request
        first, *rest = convert_to_messages(turn.sent)
        is_system = isinstance(first, SystemMessage)
        messages = rest if is_system else [first, *rest]
        return turn, request.override(
            system_message=first if is_system else None, messages=messages, tools=[], tool_choice=None
        )


class ToolglotOutputParser(BaseGenerationOutputParser[AIMessage]):
    """`model | ToolglotOutputParser(tools=[...])` gives the message with its calls. `tools` are LangChain's, or functions."""

    tools: Sequence[Any] = ()
    options: Any = Options()

    def parse_result(self, result: list[Any], *, partial: bool = False) -> AIMessage:
        message = getattr(result[0], "message", None)
        turn = ModelTurn([], [convert_to_openai_tool(tool) for tool in self.tools], self.options)
        return _message(AIMessage(result[0].text) if message is None else message, turn)


def _response(response: Any, turn: ModelTurn) -> Any:
    if isinstance(response, AIMessage):
        return _message(response, turn)
    return replace(response, result=[_message(one, turn) if isinstance(one, AIMessage) else one for one in response.result])


def _message(message: AIMessage, turn: ModelTurn) -> AIMessage:
    given: list[Part] = [Text(message.text)] if message.text else []
    given += [ToolCall(call["id"] or "", call["name"], dumps(call["args"])) for call in message.tool_calls]
    given += [ToolCall(call["id"] or "", call["name"] or "", call["args"] or "") for call in message.invalid_tool_calls]
    found = turn.whole(given)
    if found == given:
        return message
    text = "".join(part.text for part in found if isinstance(part, Text))
    kept = [one for one in message.content if isinstance(one, dict) and one.get("type") not in _CALL_BLOCKS]
    calls = [part for part in found if isinstance(part, ToolCall)]
    return AIMessage(
        content=[*kept, {"type": "text", "text": text}] if kept else text,
        tool_calls=[{"name": call.name, "args": call.arguments, "id": call.id, "type": "tool_call"} for call in calls],
        additional_kwargs={key: value for key, value in message.additional_kwargs.items() if key != "tool_calls"},
        response_metadata=message.response_metadata,
        usage_metadata=message.usage_metadata,
        id=message.id,
        name=message.name,
    )
