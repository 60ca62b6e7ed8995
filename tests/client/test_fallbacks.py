"""Models that are asked where another fails, or has no key."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from tests.client.fault_server import FaultServer, fault_server
from tests.client.running import run
from tests.client.test_async_client import TOOL, asking, chat, http
from tests.laws.conversations import stream
from toolglot import AsyncClient, KeyMissingError, UpstreamError, fold


def test_fallbacks_are_asked_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with fault_server() as server:
            seen: list[str] = []

            async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, held: FaultServer) -> None:
                model = msgspec.json.decode(held.requests[-1].body)["model"]
                seen.append(model)
                writer.write(chat("from b") if model == "b" else http(b"{}", status="500 Oops"))
                await writer.drain()
                writer.close()

            server.scripts["/v1/chat/completions"] = script
            client = asking(server, tmp=tmp_path, fallbacks=["openai/b"])
            reply = await client.complete("hello")
            assert reply.text == "from b"
            assert seen == ["m", "m", "m", "b"]
            assert any("openai/m failed" in note for note in reply.notes)
            await client.aclose()

    run(work())


def test_a_fallback_gets_the_tools_and_is_noted_in_a_stream_too(tmp_path: Path) -> None:
    whole = http(stream("one_call", "openai-chat"), "text/event-stream")

    async def work() -> None:
        async with fault_server() as server:

            async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, held: FaultServer) -> None:
                model = msgspec.json.decode(held.requests[-1].body)["model"]
                writer.write(whole if model == "b" else http(b"{}", status="400 Bad"))
                await writer.drain()
                writer.close()

            server.scripts["/v1/chat/completions"] = script
            client = asking(server, tmp=tmp_path, fallbacks=["openai/b"])
            reply = fold([event async for event in client.stream("hello", tools=iter([TOOL]))])
            assert any("openai/m failed" in note for note in reply.notes)
            assert ["tools" in msgspec.json.decode(held.body) for held in server.requests] == [True, True]
            await client.aclose()

    run(work())


def test_a_model_without_a_key_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("GROQ_API_KEY", "MISTRAL_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    missing = "groq/a failed before it answered: missing API key for groq: set the environment variable GROQ_API_KEY"

    async def work() -> None:
        async with fault_server() as server:

            async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, held: FaultServer) -> None:
                model = msgspec.json.decode(held.requests[-1].body)["model"]
                writer.write(chat("from b") if model == "b" else http(b'{"error": {"message": "busy"}}', status="400 Bad"))
                await writer.drain()
                writer.close()

            server.scripts["/v1/chat/completions"] = script
            client = asking(server, tmp=tmp_path, fallbacks=["groq/a", "openai/b"])
            for first in (None, "groq/a"):  # behind one that fails, and as the first
                reply = await client.complete("hello", first)
                assert reply.text == "from b"
                assert [note for note in reply.notes if note.startswith(missing)]
            await client.aclose()

            client = asking(server, tmp=tmp_path, fallbacks=["groq/a"])
            for ask in (client.complete("hello"), anext(client.stream("hello"))):
                with pytest.raises(
                    UpstreamError, match=r"openai/m failed before it answered: busy; groq/a failed .* missing API key"
                ) as told:
                    await ask
                assert told.value.status == 400
            await client.aclose()

        without = AsyncClient("groq/a", fallbacks="mistral/b")
        with pytest.raises(KeyMissingError, match=r"GROQ_API_KEY.*MISTRAL_API_KEY"):
            await without.complete("hello")
        await without.aclose()

    run(work())
