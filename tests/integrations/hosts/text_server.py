"""A Chat server on loopback whose model has no native tools: it writes its calls as text."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Script = Callable[[dict[str, Any]], str]  # the request's body -> the text of the answer

QUESTION = "What is Ada's balance?"
ANSWER = "Ada's balance is 42 euros."


def call(name: str, /, **arguments: Any) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def two_steps(body: dict[str, Any]) -> str:
    """Finds the user, then the balance, each from the result before; all of it as text."""
    assert not body.get("tools"), "this model has no native tools"
    roles = {message["role"] for message in body["messages"]}
    assert roles <= {"system", "user", "assistant"}, roles
    prompt = json.dumps(body["messages"])
    assert "find_user" in prompt
    assert "get_balance" in prompt, "the tools are in the prompt"
    last = json.dumps(body["messages"][-1])
    if "42" in last:
        return ANSWER
    if "u-17" in last:
        return f"Now the balance.\n{call('get_balance', user_id='u-17')}"
    return call("find_user", name="Ada")


def with_final_answer(body: dict[str, Any]) -> str:
    """For smolagents, which ends with a call, too."""
    answer = two_steps(body)
    return call("final_answer", answer=answer) if answer == ANSWER else answer


class _Server(ThreadingHTTPServer):
    script: Script
    requests: list[dict[str, Any]]


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append(body)
        try:
            text = self.server.script(body)
        except AssertionError as error:
            self._send(400, "application/json", json.dumps({"error": {"message": str(error) or repr(error)}}))
            return
        if body.get("stream"):
            self._send(200, "text/event-stream", "".join(_stream(body["model"], text)))
        else:
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            self._send(200, "application/json", json.dumps(_chunk(body["model"], choice, "chat.completion")))

    def _send(self, status: int, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None: ...


def _chunk(model: str, choice: dict[str, Any], kind: str) -> dict[str, Any]:
    usage = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
    return {"id": "c1", "object": kind, "created": 1, "model": model, "choices": [choice], "usage": usage}


def _stream(model: str, text: str) -> Iterator[str]:
    for delta in ({"role": "assistant", "content": ""}, *({"content": text[at : at + 5]} for at in range(0, len(text), 5)), {}):
        choice = {"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}
        yield f"data: {json.dumps(_chunk(model, choice, 'chat.completion.chunk'))}\n\n"
    yield "data: [DONE]\n\n"


@contextmanager
def serving(script: Script) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The base URL, and the bodies of the requests so far."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.script, server.requests = script, []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", server.requests
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
