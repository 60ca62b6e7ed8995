"""A server on loopback that speaks OpenAI's chat API and makes one mistake on command; its model knows the probe's answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from toolglot.client.probe.observations import questions

Body = dict[str, Any]
Said = tuple[int, Body]  # status and JSON


def gold(body: Body) -> list[tuple[str, Body]]:
    """The calls that are right for what was asked, and none where results are there."""
    if body["messages"][-1]["role"] == "tool":
        return []
    asked = body["messages"][-1]["content"]
    return next((one.gold for one in questions() if one.messages[-1]["content"] == asked), [])


def tool_calls(calls: list[tuple[str, Body]]) -> list[Body]:
    return [
        {"id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for at, (name, arguments) in enumerate(calls)
    ]


def tokens(body: Body, *, tools: bool = True) -> int:
    counted = {key: body[key] for key in ("messages", "tools")[: 1 + tools] if key in body}
    return len(json.dumps(counted)) // 4


def completion(
    body: Body, text: str | None = None, calls: list[Body] | None = None, *, finish: str = "", prompt: int | None = None
) -> Body:
    """A whole answer, as OpenAI's chat API has it."""
    message: Body = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = calls
    finish = finish or ("tool_calls" if calls else "stop")
    prompt = tokens(body) if prompt is None else prompt
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_760_000_000,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": 12, "total_tokens": prompt + 12},
    }


def as_chunks(whole: Body) -> bytes:
    """The same as a stream."""
    message, finish = whole["choices"][0]["message"], whole["choices"][0]["finish_reason"]
    head = {key: whole[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    deltas: list[Body] = [{"role": "assistant", "content": message["content"]}]
    deltas += [{"tool_calls": [{"index": at, **call}]} for at, call in enumerate(message.get("tool_calls", []))]
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    chunks.append({**head, "choices": [], "usage": whole["usage"]})
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n"


def good(body: Body) -> Said:
    """Native tools as they should be; without tools it only talks."""
    if not body.get("tools"):
        return 200, completion(body, "I can't look that up.")
    calls = gold(body)
    if calls:
        return 200, completion(body, None, tool_calls(calls))
    return 200, completion(body, "It is 19 degrees in Lima. Goodbye!")


class Upstream:
    """`listed` is the body of GET /v1/models; other paths of GET are in `paths`. `asked` are the bodies that came."""

    def __init__(self, answer: Callable[[Body], Said], listed: Body | None, paths: dict[str, Body]) -> None:
        self.answer, self.asked = answer, list[Body]()
        self.paths = {**paths, **({"/v1/models": listed} if listed is not None else {})}
        self.keys: list[str | None] = []
        self.url = ""


@contextmanager
def upstream(
    answer: Callable[[Body], Said] = good, *, listed: Body | None = None, paths: dict[str, Body] | None = None
) -> Iterator[Upstream]:
    upstream = Upstream(answer, listed, paths or {})

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _say(self, status: int, kind: str, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            said = upstream.paths.get(self.path.partition("?")[0])
            status = 404 if said is None else 200
            self._say(status, "application/json", json.dumps(said or {"error": {"message": "no such page"}}).encode())

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path != "/v1/chat/completions":
                self._say(404, "application/json", b'{"error": {"message": "no such page"}}')
                return
            upstream.asked.append(body)
            upstream.keys.append(self.headers.get("Authorization"))
            status, said = upstream.answer(body)
            if status == 200 and body.get("stream"):
                self._say(200, "text/event-stream", as_chunks(said))
            else:
                self._say(status, "application/json", json.dumps(said).encode())

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        upstream.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield upstream
        finally:
            server.shutdown()
            thread.join()
