"""The costs that `run.py` does not show: starting, memory, workers, rescued calls, new tools, a large tool result.

    python bench/gateway/costs.py [start memory workers rescue tools result] [--write]

CPU is that of the server process in all its threads, user and system, by the scheduler's own count in nanoseconds; of two
workers, that of master and workers. Compared cases take turns in small groups of requests, in one run; medians are given.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import figures
import replies
import servers
from servers import OUT, Server

from toolglot.speed import as_chat

Body = dict[str, Any]
ROUNDS = 15
NAME = "edit_file"
ARGUMENTS = {"path": "src/a.py", "edits": [{"old": "x = 1\n" * 20, "new": "x = 2\n" * 20}], "reason": "asked"}
ROUTE = '[[route]]\nmodel = "chat/*"\nto = "chat/*"\n'
TEXT = "I look at the file first, then change the two lines, and run the checks. "


def family(process: int) -> Iterator[int]:
    """The process and those that it started."""
    yield process
    for thread in Path(f"/proc/{process}/task").iterdir():
        for child in (thread / "children").read_text(encoding="ascii").split():
            yield from family(int(child))


def cpu(server: Server) -> float:
    """Microseconds of CPU, of all threads that live."""
    files = (file for process in family(server.process.pid) for file in Path(f"/proc/{process}/task").glob("*/schedstat"))
    return sum(int(file.read_text(encoding="ascii").split()[0]) for file in files) / 1e3


class Client:
    """Requests in a row on one connection."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)

    def ask(self, body: bytes) -> bytes:
        self._connection.request("POST", replies.PATHS[replies.CHAT], body, {"content-type": "application/json"})
        response = self._connection.getresponse()
        data = response.read()
        if response.status != 200:
            raise RuntimeError(data[:500].decode(errors="replace"))
        return data

    def cost(self, bodies: list[bytes]) -> float:
        """Microseconds of CPU for one of them."""
        before = cpu(self._server)
        for body in bodies:
            self.ask(body)
        return (cpu(self._server) - before) / len(bodies)


def in_turn(cases: dict[str, Callable[[], float]], rounds: int = ROUNDS) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in cases}
    for turn in range(rounds + 1):  # the first warms up
        for name, case in cases.items():
            value = case()
            if turn:
                taken[name].append(value)
    return {name: median(values) for name, values in taken.items()}


def request(**changes: Any) -> bytes:
    body = json.loads(replies.request(replies.CHAT, replies.TO_CHAT, stream=False))
    return as_chat.compact({**body, **changes}).encode()


# -- the rows

_LINES: list[str] = []


def say(line: str) -> None:
    print(line, flush=True)
    _LINES.append(f"- {line}")


def start() -> None:
    """CPU until `/healthz` answers, and that of importing the client; Python itself is in both."""

    def serve() -> float:
        with ExitStack() as stack:
            behind = servers.upstream(stack, replies.upstream_files(OUT), None, 0)
            return cpu(servers.toolglot(stack, behind, None)) / 1e3

    def run(code: str) -> float:
        before = os.times()
        subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": str(servers.ROOT / "src")})
        after = os.times()
        return (after.children_user + after.children_system - before.children_user - before.children_system) * 1e3

    codes = {"python": "pass", "import AsyncClient": "from toolglot import AsyncClient"}
    found = in_turn({"serve": serve, **{name: lambda code=code: run(code) for name, code in codes.items()}}, 7)
    for name, value in found.items():
        say(f"start: {name}: {value:.0f} ms of CPU")


def memory() -> None:
    """Of a server that has answered some requests, and what streams add that wait for their next chunk."""
    with ExitStack() as stack:
        behind = servers.upstream(stack, replies.upstream_files(OUT), None, 0)
        server = servers.toolglot(stack, behind, None, "max_concurrent = 4096\n", ROUTE)
        say(f"memory: {server.memory():.1f} MB when it listens")
        client, body = Client(server), request()
        for _ in range(50):
            client.ask(body)
        say(f"memory: {server.memory():.1f} MB after 50 requests")
        say(
            f"memory: an idle stream of 22 KB with 20 tools: {_idle(server, request(model='chat/stall-2', stream=True)):.1f} KB"
        )


