"""A gateway over HTTP, before an OpenAI Chat server that writes the vector's reply as plain text.

    python conformance/adapters/gateway_adapter.py toolglot    # starts `toolglot serve`
    python conformance/adapters/gateway_adapter.py litellm     # starts the LiteLLM proxy
    python conformance/adapters/gateway_adapter.py URL PORT    # one that runs already; its upstream is port PORT here

The calls are those of the response to the client; with `cut` it is streamed, in chunks of that size. The client speaks OpenAI
Chat, or Ollama's API with `ollama` as the last word: for gateways, and servers in front of others, that look like Ollama.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from socket import socket
from urllib.parse import urlsplit

from loop import Body, UnsupportedError, pieces, serve

STARTED = 120  # seconds
KEY = "sk-conformance-0123456789abcdef0123456789abcdef"  # nothing secret: LiteLLM wants one to start


class Upstream(BaseHTTPRequestHandler):
    """Answers every request with `text`, streamed in pieces of `cut` where the request asks for a stream."""

    protocol_version = "HTTP/1.1"
    text, cut = "", 7

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if asked.get("stream"):
            deltas = [{"role": "assistant", "content": ""}, *({"content": piece} for piece in pieces(self.text, self.cut))]
            chunks = [self._body("chat.completion.chunk", delta=delta, finish_reason=None) for delta in deltas]
            chunks.append(self._body("chat.completion.chunk", delta={}, finish_reason="stop"))
            self._send("text/event-stream", "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n")
        else:
            message = {"role": "assistant", "content": self.text}
            self._send("application/json", json.dumps(self._body("chat.completion", message=message, finish_reason="stop")))

    def do_GET(self) -> None:
        self._send("application/json", json.dumps({"object": "list", "data": [{"id": "m", "object": "model"}]}))

    def _body(self, kind: str, **choice: object) -> Body:
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return {
            "id": "chatcmpl-1", "object": kind, "created": 1, "model": "m", "choices": [{"index": 0, **choice}], "usage": usage,
        }  # fmt: skip

    def _send(self, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        return


def free_port() -> int:
    with socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def gateway(name: str, upstream: str, folder: Path) -> Iterator[str]:
    """Start it; its address."""
    port, config = free_port(), folder / "config"
    if name == "toolglot":
        config.write_text(
            f'[server]\nport = {port}\n[[upstream]]\nname = "home"\nprovider = "openai-compatible"\nbase_url = "{upstream}"\n'
            '[[route]]\nmodel = "*"\nto = "home/*"\nask = "native"\nretries = 0\n'
        )
        command = [sys.executable, "-m", "toolglot", "serve", "--config", str(config)]
    else:
        params = {"model": "openai/m", "api_base": upstream, "api_key": KEY}
        config.write_text(json.dumps({"model_list": [{"model_name": "m", "litellm_params": params}]}))
        command = [str(Path(sys.executable).with_name("litellm")), "--config", str(config), "--port", str(port)]
    environment = {
        **os.environ,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_MASTER_KEY": KEY,
        "XDG_CONFIG_HOME": str(folder),
    }
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment) as process:
        try:
            wait_for(port)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def wait_for(port: int) -> None:
    until = time.monotonic() + STARTED
    while time.monotonic() < until:
        try:
            with socket() as probe:
                probe.connect(("127.0.0.1", port))
                return
        except OSError:
            time.sleep(0.2)
    raise SystemExit("the gateway does not start")


def extract(given: Body) -> Body:
    if given["dialect"] != "auto" or given.get("starts_in_reasoning") or given.get("policy", "balanced") != "balanced":
        raise UnsupportedError  # a gateway is not told how the next reply is written
    Upstream.text, Upstream.cut = given["text"], given["cut"] or 7
    if not given["tools"]:
        raise UnsupportedError  # a request without tools never gives a call
    body = {"model": "m", "messages": given["messages"] or [{"role": "user", "content": "Go on."}], "tools": given["tools"]}
    if IS_OLLAMA:
        body["messages"] = [ollama_message(message) for message in body["messages"]]
    connection = http.client.HTTPConnection(urlsplit(ADDRESS).netloc, timeout=60)
    headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
    path = "/api/chat" if IS_OLLAMA else "/v1/chat/completions"
    connection.request("POST", path, json.dumps(body | {"stream": bool(given["cut"])}), headers)
    answer = connection.getresponse()
    data = answer.read().decode()
    connection.close()
    if answer.status != 200:
        return {"error": f"HTTP {answer.status}: {data[:200]}"}
    if IS_OLLAMA:
        message = folded_lines(data)
    else:
        message = folded(data) if given["cut"] else json.loads(data)["choices"][0]["message"]
    functions = [call["function"] for call in message.get("tool_calls") or ()]
    calls = [{"name": one["name"], "arguments": as_object(one["arguments"])} for one in functions]
    return {"calls": calls, "text": message.get("content") or ""}


def as_object(arguments: object) -> object:
    return json.loads(arguments) if isinstance(arguments, str) else arguments


def ollama_message(message: Body) -> Body:
    """A Chat message as Ollama has it: content is a string, and arguments are objects."""
    content, calls = message.get("content") or "", [call["function"] for call in message.get("tool_calls") or ()]
    text = content if isinstance(content, str) else "".join(part["text"] for part in content)
    found = {key: value for key, value in message.items() if key != "tool_calls"} | {"content": text}
    if calls:
        named = [{"name": one["name"], "arguments": as_object(one["arguments"])} for one in calls]
        found["tool_calls"] = [{"function": one} for one in named]
    return found


def folded_lines(data: str) -> Body:
    """Of Ollama: the only line of a whole response, or the lines of a stream."""
    messages = [json.loads(line)["message"] for line in data.split("\n") if line]
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    return {"content": "".join(message.get("content") or "" for message in messages), "tool_calls": calls}


def folded(stream: str) -> Body:
    text, calls = "", dict[int, Body]()
    for line in stream.split("\n"):
        for choice in json.loads(line[6:])["choices"] if line.startswith("data: {") else ():
            text += choice["delta"].get("content") or ""
            for part in choice["delta"].get("tool_calls") or ():
                call = calls.setdefault(part["index"], {"name": "", "arguments": ""})
                call["name"] += part["function"].get("name") or ""
                call["arguments"] += part["function"].get("arguments") or ""
    return {"content": text, "tool_calls": [{"function": calls[at]} for at in sorted(calls)]}


def about(_: Body) -> Body:
    return {"name": f"{NAME} gateway", "version": "unknown" if NAME.startswith("http") else version(NAME)}


IS_OLLAMA = sys.argv[-1] == "ollama"
NAME, PORT = [*(word for word in sys.argv[1:] if word != "ollama"), "0"][:2]
server = ThreadingHTTPServer(("127.0.0.1", int(PORT)), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
with ExitStack() as stack:
    ADDRESS = NAME
    if not NAME.startswith("http"):
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ADDRESS = stack.enter_context(gateway(NAME, f"http://127.0.0.1:{server.server_port}/v1", scratch))
    serve({"about": about, "extract": extract})
