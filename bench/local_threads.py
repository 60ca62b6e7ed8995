"""How long the embedded model takes with one thread and with all, on a quiet and on a busy machine.

    python bench/local_threads.py [--model smollm2] [--busy 0,1,2] [--rounds 3]

`busy` is how many other processes use a core each. Every figure is a new process: seconds for a prompt of about 230 tokens and
60 generated tokens, without loading. The figures of record are in docs/decisions/0007-embedded-model.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time

from toolglot.client.embedded import Embedded
from toolglot.client.http import HttpTransport

BUSY = "while True: pass"


async def measure(model: str) -> float:
    local = Embedded(HttpTransport())

    async def ask(words: str, tokens: int) -> None:
        body = {"model": model, "messages": [{"role": "user", "content": words}], "max_tokens": tokens, "ignore_eos": True}
        answer = await local.send("POST", "local:/v1/chat/completions", {}, json.dumps(body).encode())
        await answer.read()

    await ask("Hello.", 1)  # loads it
    began = time.perf_counter()
    await ask("Tell me about tools. " * 40, 60)
    spent = time.perf_counter() - began
    await local.aclose()
    return spent


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--busy", default="0,1,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--once", action="store_true")
    options = parser.parse_args()
    if options.once:
        print(f"{asyncio.run(measure(options.model)):.1f}")
        return
    cores = len(os.sched_getaffinity(0))
    for busy in map(int, options.busy.split(",")):
        others = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(busy)]
        try:
            for threads in (1, cores):
                seconds = [once(options.model, threads) for _ in range(options.rounds)]
                print(f"{busy} busy processes, {threads} threads: {', '.join(seconds)} s")
        finally:
            for other in others:
                other.kill()
                other.wait()


def once(model: str, threads: int) -> str:
    command = [sys.executable, __file__, "--once", "--model", model]
    environment = {**os.environ, "TOOLGLOT_LOCAL_THREADS": str(threads)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