def _idle(server: Server, body: bytes, number: int = 400) -> float:
    """Kilobytes of each of the second group: the first fills what the allocator has ready."""
    head = f"POST {replies.PATHS[replies.CHAT]} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    with ExitStack() as open_ones:
        sizes = []
        for _ in range(2):
            group = [open_ones.enter_context(socket.create_connection(("127.0.0.1", server.port))) for _ in range(number)]
            for one in group:
                one.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            for one in group:
                if not (first := one.recv(65536)).startswith(b"HTTP/1.1 200"):
                    raise RuntimeError(first[:500].decode(errors="replace"))
            time.sleep(0.5)
            sizes.append(server.memory())
    return (sizes[1] - sizes[0]) / number * 1e3


def workers() -> None:
    """The CPU of a request with two workers and their master, against one process."""
    with ExitStack() as stack:
        core, other = servers.cores()
        behind = servers.upstream(stack, replies.upstream_files(OUT), other, 0)
        load = servers.Load(stack, other)
        file = OUT / "costs-workers.json"
        file.write_bytes(request())

        def burst(server: Server) -> float:
            before = cpu(server)
            done = load(port=server.port, path=replies.PATHS[replies.CHAT], body=str(file), at_once=16, seconds=0.7)
            return (cpu(server) - before) / done["requests"]

        several = servers.toolglot(stack, behind, None, "workers = 2\n")
        for process in family(several.process.pid):
            if core is not None:
                os.sched_setaffinity(process, {core})
        one = servers.toolglot(stack, behind, core)
        found = in_turn({"one": lambda: burst(one), "two": lambda: burst(several)}, 9)
        ratio = found["two"] / found["one"]
        say(f"workers: {found['one']:.0f} us a request with one, {found['two']:.0f} with two: {ratio:.2f}x")


def _stream(deltas: list[Body], reason: str) -> bytes:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1773309600, "model": as_chat.CHAT_MODEL}
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": reason})
    chunks = [f"data: {as_chat.compact({**head, 'choices': [one]})}\n\n" for one in choices]
    return "".join([*chunks, "data: [DONE]\n\n"]).encode()


def _pieces(text: str, size: int = 4) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def rescue() -> None:
    """A streamed reply with a text and a call: the call native, and printed as text; four characters a chunk."""
    words = [{"content": piece} for piece in _pieces(TEXT)]
    arguments = as_chat.compact(ARGUMENTS)
    first = {"index": 0, "id": "call_1", "type": "function", "function": {"name": NAME, "arguments": ""}}
    native = [{"tool_calls": [first]}]
    native += [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in _pieces(arguments)]
    written = f"<tool_call>\n{as_chat.compact({'name': NAME, 'arguments': ARGUMENTS})}\n</tool_call>"
    texts = {"native": [*words, *native], "rescued": [*words, *({"content": piece} for piece in _pieces(written))]}
    with ExitStack() as stack:
        clients: dict[str, Client] = {}
        for name, deltas in texts.items():
            files = replies.upstream_files(OUT / f"costs-{name}")
            Path(files[1]).write_bytes(_stream(deltas, "tool_calls" if name == "native" else "stop"))
            behind = servers.upstream(stack, files, None, 2000)
            clients[name] = Client(servers.toolglot(stack, behind, None))
        body = request(stream=True)
        for client in clients.values():
            answer = client.ask(body)
            assert b'"tool_calls"' in answer, answer
            assert b"<tool_call>" not in answer, answer
        found = in_turn({name: lambda client=client: client.cost([body] * 3) for name, client in clients.items()}, 9)
    ratio = found["rescued"] / found["native"]
    counts = ", ".join(f"{len(deltas)} chunks {name}" for name, deltas in texts.items())
    say(f"rescue: {found['native'] / 1e3:.2f} ms native, {found['rescued'] / 1e3:.2f} rescued: {ratio:.2f}x ({counts})")


