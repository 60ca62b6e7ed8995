"""openai-agents: `Agent(model=ToolglotModel(model), tools=[...])`, for any model of the Agents SDK.

Calls that the model writes as text become tool calls, and each satisfies its tool's schema. If the model has no native tools,
they go into its prompt.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any, Unpack

from agents import FunctionTool, Model
from openai.types.responses import ResponseOutputItem, ResponseStreamEvent
from pydantic import TypeAdapter

from toolglot.core.interfaces import Body
from toolglot.integrations.response_filter import Options, ResponseFilter, TurnOptions
from toolglot.io.json_codec import encode, loads_object
from toolglot.wires.openai_responses import WIRE

_ARGUMENTS = ("system_instructions", "input", "model_settings", "tools", "output_schema", "handoffs", "tracing")
_ITEMS: TypeAdapter[Any] = TypeAdapter(list[ResponseOutputItem])
_EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


class ToolglotModel(Model):
    """Wraps a model. `ask` is the tool mode; `options` are policy, weak_forms and on_decision."""

    def __init__(self, wrapped: Any, *, ask: str = "auto", **options: Unpack[TurnOptions]) -> None:
        self.wrapped, self.options = wrapped, Options(ask, **options)

    async def get_response(self, *args: Any, **kwargs: Any) -> Any:
        found, arguments = self._planned(*args, **kwargs)
        response = await self.wrapped.get_response(**arguments)
        sent = encode({"output": [item.model_dump(mode="json", exclude_none=True) for item in response.output]})
        changed = found.whole(sent)
        if changed is sent:
            return response
        return replace(response, output=_ITEMS.validate_python((loads_object(changed.decode()) or {})["output"]))

    async def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        found, arguments = self._planned(*args, **kwargs)
        async for event in self.wrapped.stream_response(**arguments):
            for made in _events(found.feed_chunk(event.model_dump_json(exclude_none=True).encode())):
                yield made
        for made in _events(found.close_chunks()):
            yield made

    def _planned(self, *args: Any, **kwargs: Any) -> tuple[ResponseFilter, Body]:
        """The filter of the response, and the arguments for the wrapped model."""
        given = dict(zip(_ARGUMENTS, args, strict=False)) | kwargs
        settings = given["model_settings"]
        body: Body = {
            "model": str(getattr(self.wrapped, "model", "")),
            "instructions": given["system_instructions"],
            "input": given["input"],
            "tools": [*map(_tool, given["tools"]), *map(_handoff, given["handoffs"])],
            "tool_choice": settings.tool_choice,
            "parallel_tool_calls": settings.parallel_tool_calls,
        }
        request = WIRE.read_request({key: one for key, one in body.items() if one is not None})
        found = ResponseFilter(WIRE, request, self.options)
        if found.prompted:
            sent = found.body
            given |= {"system_instructions": sent.get("instructions"), "input": _plain(sent["input"])}
            settings = replace(settings, tool_choice=None, parallel_tool_calls=None)
            given |= {"tools": [], "handoffs": [], "model_settings": settings}
        return found, given


def _plain(items: Any) -> Any:
    """An assistant's text as one string, which models of every API take."""
    if isinstance(items, str):
        return items
    return [
        {"role": "assistant", "content": "".join(part.get("text", "") for part in item["content"])}
        if item.get("role") == "assistant" and isinstance(item["content"], list)
        else item
        for item in items
    ]


def _tool(tool: Any) -> Body:
    if not isinstance(tool, FunctionTool):
        return {"type": tool.name}  # OpenAI runs it
    return {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.params_json_schema}


def _handoff(handoff: Any) -> Body:
    schema = handoff.input_json_schema or {"type": "object", "properties": {}}
    return {"type": "function", "name": handoff.tool_name, "description": handoff.tool_description, "parameters": schema}


def _events(found: Iterator[Body]) -> Iterator[Any]:
    return (_EVENT.validate_python(one) for one in found)
