"""The LiteLLM proxy: `litellm_settings: {callbacks: toolglot.integrations.litellm.callback}`.

Calls that a model wrote as text leave the proxy as calls, and each satisfies its tool's schema: whole and streamed, on the
proxy's Chat endpoint. A request for several choices passes unchanged.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from importlib import import_module
from typing import Any

from toolglot.integrations.response_filter import Options, ResponseFilter, filter_for
from toolglot.io.json_codec import loads_object
from toolglot.wires.openai_chat import WIRE

_FIELDS = ("model", "messages", "tools", "functions", "tool_choice", "parallel_tool_calls", "response_format", "stream_options")
_DONE = b"data: [DONE]\n\n"


def __getattr__(name: str) -> Any:
    if name != "callback":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    base: Any = import_module("litellm.integrations.custom_logger").CustomLogger
    hooks = {"async_post_call_success_hook": _whole, "async_post_call_streaming_iterator_hook": _streamed}
    globals()[name] = found = type("Toolglot", (base,), hooks)()  # LiteLLM looks for the hooks in the class itself
    return found


def _filter(data: dict[str, Any]) -> ResponseFilter | None:
    if (data.get("n") or 1) > 1:
        return None
    return filter_for(WIRE, {key: data[key] for key in _FIELDS if data.get(key) is not None}, Options())


async def _whole(self: Any, data: dict[str, Any], user_api_key_dict: Any, response: Any) -> Any:
    found = _filter(data) if getattr(response, "object", None) == "chat.completion" else None
    if found is not None:
        sent = response.model_dump_json().encode()
        changed = found.whole(sent)
        if changed is not sent:
            response.choices = type(response)(**(loads_object(changed.decode()) or {})).choices
    return response


async def _streamed(self: Any, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]) -> AsyncIterator[Any]:
    found, kind = _filter(request_data), None
    async for chunk in response:
        if found is None or getattr(chunk, "object", None) != "chat.completion.chunk":
            yield chunk
            continue
        kind = type(chunk)
        for made in _chunks(found.feed(b"data: " + chunk.model_dump_json(exclude_none=True).encode() + b"\n\n")):
            yield kind(**made)
    if found is not None and kind is not None:
        for made in _chunks(found.feed(_DONE) + found.close()):
            yield kind(**made)


def _chunks(written: bytes) -> Iterator[dict[str, Any]]:
    for line in written.splitlines():
        content = loads_object(line.removeprefix(b"data: ").decode()) if line.startswith(b"data: {") else None
        if content is not None:
            yield content
