"""The LiteLLM proxy: `litellm_settings: {callbacks: toolglot.integrations.litellm.callback}`.

Calls that a model wrote as text leave the proxy as calls, and each satisfies its tool's schema: whole and streamed, on the
proxy's Chat endpoint. A request for several choices passes unchanged.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from litellm.integrations.custom_logger import CustomLogger

from toolglot.integrations.response_filter import Options, ResponseFilter, filter_for
from toolglot.io.json_codec import loads_object
from toolglot.wires.openai_chat import WIRE

_FIELDS = ("model", "messages", "tools", "functions", "tool_choice", "parallel_tool_calls", "response_format", "stream_options")


class Toolglot(CustomLogger):
    """Register an instance of your own for other options: `Toolglot(Options(policy="strict"))`."""

    def __init__(self, options: Options = Options()) -> None:  # noqa: B008  (it is frozen)
        super().__init__()
        self.options = options

    async def async_post_call_success_hook(self, data: dict[str, Any], user_api_key_dict: Any, response: Any) -> Any:
        found = self._filter(data) if getattr(response, "object", None) == "chat.completion" else None
        if found is not None:
            sent = response.model_dump_json().encode()
            changed = found.whole(sent)
            if changed is not sent:
                response.choices = type(response)(**(loads_object(changed.decode()) or {})).choices
        return response

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncIterator[Any]:
        found, kind = self._filter(request_data), None
        async for chunk in response:
            if found is None or getattr(chunk, "object", None) != "chat.completion.chunk":
                yield chunk
                continue
            kind = type(chunk)
            for made in found.feed_chunk(chunk.model_dump_json(exclude_none=True).encode()):
                yield kind(**made)
        if found is not None and kind is not None:
            for made in found.close_chunks():
                yield kind(**made)

    def _filter(self, data: dict[str, Any]) -> ResponseFilter | None:
        if (data.get("n") or 1) > 1:
            return None
        return filter_for(WIRE, {key: data[key] for key in _FIELDS if data.get(key) is not None}, self.options)


callback = Toolglot()