def tools() -> None:
    """The first request with 100 new tools, against the same tools again, and against the floor."""
    known = json.loads(request())["tools"]

    def new() -> bytes:
        tag = os.urandom(3).hex()
        made = []
        for number in range(100):
            tool = json.loads(json.dumps(known[number % len(known)]))
            if number >= len(known):  # the reply calls the others
                tool["function"]["name"] += f"_{number}_{tag}"
            tool["function"]["description"] += f" ({tag})"
            made.append(tool)
        return request(tools=made)

    with ExitStack() as stack:
        behind = servers.upstream(stack, replies.upstream_files(OUT), None, 0)
        ours, floor = Client(servers.toolglot(stack, behind, None)), Client(servers.floor(stack, behind, None))
        bodies: list[bytes] = []

        def first() -> float:
            bodies.append(new())
            return ours.cost([bodies[-1]])

        cases = {"first": first, "again": lambda: ours.cost([bodies[-1]]), "floor": lambda: floor.cost([bodies[-1]])}
        found = in_turn(cases, 25)
        size = len(bodies[-1]) / 1e3
    say(f"tools: 100 new ones, {size:.0f} KB: " + ", ".join(f"{name} {value / 1e3:.2f} ms" for name, value in found.items()))


def result() -> None:
    """A history with a large tool result, per turn: against the floor, and against parsing and writing the body as JSON."""
    import orjson  # noqa: PLC0415

    with ExitStack() as stack:
        behind = servers.upstream(stack, replies.upstream_files(OUT), None, 0)
        ours, floor = Client(servers.toolglot(stack, behind, None)), Client(servers.floor(stack, behind, None))
        for megabytes in (0.25, 0.5, 1, 2):
            found = in_turn(_result_cases(ours, floor, orjson, int(megabytes * 1e6)), 11)
            row = ", ".join(f"{name} {value / 1e3:.2f} ms" for name, value in found.items())
            say(f"result: {megabytes} MB: {row}: {found['turn'] / found['floor']:.2f}x the floor")


def _result_cases(ours: Client, floor: Client, orjson: Any, size: int) -> dict[str, Callable[[], float]]:
    body = json.loads(request())
    source = "".join(file.read_text(encoding="utf-8") for file in sorted((servers.ROOT / "src" / "toolglot").rglob("*.py")))
    call = {"id": "call_big", "type": "function", "function": {"name": "read_file", "arguments": '{"path":"a"}'}}
    body["messages"] += [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_big", "content": os.urandom(4).hex() + source[:size]},
    ]
    current = [b""]

    def turn() -> float:
        body["messages"].append({"role": "assistant", "content": "Then."})
        body["messages"].append({"role": "user", "content": f"Go on, {time.time_ns()}."})
        current[0] = as_chat.compact(body).encode()
        return ours.cost([current[0]])

    def parse() -> float:
        before = time.thread_time_ns()
        orjson.dumps(orjson.loads(current[0]))
        return (time.thread_time_ns() - before) / 1e3

    return {"turn": turn, "floor": lambda: floor.cost([current[0]]), "parse and write": parse}


ROWS = {"start": start, "memory": memory, "workers": workers, "rescue": rescue, "tools": tools, "result": result}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", help=f"of: {', '.join(ROWS)}; default: all")
    parser.add_argument("--write", action="store_true", help="the results, into the docs")
    asked = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    for name in asked.rows or ROWS:
        ROWS[name]()
    if asked.write:
        figures.put("costs", "\n".join(_LINES))


if __name__ == "__main__":
    main()
