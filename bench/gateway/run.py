"""What the gateway costs: direct, a bare pass-through, toolglot with its guard on, and other gateways, in one run.

python bench/gateway/run.py [--quick] [--no-others] [--json] [--check] [--write]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import figures
import replies
import servers
from servers import OUT, Load, Server

sys.path.insert(0, str(servers.HERE.parent))
import essence
from toolglot.speed import conversation

AT_ONCE = (1, 16, 64)
STREAMS_AT_ONCE = 16
PAUSE_US = 5000  # between two events of a stream: each comes alone, as a model's do


@dataclass(frozen=True)
class Pair:
    """A client's wire and an upstream's."""

    wire: str
    model: str

    @property
    def name(self) -> str:
        there = replies.CHAT if self.model == replies.TO_CHAT else replies.ANTHROPIC
        return f"{self.wire} > {there}"


PAIRS = (
    Pair(replies.CHAT, replies.TO_CHAT),
    Pair(replies.CHAT, replies.TO_ANTHROPIC),
    Pair(replies.ANTHROPIC, replies.TO_CHAT),
)


def check_meaning(pair: Pair, body: str, *, stream: bool) -> None:
    """A server that answers fast and wrong wins nothing: the text and both calls must have come."""
    if stream:
        found = essence.of_stream(pair.wire, body.encode())
        text, calls = found["text"], found["calls"]
    elif pair.wire == replies.CHAT:
        message = essence.of_chat_reply(body.encode())["message"]
        text, calls = message["text"], [(name, arguments) for _, name, arguments in message["calls"]]
    else:
        blocks = json.loads(body)["content"]
        text = "".join(block["text"] for block in blocks if block["type"] == "text")
        calls = [(block["name"], block["input"]) for block in blocks if block["type"] == "tool_use"]
    if text != conversation.REPLY_TEXT or calls != conversation.REPLY_CALLS:
        raise AssertionError(f"{pair.name}: not the model's reply:\n{body[:2000]}")


class Measuring:
    def __init__(self, load: Load, seconds: float) -> None:
        self._load, self._seconds = load, seconds
        self._bodies: dict[tuple[Pair, bool], str] = {}
        for pair in PAIRS:
            for stream in (False, True):
                file = OUT / f"{pair.wire}-{pair.model}-{stream}.json"
                file.write_bytes(replies.request(pair.wire, pair.model, stream=stream))
                self._bodies[pair, stream] = str(file)

    def ask(self, server: Server, pair: Pair, at_once: int, seconds: float, *, stream: bool) -> dict[str, Any]:
        """One burst: what the clients saw, and what the server spent on it."""
        before = server.cpu()
        target = {"port": server.port, "path": replies.PATHS[pair.wire], "body": self._bodies[pair, stream]}
        target["header"] = server.headers.get(pair.model, "")
        result = self._load(**target, at_once=at_once, seconds=seconds)
        cpu = server.cpu() - before
        chunks = replies.chunks_of(pair.model) if stream else 1
        return {**result, "cpu_us": cpu / result["requests"] * 1e6, "chunk_us": cpu / result["requests"] / chunks * 1e6}

    def warm(self, server: Server, pair: Pair, *, stream: bool) -> None:
        result = self.ask(server, pair, 4, 0.5, stream=stream)
        if server.name not in {"direct", "floor"} or pair is PAIRS[0]:
            check_meaning(pair, result["body"], stream=stream)

    def round(self, server: Server, pair: Pair, *, streams: bool) -> dict[str, float]:
        found: dict[str, float] = {}
        for at_once in AT_ONCE:
            result = self.ask(server, pair, at_once, self._seconds, stream=False)
            found |= {f"cpu_us@{at_once}": result["cpu_us"], f"per_second@{at_once}": result["per_second"]}
            found |= {f"p50@{at_once}": result["p50"], f"p99@{at_once}": result["p99"]}
        if streams:
            result = self.ask(server, pair, STREAMS_AT_ONCE, self._seconds, stream=True)
            found |= {"chunk_us": result["chunk_us"], "first": result["first"]}
        found["memory"] = server.memory()
        return found


def best(rounds: list[dict[str, float]]) -> dict[str, float]:
    """The least of the rounds, for what a busy machine adds is not the server's; the most of memory and requests a second."""
    return {key: (max if key.startswith(("per_second", "memory")) else min)(one[key] for one in rounds) for key in rounds[0]}


def measured(rounds: int, seconds: float, *, with_others: bool) -> dict[str, Any]:
    with ExitStack() as stack:
        core, other = servers.cores()
        behind = servers.upstream(stack, replies.upstream_files(OUT), other, PAUSE_US)
        load = Load(stack, other)
        here = [behind, servers.floor(stack, behind, core), servers.toolglot(stack, behind, core)]
        ours = len(here)
        missing: list[str] = []
        for start in servers.OTHERS if with_others else ():
            try:
                here.append(start(stack, behind, core))
            except (OSError, RuntimeError, subprocess.SubprocessError) as error:
                missing.append(f"{start.__name__}: {error}")
        measuring = Measuring(load, seconds)
        able: dict[tuple[str, Pair], bool] = {}  # whether it streams, too
        for at, server in enumerate(here):
            for pair in PAIRS if server.name not in {"direct", "floor"} else PAIRS[:1]:
                for stream in (False, True):
                    try:
                        measuring.warm(server, pair, stream=stream)
                    except (AssertionError, RuntimeError, LookupError, ValueError) as error:
                        if at < ours:
                            raise
                        missing.append(f"{server.name}, {pair.name}{', streamed' if stream else ''}: {_line(error)}")
                        break
                    able[server.name, pair] = stream
        taken: dict[tuple[str, str], list[dict[str, float]]] = {}
        for turn in range(rounds):
            print(f"round {turn + 1} of {rounds} ...", file=sys.stderr, flush=True)
            for server in here[:ours] if turn else here:  # one is enough to see a difference of the others' size
                for pair in PAIRS:
                    if (streams := able.get((server.name, pair))) is not None:
                        taken.setdefault((server.name, pair.name), []).append(measuring.round(server, pair, streams=streams))
        starts = {server.name: server.start for server in here[1:]}
        versions = {server.name: server.version for server in here if server.version}
        rows = [{"server": name, "pair": pair, **best(runs)} for (name, pair), runs in taken.items()]
    machine = {"python": platform.python_version(), "machine": platform.machine(), "load": os.getloadavg()}
    return {**machine, "starts": starts, "versions": versions, "missing": missing, "rows": rows}


def _line(error: Exception) -> str:
    """The end of a body of an error, or the first line."""
    lines = [line for line in str(error).splitlines() if line]
    return lines[-1][-200:] if "HTTP/1.1" in lines[0] else lines[0][:200]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="one short round: rough figures")
    options.add_argument("--no-others", action="store_true", help="neither install nor measure other gateways")
    options.add_argument("--json", action="store_true", help="print the results as JSON")
    options.add_argument("--check", action="store_true", help="exit code 1 where a target is missed")
    options.add_argument("--write", action="store_true", help="the table and the plot of the docs (needs matplotlib)")
    asked = options.parse_args()
    results = measured(*((1, 0.7) if asked.quick else (5, 1.5)), with_others=not asked.no_others)
    results["targets"] = [{"target": sentence, "met": met} for sentence, met in figures.verdicts(results)]
    (OUT / "gateway.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    print(json.dumps(results, indent=1) if asked.json else figures.report(results))
    if asked.write:
        figures.write(results)
    return 1 if asked.check and not all(target["met"] for target in results["targets"]) else 0


if __name__ == "__main__":
    sys.exit(main())
