"""Minutes of mixed requests while the upstream cuts, stalls, fails and hangs, and clients leave. Nothing may leak or be lost.

python bench/gateway/soak.py [--minutes 2] [--at-once 24] [--write]

Every answer holds numbered words and a tag of its own request: a chunk that is lost, doubled, out of order or another
request's is seen. At the end nothing may run any more, neither in the gateway nor between it and the upstream.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import sys
import time
import urllib.request
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import figures
import replies
import servers
import uvloop
from load import body_of
from replies import ANTHROPIC, CHAT
from servers import OUT, Server

PAUSE_US = 2000
HUNG = 20.0  # seconds after which a request counts as hung: far beyond the limits below
SERVER = "first_byte_timeout = 1.5\nidle_timeout = 1.5\nconnect_timeout = 2\nping = 0.5\n"
ROUTES = """\
[[route]]
model = "anthropic/*"
to = "anthropic/*"
[[route]]
model = "chat/*"
to = "chat/*"
"""
GROWTH = 1.05  # of memory, between the second quarter and the last


@dataclass(frozen=True)
class Kind:
    """`model` asks the upstream for a fault; `leaves`: the client goes after so many pieces."""

    name: str
    weight: int
    model: str = "plain"
    stream: bool = True
    status: int = 200
    leaves: int = 0


KINDS = (
    Kind("stream", 40),
    Kind("whole", 25, stream=False),
    Kind("cut", 6, "cut-{n}"),
    Kind("stall", 3, "stall-{n}"),
    Kind("half a reply", 3, "half", stream=False, status=502),
    Kind("closed at once", 2, "close", status=502),
    Kind("500", 4, "fail-500", status=500),
    Kind("429", 4, "fail-429", status=429),
    Kind("hangs", 2, "hang", stream=False, status=504),
    Kind("leaves a stream", 8, leaves=5),
    Kind("leaves a hang", 3, "hang", leaves=-1),
)


@dataclass
class Seen:
    count: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    slowest: float = 0.0


TOOLS = {wire: json.loads(replies.request(wire, "x", stream=False))["tools"] for wire in (CHAT, ANTHROPIC)}


class Exchange:
    def __init__(self, kind: Kind, port: int, number: int) -> None:
        self.kind, self.port = kind, port
        self.wire, self.there = random.choice((CHAT, ANTHROPIC)), random.choice((CHAT, ANTHROPIC))
        self.tag = f"t{number:07d}"
        self.words = random.choice((1, 12, 47, 88))  # that come before a stream breaks off; few, for each makes a model's name

    def request(self) -> bytes:
        messages = [{"role": "user", "content": f"tag:{self.tag} go on"}]
        events = self.words + (2 if self.there == ANTHROPIC else 0)  # two open the message
        model = f"{'anthropic' if self.there == ANTHROPIC else 'chat'}/{self.kind.model.format(n=events)}"
        body: dict[str, Any] = {"model": model, "max_tokens": 500, "messages": messages}
        data = json.dumps({**body, "tools": TOOLS[self.wire], "stream": self.kind.stream}).encode()
        head = f"POST {replies.PATHS[self.wire]} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        return f"{head}Connection: close\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data

    async def run(self) -> str | None:
        """What is wrong with the answer; None: nothing."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(self.request())
            if self.kind.leaves < 0:
                await asyncio.sleep(random.uniform(0, 0.3))
                return None
            if self.kind.leaves:
                for _ in range(self.kind.leaves):
                    await reader.read(200)
                return None
            return self.judged(await reader.read())
        finally:
            writer.transport.abort()

    def judged(self, answer: bytes) -> str | None:
        status = int(answer[9:12] or 0)
        if status != self.kind.status:
            return f"status {status} for {self.kind.status}: {answer[-300:]!r}"
        if status != 200:
            return None
        text, calls, over, error = (heard_stream if self.kind.stream else heard_whole)(self.wire, body_of(answer))
        broken = self.kind.model.startswith(("cut", "stall"))
        wanted = replies.soak_text(self.tag).split()
        if broken:
            if not error:
                return "the stream ended early without an error"
            return None if text.split() == wanted[: self.words] else f"{self.words} words for {text!r}"
        if text.split() != wanted:
            return f"other words: {text!r}"
        if error or not over:
            return f"no proper end: {answer[-200:]!r}"
        if self.kind.stream and [json.loads(call)["title"] for call in calls] != [self.tag]:
            return f"other calls: {calls}"
        return None


# -- what a client receives: the text, the calls' arguments, whether it ended, whether it got an error

Heard = tuple[str, list[str], bool, bool]


def heard_whole(wire: str, body: bytes) -> Heard:
    body_json = json.loads(body)
    if wire == CHAT:
        choice = body_json["choices"][0]
        return choice["message"]["content"], [], choice["finish_reason"] == "stop", False
    return "".join(block["text"] for block in body_json["content"]), [], body_json["stop_reason"] == "end_turn", False


