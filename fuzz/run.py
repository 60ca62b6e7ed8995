"""Fuzzes the five targets with a corpus that is kept. `python -m fuzz.run --help`.

python -m fuzz.run -n 100000          # so many inputs; 0: until Ctrl-C
python -m fuzz.run FILE               # one finding again
"""

from __future__ import annotations

import argparse
import hashlib
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import msgspec

from fuzz.mutate import tokens
from fuzz.targets import REPOSITORY, TARGETS, Options

_SECONDS = 10.0  # CPU time of one input; most take a thousandth
_MAX_CORPUS = 20_000  # inputs kept of a target
_MAX_FINDINGS = 25  # of one kind


class HangError(Exception):
    """An input took too long."""


def _stop(signum: int, frame: FrameType | None) -> None:
    raise HangError(f"more than {_SECONDS:g} s of CPU time")


class Fuzzer:
    """One target: its inputs, what it has seen, and its findings."""

    def __init__(self, name: str, folder: Path, chance: Random) -> None:
        self.name = name
        self.target = TARGETS[name]
        self.corpus, self.findings = folder / "corpus" / name, folder / "findings"
        self.chance = chance
        self.inputs = list(self.target.seeds())
        self.words = tokens(data for _, data in self.inputs)
        self.ran = self.found = 0
        self.seconds = 0.0
        self.seen: set[Any] = set()
        self.kinds: Counter[str] = Counter()

    def load(self) -> None:
        for path in sorted(self.corpus.glob("*")):
            self.inputs.append(read_input(path)[1:])
        for options, data in list(self.inputs):  # kept inputs run first: they find regressions
            self.one(options, data, is_new=False)

    def round(self) -> None:
        options, data = self.chance.choice(self.inputs)
        other = self.chance.choice(self.inputs)[1]
        options = self.target.vary(options, self.chance)
        if self.chance.random() < 0.95:
            data = self.target.mutate(options)(data, other, self.words, self.chance)
        self.one(options, data)

    def one(self, options: Options, data: bytes, *, is_new: bool = True) -> None:
        self.ran += 1
        before = time.process_time()
        try:
            seen = check(self.name, options, data)
        except Exception as error:
            self.report(error, options, data)
            return
        finally:
            self.seconds += time.process_time() - before
        if seen is not None and seen not in self.seen:
            self.seen.add(seen)
            if is_new and len(self.inputs) < _MAX_CORPUS:
                self.inputs.append((options, data))
                write_input(self.corpus, self.name, options, data)

    def report(self, error: Exception, options: Options, data: bytes) -> None:
        kind = f"{type(error).__name__} {str(error).splitlines()[0] if str(error) else ''} {_place(error)}"
        self.found += 1
        self.kinds[kind] += 1
        if self.kinds[kind] <= _MAX_FINDINGS:
            path = write_input(self.findings, self.name, options, data)
            if self.kinds[kind] == 1:
                print(f"{self.name}: {kind}\n  python -m fuzz.run {path}", flush=True)


def _place(error: Exception) -> str:
    """The last line of ours: one fault is one kind."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "toolglot" in frame.filename]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""


def check(name: str, options: Options, data: bytes) -> Any:
    signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
    try:
        return TARGETS[name].check(options, data)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def write_input(folder: Path, name: str, options: Options, data: bytes) -> Path:
    """One line of JSON, then the bytes as they are."""
    content = msgspec.json.encode({"target": name, **options}) + b"\n" + data
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / hashlib.sha256(content).hexdigest()[:16]
    path.write_bytes(content)
    return path


def read_input(path: Path) -> tuple[str, Options, bytes]:
    head, _, data = path.read_bytes().partition(b"\n")
    options = msgspec.json.decode(head)
    return options.pop("target"), options, data


def add_to_total(folder: Path, counts: dict[str, int]) -> dict[str, int]:
    """Adds to the counter beside the corpus: the inputs of all runs."""
    path = folder / "total.json"
    total: dict[str, int] = msgspec.json.decode(path.read_bytes()) if path.exists() else {}
    total = {name: total.get(name, 0) + count for name, count in counts.items()}
    folder.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.encode(total))
    return total


def fuzz(folder: Path, names: list[str], count: int, seed: int) -> int:
    chance = Random(seed)
    fuzzers = [Fuzzer(name, folder, chance) for name in names]
    counted = dict.fromkeys(TARGETS, 0)

    def save() -> dict[str, int]:
        new = {fuzzer.name: fuzzer.ran - counted[fuzzer.name] for fuzzer in fuzzers}
        counted.update({fuzzer.name: fuzzer.ran for fuzzer in fuzzers})
        return add_to_total(folder, {name: new.get(name, 0) for name in TARGETS})

    ran = 0
    try:
        for fuzzer in fuzzers:
            fuzzer.load()
        ran = sum(fuzzer.ran for fuzzer in fuzzers)
        while not count or ran < count:
            for _ in range(100):
                min(fuzzers, key=lambda fuzzer: fuzzer.seconds).round()  # each gets the same CPU time
            ran += 100
            if ran % 10_000 < 100:
                save()
    except KeyboardInterrupt:
        pass
    total = save()
    for fuzzer in fuzzers:
        print(
            f"{fuzzer.name}: {fuzzer.ran} inputs, {fuzzer.found} broke a law ({len(fuzzer.kinds)} kinds),"
            f" {len(fuzzer.seen)} signatures, {fuzzer.seconds:.0f} s; {total[fuzzer.name]} inputs in all runs"
        )
    print(f"all: {sum(fuzzer.ran for fuzzer in fuzzers)} inputs; {sum(total.values())} in all runs")
    return 1 if any(fuzzer.found for fuzzer in fuzzers) else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzz texts, wires, requests, HTTP bytes and endpoints.")
    parser.add_argument("finding", nargs="?", type=Path, help="run this file only")
    parser.add_argument("-n", "--count", type=int, default=100_000, help="inputs; 0: until Ctrl-C")
    parser.add_argument("--target", choices=TARGETS, action="append", help="default: all five")
    parser.add_argument("--folder", type=Path, default=REPOSITORY / ".fuzz", help="for corpus, findings and counter")
    parser.add_argument("--seed", type=int, default=time.time_ns(), help="of the random choices")
    options = parser.parse_args()
    signal.signal(signal.SIGVTALRM, _stop)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if options.finding is not None:
        name, chosen, data = read_input(options.finding)
        print(name, chosen, data)
        print("fine:", check(name, chosen, data))
        return 0
    return fuzz(options.folder, options.target or list(TARGETS), options.count, options.seed)


if __name__ == "__main__":
    sys.exit(main())
