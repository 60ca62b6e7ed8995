"""Attacks on a live gateway, each with its right outcome; prints tried, right, wrong, and the longest stall of the event loop.
Stalls are CPU time of the gateway.

python bench/attack/run.py [--only WORD] [--times N] [--json] [--check]

On a busy machine a stall also has the time that a worker thread runs while the event loop waits for a core. Of several times,
the shortest is the closest to what the code does.

Each module here may define `ATTACKS`: a list of (name, async function). The function gets the gateway (`target.Gateway`), and
returns "right", or a sentence that says what is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import target

HERE = Path(__file__).parent
RIGHT = "right"
LONGEST = 300.0  # seconds for one attack
GOAL_MS = 50.0

Attack = Callable[[target.Gateway], Awaitable[str]]


def attacks(word: str = "") -> list[tuple[str, Attack]]:
    found: list[tuple[str, Attack]] = []
    for path in sorted(HERE.glob("*.py")):
        if path.stem not in {"run", "target", "stall"}:
            listed = getattr(importlib.import_module(path.stem), "ATTACKS", [])
            found += [(f"{path.stem}: {name}", attack) for name, attack in listed]
    return [(name, attack) for name, attack in found if word in name]


async def run_one(attack: Attack, gateway: target.Gateway) -> str:
    gateway.upstream.reply = target.plain
    gateway.upstream.paths.clear()
    try:
        async with asyncio.timeout(LONGEST):
            outcome = await attack(gateway)
    except Exception as error:  # noqa: BLE001  (an attack may break in any way; that is its outcome)
        return f"the attack failed: {type(error).__name__}: {error}"
    gateway.upstream.reply = target.plain
    if gateway.process.poll() is not None:
        return "the gateway died"
    after = await gateway.ask("POST", target.CHAT, target.chat())
    return outcome if after.status == 200 else f"afterwards a plain request gets {after.status}"


async def run(word: str, *, quiet: bool) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    async with target.scripted() as upstream, target.running(upstream) as gateway:
        tool = {"type": "function", "function": {"name": "first", "parameters": {"type": "object"}}}
        for is_stream in (False, True):  # the first requests import and compile more than others, some 80 ms
            await gateway.ask("POST", target.CHAT, target.chat(stream=is_stream, tools=[tool]))
        for name, attack in attacks(word):
            gateway.stall.take()
            memory, began, busy = gateway.memory(), time.perf_counter(), gateway.cpu_seconds()
            outcome = await run_one(attack, gateway)
            row = {
                "attack": name,
                "outcome": outcome,
                "stall_ms": gateway.stall.take(),
                "seconds": round(time.perf_counter() - began, 2),
                "cpu_seconds": round(gateway.cpu_seconds() - busy, 2),
                "memory_mb": round((gateway.memory() - memory) / 1e6, 1),
            }
            rows.append(row)
            if not quiet:
                print(
                    f"{row['stall_ms']:8.1f} ms {row['memory_mb']:7.1f} MB {row['cpu_seconds']:6.2f} s CPU  {name}: {outcome}",
                    flush=True,
                )
    return rows


def least(runs: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Of each attack, the run with the shortest stall; a wrong outcome counts before all others."""
    return [min(rows, key=lambda row: (row["outcome"] == RIGHT, row["stall_ms"])) for rows in zip(*runs, strict=True)]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", default="", metavar="WORD", help="attacks with this in their name")
    options.add_argument("--times", type=int, default=1, metavar="N", help="N new gateways; the shortest stall counts")
    options.add_argument("--json", action="store_true", help="print the results as JSON")
    options.add_argument("--check", action="store_true", help="exit code 1 if an outcome is wrong")
    chosen = options.parse_args()
    runs = [asyncio.run(run(chosen.only, quiet=chosen.json)) for _ in range(chosen.times)]  # each with a new gateway
    rows = least(runs)
    wrong = [row for row in rows if row["outcome"] != RIGHT]
    longest = max(rows, key=lambda row: row["stall_ms"], default=None)
    if chosen.json:
        print(json.dumps(rows, indent=1))
    elif longest is not None:
        stall = f"longest stall {longest['stall_ms']:.0f} ms ({longest['attack']}; goal {GOAL_MS:.0f} ms)"
        print(f"tried {len(rows)}, right {len(rows) - len(wrong)}, wrong {len(wrong)}; {stall}")
    return 1 if chosen.check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