def heard_stream(wire: str, body: bytes) -> Heard:
    text, calls, over, error = "", list[str](), False, False
    for line in body.split(b"\n"):
        if not line.startswith(b"data: "):
            continue
        if line == b"data: [DONE]":
            over = True
            continue
        body_json = json.loads(line[6:])
        error = error or "error" in body_json
        if wire == CHAT:
            for choice in body_json.get("choices", ()):
                text += choice["delta"].get("content") or ""
                calls += [call["function"]["arguments"] for call in choice["delta"].get("tool_calls", ())]
        elif body_json["type"] == "content_block_delta":
            text += body_json["delta"].get("text", "")
            calls += [body_json["delta"]["partial_json"]] if body_json["delta"].get("partial_json") else []
        else:
            over = over or body_json["type"] == "message_stop"
    return text, ["".join(calls)] if calls else [], over, error


# -- the run


async def soak(server: Server, minutes: float, at_once: int) -> Seen:
    seen = Seen()
    begun = time.monotonic()
    until = begun + minutes * 60
    number = 0

    async def client() -> None:
        nonlocal number
        while time.monotonic() < until:
            kind = random.choices(KINDS, [one.weight for one in KINDS])[0]
            number += 1
            exchange = Exchange(kind, server.port, number)
            start = time.monotonic()
            try:
                wrong = await asyncio.wait_for(exchange.run(), HUNG)
            except TimeoutError:
                wrong = "hung"
            except Exception as error:  # noqa: BLE001  (whatever it is, it is a finding)
                wrong = f"{type(error).__name__}: {error}"
            seen.slowest = max(seen.slowest, time.monotonic() - start)
            seen.count[kind.name] += 1
            if wrong is not None:
                seen.wrong.append(f"{kind.name}, {exchange.wire} > {exchange.there}, {exchange.tag}: {wrong}")

    async def look() -> None:
        while True:
            seen.memory.append(server.memory())
            await asyncio.sleep(1)

    looking = asyncio.create_task(look())
    await asyncio.gather(*(client() for _ in range(at_once)))
    looking.cancel()
    return seen


def state_of(port: int, path: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
        return str(answer.read().decode())


def verdicts(seen: Seen, files: tuple[int, int], behind: dict[str, int], running: str) -> list[tuple[str, bool]]:
    quarter = max(1, len(seen.memory) // 4)
    early, late = statistics.median(seen.memory[quarter : 2 * quarter]), statistics.median(seen.memory[-quarter:])
    hung = sum(wrong.endswith(": hung") for wrong in seen.wrong)
    return [
        (f"no request hung: {hung} did; the slowest took {seen.slowest:.1f} s", not hung),
        (f"no chunk was lost, doubled or another's, every fault was reported: {len(seen.wrong) - hung} wrong", not seen.wrong),
        (f"memory is flat: {early:.1f} MB in the second quarter, {late:.1f} in the last", late <= early * GROWTH),
        (f"no file is left open: {files[0]} before, {files[1]} after", files[1] <= files[0] + 4),
        (
            f"nothing runs on: {running} in the gateway, {behind['streaming']} at the upstream",
            running == "0" and not behind["streaming"],
        ),
    ]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--minutes", type=float, default=2.0)
    options.add_argument("--at-once", type=int, default=24)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--write", action="store_true", help="the result, into the docs")
    asked = options.parse_args()
    random.seed(asked.seed)
    with ExitStack() as stack:
        behind = servers.upstream(stack, replies.soak_files(OUT / "soak"), None, PAUSE_US)
        server = servers.toolglot(stack, behind, None, SERVER, ROUTES)
        before = server.files()
        seen = uvloop.run(soak(server, asked.minutes, asked.at_once))
        time.sleep(3)  # rested connections may stay; what was left must have ended
        metrics = state_of(server.port, "/metrics")
        running = next(line.split()[1] for line in metrics.splitlines() if line.startswith("toolglot_running_requests "))
        state: dict[str, int] = json.loads(state_of(behind.port, "/state"))
        rested = state["open"] - 1  # connections to the upstream that wait for another request; one is this question's
        files = (before, server.files() - rested)
        found = verdicts(seen, files, state, f"{float(running):g}")
    kinds = ", ".join(f"{name} {count:,}" for name, count in seen.count.most_common())
    requests = f"{sum(seen.count.values()):,} requests in {asked.minutes:g} minutes, {asked.at_once} at once: {kinds}"
    asked_behind = f"the upstream was asked {state['asked']:,} times and left early {state['left_early']:,} times"
    if asked.write:
        lines = [requests, asked_behind, *(f"{'good' if well else 'wrong'}: {messages}" for messages, well in found)]
        figures.put("soak", "\n".join(f"- {line}" for line in lines))
    print(f"{requests}\n{asked_behind}\n")
    for messages, well in found:
        print(f"{'good ' if well else 'WRONG'}  {messages}")
    for wrong in seen.wrong[:20]:
        print(f"       {wrong[:500]}")
    return 0 if all(well for _, well in found) else 1


if __name__ == "__main__":
    sys.exit(main())
