"""End to end: the questions through the gateway over HTTP, of a real llama.cpp that serves the model under a neutral alias.

    python bench/ask/served.py --model qwen2.5-coder-0.5b --half tune --count 60
    python bench/ask/served.py --model qwen2.5-coder-0.5b --half report               # sums alone
    python bench/ask/served.py --model qwen2.5-coder-0.5b --half report --way script  # or grounded: and its twelve lines

The model's file has a neutral name too. llama.cpp's replies are kept by the bytes of the request, so a run that ends is
continued, and a changed way asks only what it asks otherwise. CPU seconds are llama.cpp's own, as they were when it replied.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import script
from halves import questions

from toolglot.client.weights import find_or_fetch
from toolglot.evaluation.questions import Question
from toolglot.evaluation.score import Called, Outcome, score, summary

ROOT = Path(__file__).parents[2]
ALIAS, TURNS, LIMIT = "house", 6, 160
WAYS = ("gateway", "streamed", "script", "grounded")
MEASURES = ("valid", "right_tool", "right_arguments", "final", "false_calls", "right")
Body = dict[str, Any]


class Replies:
    """A proxy to llama.cpp that keeps its replies and the CPU seconds of each."""

    def __init__(self, address: str, process: int, file: Path) -> None:
        self.host, self.process, self.file = urlsplit(address).netloc, process, file
        self.kept: dict[str, Body] = {}
        self.cpu, self.requests, self.new = 0.0, 0, 0
        lines = file.read_text().split("\n") if file.exists() else []
        for line in lines:
            if line.endswith("}"):
                self.kept[json.loads(line)["key"]] = json.loads(line)

    def cpu_now(self) -> float:
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def reply(self, method: str, path: str, body: bytes) -> Body:
        key = hashlib.sha256(path.encode() + b"\n" + body).hexdigest()[:24]
        if method == "POST" and key in self.kept:
            row = self.kept[key]
        else:
            connection, before = http.client.HTTPConnection(self.host, timeout=None), self.cpu_now()
            connection.request(method, path, body, {"content-type": "application/json"})
            answer = connection.getresponse()
            row = {"key": key, "status": answer.status, "type": answer.headers["content-type"], "body": answer.read().decode()}
            row["cpu"] = round(self.cpu_now() - before, 3)
            connection.close()
            if method == "POST":
                self.new += 1
                self.kept[key] = row
                with self.file.open("a") as out:
                    out.write(json.dumps(row) + "\n")
        if method == "POST":
            self.cpu, self.requests = self.cpu + row["cpu"], self.requests + 1
        return row


@contextmanager
def proxied(replies: Replies) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            row = replies.reply(self.command, self.path, self.rfile.read(int(self.headers.get("content-length") or 0)))
            data = row["body"].encode()
            self.send_response(row["status"])
            self.send_header("content-type", row["type"])
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


@contextmanager
def llamacpp(weights: Path, folder: Path) -> Iterator[tuple[str, int]]:
    file = folder / "model.gguf"
    file.symlink_to(weights)
    command = [sys.executable, str(ROOT / "tests" / "llamacpp.py"), str(file), ALIAS, "8192"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.kill()


@contextmanager
def gateway(upstream: str, folder: Path) -> Iterator[str]:
    config = folder / "toolglot.toml"
    config.write_text(
        f'[server]\nport = 0\n[[upstream]]\nname = "home"\nprovider = "llamacpp"\nbase_url = "{upstream}"\n'
        '[[route]]\nmodel = "*"\nto = "home/*"\n'
    )
    command = [sys.executable, "-m", "toolglot.cli.main", "serve", "--config", str(config), "--json"]
    environment = {**os.environ, "TOOLGLOT_REMEMBER": "0", "XDG_CONFIG_HOME": str(folder)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.terminate()


# -- one question


def post(address: str, body: Body) -> tuple[Body, dict[str, str]]:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=None)
    sent = {"model": ALIAS, "temperature": 0, "seed": 7, "max_tokens": LIMIT, **body}
    connection.request("POST", "/v1/chat/completions", json.dumps(sent), {"content-type": "application/json"})
    answer = connection.getresponse()
    data, headers = answer.read(), {name.lower(): value for name, value in answer.getheaders()}
    connection.close()
    if answer.status != 200:
        return {"role": "assistant", "content": f"HTTP {answer.status}: {data[:200]!r}"}, headers
    message: Body = _folded(data.decode()) if sent.get("stream") else json.loads(data)["choices"][0]["message"]
    return message, headers


def _folded(stream: str) -> Body:
    text, calls = "", dict[int, Body]()
    for line in stream.split("\n"):
        if not line.startswith("data: {"):
            continue
        for choice in json.loads(line[6:]).get("choices", []):
            text += choice["delta"].get("content") or ""
            for part in choice["delta"].get("tool_calls") or []:
                call = calls.setdefault(part["index"], {"type": "function", "function": {"name": "", "arguments": ""}})
                call["id"] = part.get("id") or call.get("id")
                call["function"]["name"] += part["function"].get("name") or ""
                call["function"]["arguments"] += part["function"].get("arguments") or ""
    return {"role": "assistant", "content": text} | ({"tool_calls": list(calls.values())} if calls else {})


def by_gateway(question: Question, address: str, *, stream: bool) -> tuple[list[Called], str, list[str]]:
    tools = [
        {
            "type": "function",
            "function": {"name": one.full_name, "description": one.description, "parameters": one.schema or {}},
        }
        for one in question.tools
    ]
    messages: list[Body] = [dict(message) for message in question.messages]
    called: list[Called] = []
    notes: list[str] = []
    for _ in range(TURNS):
        message, headers = post(address, {"messages": messages, "tools": tools, "stream": stream})
        notes.append(headers.get("x-toolglot-decisions", ""))
        calls = message.get("tool_calls") or []
        called += [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls]
        if not calls or question.loop is None:
            return called, message.get("content") or "", notes
        results = [(call["id"], question.result_of(call["function"]["name"])) for call in calls]
        messages = [*messages, message, *({"role": "tool", "tool_call_id": id, "content": result} for id, result in results)]
    return called, "", notes


def by_script(question: Question, address: str, *, grounded: bool) -> tuple[list[Called], str, list[str]]:
    tools = [
        {"name": one.full_name, "description": one.description, "parameters": one.schema or {"type": "object"}}
        for one in question.tools
    ]
    messages: list[Body] = [dict(message) for message in question.messages]
    called: list[Called] = []
    for _ in range(TURNS):
        calls, text = script.ask(messages, tools, lambda body: post(address, body)[0]["content"], grounded=grounded)
        called += [(call["name"], call["arguments"]) for call in calls]
        if not calls or question.loop is None:
            return called, text, []
        results = "\n".join(f"Result of {call['name']}: {question.result_of(call['name'])}" for call in calls)
        messages = [*messages, {"role": "assistant", "content": json.dumps(calls)}, {"role": "user", "content": results}]
    return called, "", []


# -- many


def run(options: argparse.Namespace) -> None:
    options.out.mkdir(parents=True, exist_ok=True)
    asked = [one for one in questions(options.half) if options.kind in ("", one.tags[0])][: options.count]
    scored: list[tuple[Question, Outcome]] = []
    cpu: list[float] = []
    name = f"{options.model}.{options.half}.{options.way}{options.label}"
    done = options.out / f"{name}.jsonl"
    with tempfile.TemporaryDirectory() as scratch, llamacpp(find_or_fetch(options.model), Path(scratch)) as (address, process):
        replies = Replies(address, process, options.out / f"{options.model}.replies.jsonl")
        with proxied(replies) as upstream, gateway(upstream, Path(scratch)) as served, done.open("w") as out:
            for question in asked:
                replies.cpu, replies.requests, begun = 0.0, 0, time.monotonic()
                if options.way in ("gateway", "streamed"):
                    calls, text, notes = by_gateway(question, served, stream=options.way == "streamed")
                else:
                    calls, text, notes = by_script(question, upstream, grounded=options.way == "grounded")
                outcome = score(question, calls, text)
                scored.append((question, outcome))
                cpu.append(replies.cpu)
                row = {"id": question.id, "kind": question.tags[0], "right": outcome.right, "calls": calls, "text": text}
                row |= {"notes": notes, "cpu": round(replies.cpu, 2), "requests": replies.requests}
                out.write(json.dumps(row) + "\n")
                out.flush()
                if time.time() > options.until:
                    break
                shown = "" if options.half == "report" else f"{question.id} {'right' if outcome.right else 'WRONG'} "
                print(f"{len(scored)}/{len(asked)} {shown}{time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    text = report(name, scored, cpu)
    (options.out / f"{name}.txt").write_text(text)
    print(text)


def report(name: str, scored: list[tuple[Question, Outcome]], cpu: list[float]) -> str:
    found = summary(scored)
    lines = [f"{name}: {len(scored)} questions, {sum(cpu) / max(1, len(cpu)):.1f} CPU s a question"]
    lines += [
        f"  {measure:16}{found.overall[measure].hits:4} of {found.overall[measure].of:4}  {found.overall[measure]}"
        for measure in MEASURES
    ]
    for kind in sorted({question.tags[0] for question, _ in scored}):
        rate = found.by_tag[kind]["right"]
        lines.append(f"  right: {kind:9}{rate.hits:4} of {rate.of:4}  {rate}")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    parser.add_argument("--half", choices=("tune", "report"), default="tune")
    parser.add_argument("--way", choices=WAYS, default="gateway")
    parser.add_argument("--count", type=int)
    parser.add_argument("--kind", default="", help="questions of this first tag only")
    parser.add_argument("--label", default="", help="of a variant, in the names of its files")
    parser.add_argument("--until", type=float, default=float("inf"), help="ask nothing after this time, in seconds since 1970")
    parser.add_argument("--out", type=Path, default=ROOT / ".bench" / "served")
    run(parser.parse_args())


if __name__ == "__main__":
    main()
