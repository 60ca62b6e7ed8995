"""Concurrent streams: is one lost, doubled, mixed up or refused, and does a chunk cost the same however many there are?

python bench/gateway/streams.py [--at-once 1 64 512 2000] [--write]

Every stream holds numbered words and a tag of its own request, and must arrive word by word. The chunks of all streams together
come at the same rate, so that the figures compare streams and not load.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import resource
import sys
import time
from contextlib import ExitStack

import figures
import replies
import servers
import uvloop
from servers import OUT, Server
from soak import KINDS, CutError, Exchange, WrongError

CHUNKS_A_SECOND = 2500
SHORTEST_US = 5000  # between two chunks of a stream
FEWEST = 64  # streams, one after another if fewer are asked for at once: what a request costs is shared by their chunks
FLAT = 1.35  # times the cost of a chunk with the fewest streams; 1 stream has no company in a read or a write
WAIT = 600.0  # seconds for one stream
LIMITS = "max_concurrent = 4096\nclient_timeout = 600\nidle_timeout = 600\nfirst_byte_timeout = 600\n"
ROUTES = '[[route]]\nmodel = "chat/*"\nto = "chat/*"\n[[route]]\nmodel = "anthropic/*"\nto = "anthropic/*"\n'
CHUNKS = replies.SOAK_WORDS + 2  # and the call, and the end


async def stream(server: Server, number: int, kind: str = "stream") -> str | None:
    exchange = Exchange(next(one for one in KINDS if one.name == kind), server.port, number)
    try:
        async with asyncio.timeout(WAIT):
            await exchange.run()
    except (CutError, WrongError, OSError, TimeoutError) as error:
        return f"{type(error).__name__}: {error}"
    return None


async def run(server: Server, at_once: int, pause_us: int) -> list[str | None]:
    """The streams start within one pause, as those of independent clients do."""
    outcomes: list[str | None] = []
    for first in range(0, max(at_once, FEWEST), at_once):

        async def one(number: int) -> str | None:
            await asyncio.sleep(random.uniform(0, pause_us / 1e6 + at_once / 500))
            return await stream(server, number)

        outcomes += await asyncio.gather(*(one(first + at) for at in range(at_once)))
    return outcomes


def measured(at_once: int) -> dict[str, float]:
    pause_us = max(SHORTEST_US, at_once * 1_000_000 // CHUNKS_A_SECOND)
    with ExitStack() as stack:
        behind = servers.upstream(stack, replies.soak_files(OUT / "streams"), None, pause_us)
        server = servers.toolglot(stack, behind, None, LIMITS, ROUTES)
        uvloop.run(stream(server, 0, "whole"))  # warm
        cpu, memory, began = server.cpu(), server.memory(), time.monotonic()
        outcomes = uvloop.run(run(server, at_once, pause_us))
        seconds = time.monotonic() - began
        wrong = [outcome for outcome in outcomes if outcome is not None]
        for outcome in wrong[:3]:
            print(f"  wrong: {outcome[:300]}", flush=True)
        return {
            "at_once": at_once,
            "streams": len(outcomes),
            "wrong": len(wrong),
            "chunk_us": (server.cpu() - cpu) / len(outcomes) / CHUNKS * 1e6,
            "memory": server.memory(),
            "grown": server.memory() - memory,
            "seconds": seconds,
        }


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--at-once", type=int, nargs="+", default=[1, 64, 512, 2000])
    options.add_argument("--write", action="store_true", help="the table, into the docs")
    chosen = options.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # the gateway raises its own
    lines = ["| streams at once | complete | wrong | CPU us a chunk | MB |", "| --: | --: | --: | --: | --: |"]
    rows = []
    for at_once in chosen.at_once:
        row = measured(at_once)
        rows.append(row)
        good = row["streams"] - row["wrong"]
        lines.append(f"| {at_once:,} | {good:,.0f} | {row['wrong']:.0f} | {row['chunk_us']:.0f} | {row['memory']:.0f} |")
        print(f"{lines[-1]}  {row['seconds']:.0f} s, {row['grown']:.0f} MB more", flush=True)
    if chosen.write:
        figures.put("streams", "\n".join(lines))
    flat = max(row["chunk_us"] for row in rows) <= FLAT * rows[0]["chunk_us"]
    print("good: " if flat else "WRONG:", "the cost of a chunk is flat")
    return 0 if flat and not any(row["wrong"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
