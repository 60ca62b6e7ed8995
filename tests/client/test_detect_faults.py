"""Whatever a server does when it is asked about a model: a note, and the catalog counts."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.client.detecting import at, detected, one_note, profile_from
from tests.client.discovery_server import discovery_server
from tests.client.fault_server import fault_server
from tests.client.running import DIRECT, run
from toolglot.catalog.profiles import profile
from toolglot.client.detect import ServerAnswers, detect
from toolglot.client.detection.questions import QUESTIONS
from toolglot.client.http import HttpTransport
from toolglot.client.transport import Limits

QUICK = Limits(connect=1.0, first_byte=0.6, idle=0.6, body=1 << 20)
ODD = [b"", b"nope", b"[]", b"null", b"{}", b'{"data":{}}', b'{"models":7}', b"\xff\xfe", b"[" * 100_000, b'{"details":"x"}']
TYPES = {
    "ollama": {"capabilities": {"tools": 1}, "template": 5, "model_info": {"general.architecture": []}, "parameters": [1]},
    "llamacpp": {"chat_template": 7, "chat_template_caps": [], "default_generation_settings": "x", "model_path": {}},
    "vllm": {"data": [5, None, {"id": "m", "root": 3, "max_model_len": -5, "parent": []}]},
    "lmstudio": {"data": [{"id": "m", "capabilities": 3, "max_context_length": True, "type": None}]},
    "openrouter": {"data": [{"id": "m", "supported_parameters": "tools", "context_length": 1e300}]},
}


@pytest.mark.parametrize("kind", QUESTIONS)
def test_garbage_is_a_note_and_the_catalog_counts(kind: str) -> None:
    async def work() -> None:
        async with HttpTransport(proxies=DIRECT) as transport:
            for body in [*ODD, json.dumps(TYPES[kind]).encode()]:
                table = {question.endpoint.replace("{model}", "m"): (200, body) for question in QUESTIONS[kind]}
                with discovery_server(table) as server:
                    row = at(kind, server.address)
                    known = await detect("m", row, transport, answers=ServerAnswers())
                plain = profile("m", kind)
                same = ("supports_tools", "context_length", "dialect", "native")
                assert [getattr(known, field) for field in same] == [getattr(plain, field) for field in same], body[:50]
                assert known.notes or "asked" in known.source

    asyncio.run(work())


@pytest.mark.parametrize(("status", "expected"), [(401, "HTTP 401: check the key"), (500, "HTTP 500"), (302, "HTTP 302")])
def test_a_refusal_is_a_note(status: int, expected: str) -> None:
    known = profile_from("vllm", "qwen3", {"GET /v1/models": (status, b"secret")})
    assert "secret" not in one_note(known, "could not be queried", expected)
    assert known.source == profile("qwen3", "vllm").source


def test_a_server_that_is_not_there_stalls_drips_or_floods() -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as transport:

            async def note(path: str, **options: Any) -> str:
                row = at("vllm", server.url(path))
                known = await detect("m", row, transport, answers=ServerAnswers(), **{"limits": QUICK, **options})
                assert known.supports_tools == profile("m", "vllm").supports_tools
                return one_note(known, "could not be queried")

            server.stalls("/stalls/v1/models")
            assert "no response in time" in await note("/stalls")
            server.says("/floods/v1/models", b"HTTP/1.1 200 OK\r\n\r\n", b" " * QUICK.body, b" ")
            assert "larger than allowed" in await note("/floods")
            server.says("/drips/v1/models", b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n", *[b" "] * 90, gap=0.05)
            assert "within 0.4 seconds" in await note("/drips", within=0.4)
            row = at("vllm", "http://127.0.0.1:1")
            one_note(await detect("m", row, transport, answers=ServerAnswers(), limits=QUICK), "no connection")
            for base_url in ("ftp://x", "http://", "nonsense"):
                one_note(
                    await detect("m", at("vllm", base_url), transport, answers=ServerAnswers()), "could not be queried", "url"
                )

    run(work())


def test_a_host_without_model_facts_is_not_queried() -> None:
    known = detected("openai", "gpt-4o", "http://127.0.0.1:1")
    one_note(known, "openai does not describe its models")


def test_a_cancelled_query_leaves_nothing_open() -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as transport:
            server.stalls("/v1/models")
            asking = asyncio.create_task(detect("m", at("vllm", server.url("")), transport, answers=ServerAnswers()))
            await server.came.wait()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await server.left.wait()

    run(work())
