"""llama-index: `FunctionAgent(llm=ToolglotLLM(llm), tools=[...])`, for any chat model of llama-index.

Calls that the model writes as text become tool calls, and each satisfies its tool's schema. If the model has no native tools,
they go into its prompt.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Unpack

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata, TextBlock, ThinkingBlock, ToolCallBlock
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection

from toolglot.core.interfaces import Body
from toolglot.core.messages import Part, Reasoning, Text, ToolCall
from toolglot.integrations.model_turn import ModelTurn, chat_assistant, chat_call, chat_result, chat_tool
from toolglot.integrations.response_filter import Options, TurnOptions
from toolglot.io.json_codec import dumps, loads_object

_NATIVE_ONLY = ("allow_parallel_tool_calls", "tool_required")
_ROLES = {"developer": "system", "chatbot": "assistant", "model": "assistant", "function": "tool"}


class ToolglotLLM(FunctionCallingLLM):
    """Wraps a model. `ask` is the tool mode; `options` are policy, weak_forms and on_decision."""

    wrapped: Any
    options: Any

    def __init__(self, wrapped: Any, *, ask: str = "auto", **options: Unpack[TurnOptions]) -> None:
        super().__init__(wrapped=wrapped, options=Options(ask, **options), callback_manager=wrapped.callback_manager)

    @classmethod
    def class_name(cls) -> str:
        return "ToolglotLLM"

    @property
    def metadata(self) -> LLMMetadata:
        return self.wrapped.metadata.model_copy(update={"is_function_calling_model": True, "is_chat_model": True})

    def chat(self, messages: Sequence[Any], **kwargs: Any) -> Any:
        turn, method, sent = self._turn(messages, kwargs)
        return _whole(getattr(self.wrapped, method)(**sent), turn)

    async def achat(self, messages: Sequence[Any], **kwargs: Any) -> Any:
        turn, method, sent = self._turn(messages, kwargs)
        return _whole(await getattr(self.wrapped, f"a{method}")(**sent), turn)

    def stream_chat(self, messages: Sequence[Any], **kwargs: Any) -> Any:
        turn, method, sent = self._turn(messages, kwargs)
        return _streamed(getattr(self.wrapped, f"stream_{method}")(**sent), turn)

    async def astream_chat(self, messages: Sequence[Any], **kwargs: Any) -> Any:
        turn, method, sent = self._turn(messages, kwargs)
        return _async_streamed(await getattr(self.wrapped, f"astream_{method}")(**sent), turn)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        return self.wrapped.complete(prompt, formatted, **kwargs)

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        return await self.wrapped.acomplete(prompt, formatted, **kwargs)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        return self.wrapped.stream_complete(prompt, formatted, **kwargs)

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        return await self.wrapped.astream_complete(prompt, formatted, **kwargs)

    def _prepare_chat_with_tools(
        self, tools: Sequence[Any], user_msg: Any = None, chat_history: Any = None, verbose: bool = False, **kwargs: Any
    ) -> Body:
        asked = [ChatMessage(user_msg) if isinstance(user_msg, str) else user_msg] if user_msg else []
        return {"messages": [*(chat_history or ()), *asked], "tools": tools, **kwargs}

    def get_tool_calls_from_response(self, response: Any, error_on_no_tool_call: bool = True, **_: Any) -> list[Any]:
        calls = _calls(response.message)
        if not calls and error_on_no_tool_call:
            raise ValueError("the response has no tool call")
        return [
            ToolSelection(tool_id=call.tool_call_id or "", tool_name=call.tool_name, tool_kwargs=_arguments(call))
            for call in calls
        ]

    def _turn(self, messages: Sequence[Any], kwargs: Body) -> tuple[ModelTurn, str, Body]:
        """The turn, and which method of the wrapped model gets what."""
        tools = kwargs.pop("tools", None) or ()
        native: Body = {name: kwargs.pop(name) for name in _NATIVE_ONLY if name in kwargs}
        known = [tool.metadata for tool in tools]
        turn = ModelTurn(
            [_chat(message) for message in messages],
            [chat_tool(tool.get_name(), tool.description, tool.get_parameters_dict()) for tool in known],
            self.options,
            native=self.wrapped.metadata.is_function_calling_model,
            model=self.wrapped.metadata.model_name,
            tool_choice="required" if native.get("tool_required") else None,
            parallel_tool_calls=native.get("allow_parallel_tool_calls"),
        )
        if turn.sent is not None:
            return turn, "chat", {"messages": [ChatMessage(one["content"], role=one["role"]) for one in turn.sent], **kwargs}
        if tools:
            return turn, "chat_with_tools", {"tools": tools, "chat_history": [*messages], **native, **kwargs}
        return turn, "chat", {"messages": messages, **kwargs}


def _chat(message: Any) -> Body:
    role, text = _ROLES.get(message.role.value, message.role.value), message.content or ""
    if role == "tool":
        return chat_result(message.additional_kwargs.get("tool_call_id"), "", text)
    if role == "assistant":
        return chat_assistant(text, [chat_call(call.id, call.name, call.arguments_json) for call in _given(message)])
    return {"role": role, "content": text}


def _calls(message: Any) -> list[Any]:
    return [block for block in message.blocks if isinstance(block, ToolCallBlock)]


def _arguments(call: Any) -> Body:
    return call.tool_kwargs if isinstance(call.tool_kwargs, dict) else loads_object(call.tool_kwargs) or {}


def _given(message: Any) -> list[ToolCall]:
    return [ToolCall(one.tool_call_id or one.tool_name, one.tool_name, dumps(_arguments(one))) for one in _calls(message)]


def _block(part: Part) -> Any:
    if isinstance(part, ToolCall):
        return ToolCallBlock(tool_call_id=part.id, tool_name=part.name, tool_kwargs=part.arguments)
    return ThinkingBlock(content=part.text) if isinstance(part, Reasoning) else TextBlock(text=part.text)  # type: ignore[union-attr]


def _whole(response: Any, turn: ModelTurn) -> Any:
    given: list[Part] = [Text(response.message.content or ""), *_given(response.message)]
    return _response(response, turn.whole(given))


def _response(last: Any, parts: list[Part], delta: str | None = None) -> Any:
    message = ChatMessage(role="assistant", blocks=[_block(part) for part in parts])
    return ChatResponse(message=message, raw=last.raw, delta=delta, additional_kwargs=last.additional_kwargs)


class _Pieces:
    """The responses of a stream: each is all there is so far, and its delta."""

    def __init__(self, turn: ModelTurn) -> None:
        self.turn, self.parts = turn, list[Part]()
        self.last: Any = None

    def of(self, response: Any) -> Iterator[Any]:
        self.last = response
        yield from self._made(self.turn.feed(Text(response.delta or "")))

    def end(self) -> Iterator[Any]:
        if self.last is not None:
            given = _given(self.last.message)
            yield from self._made([*self.turn.feed(*given), *self.turn.close()])

    def _made(self, found: list[Part]) -> Iterator[Any]:
        for part in found:
            before = self.parts[-1] if self.parts else None
            if isinstance(part, Text) and isinstance(before, Text):
                self.parts[-1] = Text(before.text + part.text)
            else:
                self.parts.append(part)
            yield _response(self.last, self.parts, part.text if isinstance(part, Text) else "")


def _streamed(responses: Any, turn: ModelTurn) -> Iterator[Any]:
    pieces = _Pieces(turn)
    for response in responses:
        yield from pieces.of(response)
    yield from pieces.end()


async def _async_streamed(responses: Any, turn: ModelTurn) -> AsyncIterator[Any]:
    pieces = _Pieces(turn)
    async for response in responses:
        for made in pieces.of(response):
            yield made
    for made in pieces.end():
        yield made
