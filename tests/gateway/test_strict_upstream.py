"""Requests as real agents send them, to servers that refuse what real ones refuse."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.running import Running, config, run, serving
from tests.gateway.upstream_server import upstream_server
from tests.strict_upstream import StrictServer

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
READ = {
    "name": "Read",
    "description": "Read a file",
    "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}


def claude_code(model: str, *, image: bool = False, max_tokens: int = 1000, stream: bool = False) -> dict[str, Any]:
    """As Claude Code 2.1.208 and later: system messages inside `messages`, also right after results."""
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    return {
        "model": model,
        "max_tokens": max_tokens,
        "stream": stream,
        "system": [{"type": "text", "text": "You are an agent."}, {"type": "text", "text": "Be kind."}],
        "tools": [READ],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Read a.txt"}]},
            {"role": "system", "content": "Hook output."},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "toolu_01ABCDEFG", "name": "Read", "input": {"path": "a"}}],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_01ABCDEFG",
                        "content": [picture] if image else "hello",
                    },
                    {"type": "text", "text": "Go on."},
                ],
            },
            {"role": "system", "content": "A reminder."},
        ],
    }


def codex(model: str) -> dict[str, Any]:
    """As Codex: instructions, then a developer item."""
    return {
        "model": model,
        "instructions": "You are Codex.",
        "input": [
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "<permissions>"}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]},
        ],
        "tools": [{"type": "function", "name": "shell", "parameters": {"type": "object", "properties": {}}, "strict": False}],
        "store": False,
        "stream": False,
    }


async def send(gateway: Running, path: str, body: dict[str, Any], notes: list[str]) -> None:
    status, answer, headers = await gateway.ask("POST", path, body)
    assert status == 200, answer
    notes.append(headers.get("x-toolglot-notes", ""))


def served(server: StrictServer, *requests: tuple[str, dict[str, Any]]) -> list[str]:
    """The notes of each request."""
    notes: list[str] = []

    async def work() -> None:
        async with upstream_server(server.play) as upstream, serving(config(upstream, "openai-chat")) as gateway:
            for path, body in requests:
                await send(gateway, path, body, notes)

    run(work())
    return notes


def assert_order(text: str, *parts: str) -> None:
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("model", ["qwen3.6-27b", "mistral-small-3.1-24b", "my-model"])
def test_system_messages_that_are_not_first(model: str, *, stream: bool) -> None:
    """A model of the catalog at once, any other after one 400, which is remembered."""
    template = "mistral-small-3.1" if "mistral" in model else "qwen3.6"
    server = StrictServer.of(template)
    name = f"openai-chat/{model}"
    served(server, *[("/v1/messages", claude_code(name, stream=stream))] * 2, ("/v1/responses", codex(name)))
    assert len(server.refused) == (1 if model == "my-model" else 0)
    assert len(server.prompts) == 3
    assert "<system>\nHook output.\n</system>" in server.prompts[0]
    assert server.prompts[0] == server.prompts[1]
    assert_order(server.prompts[0], "Read a.txt", "Hook output.", "Go on.", "A reminder.")
    assert_order(server.prompts[2], "You are Codex.", "<permissions>", "Hello")


def test_an_unknown_model_of_a_template_that_wants_alternation() -> None:
    """Two lessons, one a request: first system messages, then turns that alternate."""
    server = StrictServer.of("mistral-small-3.1")
    served(server, *[("/v1/messages", claude_code("openai-chat/my-model"))] * 2)
    assert server.refused
    assert len(server.prompts) == 2


@pytest.mark.parametrize("model", ["phi-3-mini", "my-model"])
def test_images_to_a_model_that_sees_none(model: str) -> None:
    server = StrictServer.of("phi-3-mini", vision=False, lists=False)
    body = claude_code(f"openai-chat/{model}", image=True)
    notes = served(server, ("/v1/messages", body), ("/v1/messages", body))
    assert server.refused == ([] if model == "phi-3-mini" else ["/models/phi-3-mini is not a multimodal model"])
    assert all("images replaced by a text" in note for note in notes)


def test_more_tokens_than_the_window_has() -> None:
    """The window is not known before the first 400."""
    server = StrictServer.of("qwen3.6", window=8192)
    body = claude_code("openai-chat/my-model", max_tokens=64_000)
    served(server, ("/v1/messages", body), ("/v1/messages", body))
    assert len(server.prompts) == 2
    assert sum("too large" in message for message in server.refused) == 1
