"""What one request passes through: functions, files and calls of toolglot for a streamed, rescued request to the gateway.

    python bench/trace.py            # the three figures
    python bench/trace.py --files    # and each file with its functions and calls
    python bench/trace.py --functions    # and each function with its calls and its callers
    python bench/trace.py --ask native   # with native tools: the text is parsed while it streams

The client (Anthropic Messages) and the upstream (OpenAI Chat, a call written in text) run in processes of their own, so that
only the gateway is counted. The third request is traced: the tools are known by then, and two native calls that came as text
have shown that this server needs constrained decoding, unless `--ask` says otherwise.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from types import FrameType

import toolglot
from toolglot.gateway.config import read_config
from toolglot.gateway.server import listen, make_server
from toolglot.gateway.state import Gateway

ROOT = str(Path(toolglot.__file__).parent)
TEXT = 'Let me look.\n<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'
PIECE = 7  # characters of text in a chunk

UPSTREAM = f"""
import http.server, json
TEXT, PIECE = {TEXT!r}, {PIECE}
def chunk(delta, reason=None):
    choice = {{"index": 0, "delta": delta, "finish_reason": reason}}
    body = {{"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}}
    return b"data: " + json.dumps(body).encode() + b"\\n\\n"
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_): pass
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        data = chunk({{"role": "assistant", "content": ""}})
        data += b"".join(chunk({{"content": TEXT[at : at + PIECE]}}) for at in range(0, len(TEXT), PIECE))
        data += chunk({{}}, "stop") + b"data: [DONE]\\n\\n"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
BODY = {
    "model": "m",
    "max_tokens": 100,
    "stream": True,
    "messages": [{"role": "user", "content": "Weather in Paris?"}],
    "tools": [{"name": "get_weather", "description": "The weather in a city", "input_schema": SCHEMA}],
}
CLIENT = """
import sys, urllib.request
request = urllib.request.Request(sys.argv[1] + "/v1/messages", sys.argv[2].encode(), {"content-type": "application/json"})
sys.stdout.buffer.write(urllib.request.urlopen(request).read())
"""


async def ask(url: str) -> bytes:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CLIENT, url, json.dumps(BODY), stdout=asyncio.subprocess.PIPE
    )
    data, _ = await process.communicate()
    assert b'"type":"tool_use"' in data, data
    return data


Function = tuple[str, str]  # file and qualified name


def function(frame: FrameType | None) -> Function | None:
    """The function of toolglot's that runs in this frame, or the one that called it."""
    while frame is not None and not frame.f_code.co_filename.startswith(ROOT):
        frame = frame.f_back
    return (frame.f_code.co_filename[len(ROOT) + 1 :], frame.f_code.co_qualname) if frame is not None else None


async def trace(upstream: str, ask_for: str) -> tuple[Counter[Function], dict[Function, Counter[Function | None]]]:
    """How often each function ran, and which called it."""
    upstream_rows = f'[[upstream]]\nname = "up"\nprovider = "vllm"\nbase_url = "{upstream}"\n'
    rows = f'{upstream_rows}[[route]]\nmodel = "*"\nto = "up/*"\nask = "{ask_for}"\n'
    config = read_config(f"[server]\nport = 0\ndetect = false\n{rows}")
    seen: Counter[Function] = Counter()
    callers: defaultdict[Function, Counter[Function | None]] = defaultdict(Counter)

    def profile(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(ROOT):
            this = code.co_filename[len(ROOT) + 1 :], code.co_qualname
            seen[this] += 1
            callers[this][function(frame.f_back)] += 1

    server = make_server(Gateway(config))
    socket = listen("127.0.0.1", 0)
    serving = asyncio.create_task(server.serve([socket]))
    while not server.started:
        await asyncio.sleep(0.05)
    url = f"http://127.0.0.1:{socket.getsockname()[1]}"
    await ask(url)
    await ask(url)
    sys.setprofile(profile)
    await ask(url)
    sys.setprofile(None)
    server.should_exit = True
    await serving
    return seen, callers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true", help="each file with its functions and calls")
    parser.add_argument("--functions", action="store_true", help="each function with its calls and its callers")
    parser.add_argument("--ask", default="auto", help="how the model is asked: auto, native, dialect:<name>, constrained")
    options = parser.parse_args()
    with subprocess.Popen([sys.executable, "-c", UPSTREAM], stdout=subprocess.PIPE, text=True) as upstream:
        try:
            assert upstream.stdout is not None
            seen, callers = asyncio.run(trace(f"http://127.0.0.1:{int(upstream.stdout.readline())}/v1", options.ask))
        finally:
            upstream.terminate()
    files = sorted({file for file, _ in seen})
    print(f"{len(seen)} functions in {len(files)} files, {seen.total()} calls")
    for file in files if options.files else ():
        own = {name: count for (where, name), count in seen.items() if where == file}
        print(f"  {file:45} {len(own):4} functions {sum(own.values()):5} calls")
    for one in sorted(seen) if options.functions else ():
        by = ", ".join(caller[1] if caller else "the event loop" for caller in callers[one])
        print(f"  {seen[one]:4} {one[0]} {one[1]}  <- {by}")


if __name__ == "__main__":
    main()
