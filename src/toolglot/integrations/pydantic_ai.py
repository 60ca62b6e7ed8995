"""pydantic-ai: `Agent(ToolglotModel(model))`, for any model of pydantic-ai.

Calls that the model writes as text become tool calls, and each satisfies its tool's schema. If the model has no native tools,
they go into its prompt.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any, Unpack

from pydantic_ai import messages as own
from pydantic_ai.models import StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel

from toolglot.core.interfaces import Body
from toolglot.core.messages import Part, Reasoning, Text, ToolCall
from toolglot.integrations.model_turn import ModelTurn, chat_assistant, chat_call, chat_result, chat_tool
from toolglot.integrations.response_filter import Options, TurnOptions

_NATIVE_ONLY = ("tool_choice", "parallel_tool_calls")


class ToolglotModel(WrapperModel):
    """Wraps a model. `ask` is the tool mode; `options` are policy, weak_forms and on_decision."""

    def __init__(self, wrapped: Any, *, ask: str = "auto", **options: Unpack[TurnOptions]) -> None:
        super().__init__(wrapped)
        self._options = Options(ask, **options)

    async def request(self, messages: list[Any], model_settings: Any, model_request_parameters: Any) -> Any:
        turn, sent = self._turn(messages, model_settings, model_request_parameters)
        response = await super().request(*sent)
        return replace(response, parts=_parts(response.parts, turn))

    @asynccontextmanager
    async def request_stream(
        self, messages: list[Any], model_settings: Any, model_request_parameters: Any, run_context: Any = None
    ) -> AsyncIterator[Any]:
        turn, sent = self._turn(messages, model_settings, model_request_parameters)
        async with super().request_stream(*sent, run_context) as stream:
            found = _Stream(model_request_parameters)
            found.source, found.turn = stream, turn
            yield found

    def _turn(self, messages: list[Any], settings: Any, parameters: Any) -> tuple[ModelTurn, tuple[Any, Any, Any]]:
        _, resolved = self.prepare_request(settings, parameters)
        given = [*resolved.declared_function_tools, *resolved.output_tools]
        tools = [chat_tool(tool.name, tool.description, tool.parameters_json_schema) for tool in given]
        choice = None if resolved.allow_text_output or not tools else "required"
        native = self.profile.get("supports_tools", True)
        chat = _chat(messages, resolved)
        turn = ModelTurn(chat, tools, self._options, native=native, model=self.model_name, tool_choice=choice)
        if turn.sent is None:
            return turn, (messages, settings, parameters)
        without = replace(
            resolved,
            function_tools=[],
            output_tools=[],
            instruction_parts=None,
            allow_text_output=True,
            output_mode="text" if resolved.output_mode == "tool" else resolved.output_mode,
        )
        plain = {key: value for key, value in (settings or {}).items() if key not in _NATIVE_ONLY}
        return turn, ([_message(one) for one in turn.sent], plain, without)


def _chat(messages: list[Any], parameters: Any) -> list[Body]:
    instructions = "\n\n".join(part.content for part in parameters.instruction_parts or ())
    found: list[Body] = [{"role": "system", "content": instructions}] if instructions else []
    for message in messages:
        found += [_assistant(message)] if message.kind == "response" else [_request(part) for part in message.parts]
    return found


def _assistant(message: Any) -> Body:
    made = [part for part in message.parts if part.part_kind == "tool-call"]
    calls = [chat_call(part.tool_call_id, part.tool_name, part.args_as_json_str()) for part in made]
    return chat_assistant("".join(part.content for part in message.parts if part.part_kind == "text"), calls)


def _request(part: Any) -> Body:
    if part.part_kind == "tool-return":
        return chat_result(part.tool_call_id, part.tool_name, part.model_response_str())
    content = getattr(part, "content", "")
    if not isinstance(content, str):  # media: a model without native tools gets text alone
        content = "\n".join(one for one in content if isinstance(one, str))
    return {"role": "system" if part.part_kind == "system-prompt" else "user", "content": content}


def _message(chat: Body) -> Any:
    text = chat["content"] or ""
    if chat["role"] == "assistant":
        return own.ModelResponse(parts=[own.TextPart(text)])
    return own.ModelRequest(parts=[own.SystemPromptPart(text) if chat["role"] == "system" else own.UserPromptPart(text)])


def _parts(parts: Any, turn: ModelTurn) -> list[Any]:
    """Text and calls pass the turn; every other part stays as it is, before them."""
    read = [_read(part) for part in parts]
    given = [part for part in read if part is not None]
    found = turn.whole(given)
    kept = [part for part, ours in zip(parts, read, strict=True) if ours is None]
    return list(parts) if found == given else [*kept, *map(_written, found)]


def _read(part: Any) -> Part | None:
    if part.part_kind == "text":
        return Text(part.content)
    return ToolCall(part.tool_call_id, part.tool_name, part.args_as_json_str()) if part.part_kind == "tool-call" else None


def _written(part: Part) -> Any:
    if isinstance(part, ToolCall):
        return own.ToolCallPart(part.name, part.arguments_json, part.id)
    return own.ThinkingPart(part.text) if isinstance(part, Reasoning) else own.TextPart(part.text)  # type: ignore[union-attr]


class _Stream(StreamedResponse):
    source: Any
    turn: ModelTurn

    async def _get_event_iterator(self) -> AsyncIterator[Any]:
        async for event in self.source:
            for made in self._events(event):
                yield made
        for made in self._ours(self.turn.close()):
            yield made
        self._usage, self.finish_reason = self.source.usage, self.source.finish_reason
        self.provider_response_id, self.provider_details = self.source.provider_response_id, self.source.provider_details

    def _events(self, event: Any) -> Iterator[Any]:
        kind = event.event_kind
        part: Any = event.part if kind in ("part_start", "part_end") else None
        if kind == "part_delta" and event.delta.part_delta_kind == "text":
            yield from self._ours(self.turn.feed(Text(event.delta.content_delta)))
        elif kind == "part_start" and part.part_kind == "text":
            yield from self._ours(self.turn.feed(Text(part.content)))
        elif kind == "part_end" and part.part_kind == "tool-call":  # whole
            yield from self._ours(self.turn.feed(ToolCall(part.tool_call_id, part.tool_name, part.args_as_json_str())))
        elif kind == "part_end" and part.part_kind != "text":
            yield self._parts_manager.handle_part(vendor_part_id=None, part=part)

    def _ours(self, parts: list[Part]) -> Iterator[Any]:
        for part in parts:
            if isinstance(part, ToolCall):
                yield self._parts_manager.handle_part(vendor_part_id=part.id, part=_written(part))
            elif isinstance(part, Reasoning):
                yield from self._parts_manager.handle_thinking_delta(vendor_part_id=None, content=part.text)
            elif isinstance(part, Text):
                yield from self._parts_manager.handle_text_delta(vendor_part_id=None, content=part.text)

    async def close_stream(self) -> None:
        await self.source.close_stream()

    @property
    def model_name(self) -> str:
        return str(self.source.model_name)

    @property
    def provider_name(self) -> str | None:
        return self.source.provider_name  # type: ignore[no-any-return]

    @property
    def provider_url(self) -> str | None:
        return self.source.provider_url  # type: ignore[no-any-return]

    @property
    def timestamp(self) -> datetime:
        return self.source.timestamp  # type: ignore[no-any-return]
