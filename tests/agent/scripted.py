"""A scripted provider: OpenAI Chat streams, byte for byte as the API sends them, without a network."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from toolglot.agent.agent import Agent
from toolglot.client.async_client import AsyncClient
from toolglot.client.retry import NEVER
from toolglot.client.transport import Answer, Limits

HANG = b"hang"  # a chunk that never arrives


def _chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    chunk = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "gpt-5",
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
    }
    return f"data: {json.dumps(chunk)}\n\n".encode()


def _end(finish: str) -> list[bytes]:
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    last = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "gpt-5", "choices": [], "usage": usage}
    return [_chunk({}, finish), f"data: {json.dumps(last)}\n\n".encode(), b"data: [DONE]\n\n"]


def text_reply(text: str, finish: str = "stop") -> list[bytes]:
    return [
        _chunk({"role": "assistant", "content": ""}),
        *(_chunk({"content": word}) for word in text.split("|")),
        *_end(finish),
    ]


def call_reply(*calls: tuple[str, str, str]) -> list[bytes]:
    """(id, name, arguments) each, streamed as the API does: first the name, then the arguments in pieces."""
    pieces = [_chunk({"role": "assistant", "content": None})]
    for index, (call_id, name, arguments) in enumerate(calls):
        head = {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
        pieces.append(_chunk({"tool_calls": [head]}))
        for half in (arguments[: len(arguments) // 2], arguments[len(arguments) // 2 :]):
            pieces.append(_chunk({"tool_calls": [{"index": index, "function": {"arguments": half}}]}))
    return pieces + _end("tool_calls")


def error_reply(status: int, message: str) -> tuple[int, list[bytes]]:
    return status, [json.dumps({"error": {"message": message, "type": "server_error", "code": None}}).encode()]


class ScriptedAnswer:
    headers: Mapping[str, str] = {"content-type": "text/event-stream"}

    def __init__(self, status: int, pieces: list[bytes]) -> None:
        self.status, self._pieces, self.closed, self.hangs = status, pieces, False, False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            if piece == HANG:
                self.hangs = True
                await asyncio.Event().wait()
            yield piece

    async def read(self) -> bytes:
        return b"".join(self._pieces)

    async def aclose(self) -> None:
        self.closed = True

    def release(self) -> None:
        self.closed = True


class Scripted:
    """A Transport. `sent` are the bodies, `answers` what was answered."""

    def __init__(self, *answers: list[bytes] | tuple[int, list[bytes]]) -> None:
        self._left = [answer if isinstance(answer, tuple) else (200, answer) for answer in answers]
        self.sent: list[dict[str, Any]] = []
        self.answers: list[ScriptedAnswer] = []

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", *, limits: Limits | None = None
    ) -> Answer:
        self.sent.append(json.loads(body))
        self.answers.append(ScriptedAnswer(*self._left.pop(0)))
        return self.answers[-1]

    async def aclose(self) -> None:
        return None

    def tool_results(self, turn: int) -> list[dict[str, Any]]:
        """The results in the request of a turn (from 0)."""
        return [message for message in self.sent[turn]["messages"] if message["role"] == "tool"]


SECRET = "sk-not-to-be-seen-0123456789"


def agent(*answers: list[bytes] | tuple[int, list[bytes]], **options: Any) -> tuple[Agent[Any], Scripted]:
    transport = Scripted(*answers)
    client = AsyncClient("openai/gpt-5", api_key=SECRET, transport=transport, retries=NEVER)
    return Agent("openai/gpt-5", client=client, **options), transport


@contextmanager
def serving(*answers: list[bytes]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The same over HTTP, for child processes: the server's address, and the request bodies."""
    left = list(answers)
    bodies: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.write(b"".join(left.pop(0)))

        def log_message(self, *_: Any) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", bodies
        finally:
            server.shutdown()
            thread.join()
