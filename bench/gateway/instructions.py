"""What the gateway costs in instructions, which a busy machine does not change: the floor and toolglot under callgrind.

    python bench/gateway/instructions.py [--requests N] [--streams N] [--first]

Counted around some requests in a row on one connection, then around some streams, of which each chunk comes alone; start and
warm-up are not counted. What the server does without a request is counted before, and subtracted by its seconds: it would be
more on a busy machine. With `--first`, streams have a single word: that is the work before the first byte. An instruction is
not a cycle: ratios to the floor differ a little from those of CPU time. It needs valgrind.
"""

from __future__ import annotations

import argparse
import http.client
import re
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import replies
import servers
from servers import OUT, Server

import payloads
from run import PAIRS, Pair, check_meaning
from toolglot.speed import as_chat

PAUSE_US = 30_000  # between two events: under valgrind a chunk takes some milliseconds
_WARM = 8
_IDLE = 5.0  # seconds
_TOTAL = re.compile(r"^totals: (\d+)", re.MULTILINE)


def first_files() -> list[str]:
    """Streams that end after their first word."""
    files = replies.upstream_files(OUT / "first")
    chat, anthropic = as_chat.chat_stream(), payloads.anthropic_stream()
    Path(files[1]).write_bytes(b"".join([*chat[:2], *chat[-3:]]))
    Path(files[3]).write_bytes(
        b"".join([*anthropic[:3], next(one for one in anthropic if b"content_block_stop" in one), *anthropic[-2:]])
    )
    return files


class Counted:
    """A server under callgrind."""

    def __init__(self, stack: ExitStack, name: str, behind: Server) -> None:
        self.name, self._out, self._dumps = name, OUT / f"callgrind-{name}", 0
        for old in OUT.glob(f"callgrind-{name}*"):
            old.unlink()
        valgrind = ("valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={self._out}")
        self._server = (servers.floor if name == "floor" else servers.toolglot)(stack, behind, None, under=valgrind)
        counted, seconds = self._counted(lambda: time.sleep(_IDLE))
        self._idle = counted / seconds

    def ask(self, pair: Pair, *, stream: bool, number: int, checked: bool) -> None:
        """One request after another, on one connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=120)
        body = replies.request(pair.wire, pair.model, stream=stream)
        for _ in range(number):
            connection.request("POST", replies.PATHS[pair.wire], body, {"content-type": "application/json"})
            got = connection.getresponse().read().decode()
            if checked and self.name != "floor":
                check_meaning(pair, got, stream=stream)
        connection.close()

    def count(self, pair: Pair, *, stream: bool, number: int, checked: bool = True) -> float:
        """Instructions for one of these requests."""
        self.ask(pair, stream=stream, number=2 if stream and checked else _WARM, checked=checked)
        counted, seconds = self._counted(lambda: self.ask(pair, stream=stream, number=number, checked=checked))
        return (counted - self._idle * seconds) / number

    def _counted(self, work: Callable[[], None]) -> tuple[int, float]:
        """Instructions, and the seconds in which they were counted: from one control to the other, each with its pause."""
        self._control("-i", "on")
        begun = time.monotonic()
        work()
        self._control("-i", "off")
        seconds = time.monotonic() - begun
        self._control("-d")
        self._dumps += 1
        found = _TOTAL.search(Path(f"{self._out}.{self._dumps}").read_text(encoding="utf-8"))
        assert found is not None
        return int(found[1]), seconds

    def _control(self, *what: str) -> None:
        process = str(self._server.process.pid)
        subprocess.run(["callgrind_control", *what, process], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=30)
    parser.add_argument("--streams", type=int, default=3)
    parser.add_argument("--first", action="store_true", help="streams of one word: what is done before the first byte")
    asked = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    columns = ("M a stream", "x floor") if asked.first else ("M a request", "x floor", "k a chunk", "x floor")
    print(f"{'server':10}{'wires':30}{''.join(f'{column:>12}' for column in columns)}")
    with ExitStack() as stack:
        behind = servers.upstream(stack, first_files() if asked.first else replies.upstream_files(OUT), None, PAUSE_US)
        least: list[float] = []
        for name, pairs in (("floor", PAIRS[:1]), ("toolglot", PAIRS)):
            server = Counted(stack, name, behind)
            for pair in pairs:
                if asked.first:
                    found = [server.count(pair, stream=True, number=asked.requests, checked=False) / 1e6]
                else:
                    chunk = server.count(pair, stream=True, number=asked.streams) / replies.chunks_of(pair.model)
                    found = [server.count(pair, stream=False, number=asked.requests) / 1e6, chunk / 1e3]
                least = least or found
                cells = "".join(f"{one:12.3f}{one / floor:12.2f}" for one, floor in zip(found, least, strict=True))
                print(f"{name:10}{pair.name:30}{cells}", flush=True)


if __name__ == "__main__":
    main()
