"""llm: `llm install llm-toolglot`, `llm toolglot add ollama/qwen3:8b`, `llm -m toolglot/ollama/qwen3:8b --tool ...`.

Models of every provider of toolglot in llm, all of them with tools: native, constrained or in the prompt.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import click
import llm
from llm import parts as own
from pydantic import Field

from toolglot.client.async_client import AsyncClient
from toolglot.client.sync_client import Client
from toolglot.core.events import Event
from toolglot.core.fold import fold
from toolglot.core.interfaces import Body
from toolglot.core.reply import Reply
from toolglot.core.text_deltas import TextDeltas
from toolglot.errors import CallerError
from toolglot.integrations.model_turn import chat_assistant, chat_call, chat_result, chat_tool
from toolglot.pipeline.request.route import resolve

_PREFIX = "toolglot/"
_LOCAL = "local/local"  # the embedded model; it needs no key and no server


@llm.hookimpl
def register_models(register: Any) -> None:
    for name in [_LOCAL, *_added()]:
        register(ToolglotModel(name), AsyncToolglotModel(name))


@llm.hookimpl
def register_commands(cli: Any) -> None:
    @cli.group(name="toolglot")
    def group() -> None:
        """Models through toolglot."""

    @group.command()
    @click.argument("model")
    def add(model: str) -> None:
        """Make MODEL ("provider/model") a model of llm: toolglot/provider/model."""
        try:
            resolve(model)
        except CallerError as error:
            raise click.ClickException(str(error)) from None
        _save([*(name for name in _added() if name != model), model])

    @group.command()
    @click.argument("model")
    def remove(model: str) -> None:
        """Take MODEL away again."""
        _save([name for name in _added() if name != model])


def _file() -> Path:
    return Path(llm.user_dir()) / "toolglot.json"


def _added() -> list[str]:
    try:
        found = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def _save(names: list[str]) -> None:
    _file().write_text(json.dumps(names, indent=1), encoding="utf-8")


class _Toolglot:
    """What both models share."""

    can_stream = True
    supports_tools = True
    supports_schema = True
    attachment_types = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})

    class Options(llm.Options):
        """Those of a request."""

        ask: str = Field(default="auto", description="Tool mode: auto, native, constrained or dialect:<name>")
        temperature: float | None = Field(default=None, description="Randomness")
        max_tokens: int | None = Field(default=None, description="The most tokens of the answer")

    def __init__(self, name: str) -> None:
        self.name, self.model_id = name, _PREFIX + name

    def _request(self, prompt: Any) -> Body:
        known = [tool for tool in prompt.tools if isinstance(tool, llm.Tool)]
        tools = [chat_tool(tool.name, tool.description, tool.input_schema) for tool in known]
        chosen = {name: value for name, value in prompt.options.model_dump().items() if value is not None}
        messages = [one for message in prompt.messages for one in _chat(message)]
        return {"messages": messages, "tools": tools, "response_schema": prompt.schema, **chosen}


class ToolglotModel(_Toolglot, llm.Model):
    """A model of llm."""

    def execute(self, prompt: Any, stream: bool, response: Any, conversation: Any = None) -> Iterator[str]:
        with Client(self.name) as client:
            if not stream:
                yield _finish(client.complete(**self._request(prompt)), response)
                return
            events, texts = list[Event](), TextDeltas()
            for event in client.stream(**self._request(prompt)):
                events.append(event)
                yield texts.feed(event)
            _finish(fold(events), response)


class AsyncToolglotModel(_Toolglot, llm.AsyncModel):
    """An asynchronous model of llm."""

    async def execute(self, prompt: Any, stream: bool, response: Any, conversation: Any = None) -> AsyncIterator[str]:
        async with AsyncClient(self.name) as client:
            if not stream:
                yield _finish(await client.complete(**self._request(prompt)), response)
                return
            events, texts = list[Event](), TextDeltas()
            async for event in client.stream(**self._request(prompt)):
                events.append(event)
                yield texts.feed(event)
            _finish(fold(events), response)


def _finish(reply: Reply, response: Any) -> str:
    """Give llm the calls and the usage. The text."""
    if reply.error is not None:
        raise llm.ModelError(reply.error.message)
    for call in reply.calls:
        response.add_tool_call(llm.ToolCall(call.name, call.arguments, call.id))
    if reply.usage is not None:
        response.set_usage(input=reply.usage.input, output=reply.usage.output)
    return reply.text


def _chat(message: Any) -> Iterator[Body]:
    """A message of llm as messages of Chat: each tool result is one of its own."""
    texts = [part.text for part in message.parts if isinstance(part, own.TextPart)]
    if message.role == "assistant":
        made = [part for part in message.parts if isinstance(part, own.ToolCallPart)]
        yield chat_assistant("".join(texts), [chat_call(one.tool_call_id, one.name, json.dumps(one.arguments)) for one in made])
        return
    for part in message.parts:
        if isinstance(part, own.ToolResultPart):
            yield chat_result(part.tool_call_id, part.name, part.exception or part.output)
    images = [_image(part.attachment) for part in message.parts if isinstance(part, own.AttachmentPart)]
    if images:
        yield {"role": message.role, "content": [*({"type": "text", "text": text} for text in texts), *images]}
    elif texts:
        yield {"role": message.role, "content": "\n".join(texts)}


def _image(attachment: Any) -> Body:
    url = attachment.url or f"data:{attachment.resolve_type()};base64,{attachment.base64_content()}"
    return {"type": "image_url", "image_url": {"url": url}}
