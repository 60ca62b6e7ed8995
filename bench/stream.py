"""One call with a long string argument, streamed in four-character deltas through `StreamExtractor`: what does a delta cost?

    python bench/stream.py            # every dialect, named and "auto", 1 KB to 1 MB: about five minutes
    python bench/stream.py --quick    # six dialects, 1 KB and 100 KB

Exit code 1 where a target is missed: at most 10 us of CPU a delta at any depth, 1 MB within 1.5x of 1 KB, memory that grows
with the argument and no faster. Progress goes to stderr; the results also to `.bench/stream.json` and the plot.
"""

from __future__ import annotations

import argparse
import gc
import json
import logging
import platform
import sys
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from toolglot.dialects import dialect_names, find_dialect
from toolglot.speed.parsing import content, extract_calls, pieces_of, written
from toolglot.speed.report import table as table_of
from toolglot.speed.timing import REFERENCE_US, calibration

ROOT = Path(__file__).parents[1]
OUT = ROOT / ".bench"
PICTURE = ROOT / "docs" / "assets" / "stream.png"
SIZES = {"1 KB": 1_000, "10 KB": 10_000, "100 KB": 100_000, "1 MB": 1_000_000}
QUICK = ("hermes", "qwen3_coder", "mistral", "gemma4", "pythonic", "fenced_json")
MOST_US = 10.0
MOST_RATIO = 1.5
MOST_GROWTH = 1.5  # of memory per byte, from the shortest argument that is weighed to the longest
# What others take for a delta at 100 KB: the figures of this project's plan, not measured here.
PEERS_US = {"vLLM hermes": 307.0, "vLLM qwen3_coder": 20_500.0, "SGLang (about)": 21_000.0}


# -- measuring


@dataclass
class Row:
    grammar: str
    dialect: str
    named: str  # the dialect option: its name, or "auto"
    us: dict[str, float] = field(default_factory=dict)  # by size: CPU of one delta, closing included
    loops: dict[str, float] = field(default_factory=dict)  # the same in calibration loops, which carry it to other machines
    memory: dict[str, float] = field(default_factory=dict)  # by size: bytes at the peak for one byte of the argument
    wrong: list[str] = field(default_factory=list)  # sizes at which the extracted call was wrong

    @property
    def ratio(self) -> float:
        sizes = list(self.us)
        return self.us[sizes[-1]] / self.us[sizes[0]]

    @property
    def growth(self) -> float | None:
        sizes = list(self.memory.values())
        return sizes[-1] / sizes[0] if len(sizes) > 1 else None

    def verdicts(self) -> Iterator[tuple[str, bool]]:
        """Each target as a sentence, and whether it is met."""
        name = f"{self.dialect} as {self.named}" if self.named != self.dialect else self.dialect
        first, *_, last = self.us
        size, most = max(self.loops.items(), key=lambda one: one[1])
        in_us = most * REFERENCE_US
        yield f"{name}: {in_us:.1f} us a delta at {size}, at most {MOST_US:.0f} (in calibration loops)", in_us <= MOST_US
        yield f"{name}: {last} takes {self.ratio:.2f}x of {first}, at most {MOST_RATIO}x", self.ratio <= MOST_RATIO
        if self.growth is not None:
            yield f"{name}: memory per byte grows {self.growth:.2f}x, at most {MOST_GROWTH}x", self.growth <= MOST_GROWTH
        yield f"{name}: the call is extracted correctly", not self.wrong


def grammar_of(dialect: str) -> str:
    found = find_dialect(dialect)
    return type(found.grammars[0]).__name__ if found else ""


def measured(row: Row, sizes: dict[str, int]) -> None:
    for size, length in sizes.items():
        pieces = pieces_of(written(row.dialect, length))
        taken: list[tuple[float, float]] = []
        for _ in range(9 if length <= 10_000 else 1):
            loop = _loop_us()
            gc.collect()
            start = process_time()
            for _ in range(max(1, 10_000 // length)):
                extractor = extract_calls(pieces, row.named)
            us = (process_time() - start) / max(1, 10_000 // length) / len(pieces) * 1e6
            taken.append((us, us / loop))
        row.us[size], row.loops[size] = median(us for us, _ in taken), median(loops for _, loops in taken)
        calls = extractor.result().calls
        if [call.arguments for call in calls] != [{"path": "page.py", "content": content(length)}]:
            row.wrong.append(size)


def _loop_us() -> float:
    start = process_time()
    for _ in range(50):
        calibration()
    return (process_time() - start) / 50 * 1e6


def weighed(row: Row, sizes: dict[str, int]) -> None:
    """Peak memory, in a separate pass because tracing is slow."""
    for size, length in sizes.items():
        if not 10_000 <= length <= 100_000:  # below, one-time allocations dominate; above, tracing takes minutes
            continue
        pieces = pieces_of(written(row.dialect, length))
        extract_calls(pieces[:100], row.named)
        gc.collect()
        tracemalloc.start()
        extract_calls(pieces, row.named)
        row.memory[size] = tracemalloc.get_traced_memory()[1] / length
        tracemalloc.stop()


def rows(names: tuple[str, ...], sizes: dict[str, int], *, weigh: bool) -> list[Row]:
    """Memory is measured once per grammar, in auto mode: the others run the same code."""
    found: list[Row] = []
    ordered = sorted(names, key=lambda name: (grammar_of(name), name))
    for grammar, group in groupby(ordered, key=grammar_of):
        for at, dialect in enumerate(group):
            for named in (dialect, "auto"):
                row = Row(grammar, dialect, named)
                measured(row, sizes)
                if weigh and at == 0 and named == "auto":
                    weighed(row, sizes)
                found.append(row)
                print(f"\r{len(found)}/{2 * len(ordered)} {dialect} as {named}".ljust(60), end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found


# -- showing


def table(found: list[Row]) -> str:
    sizes = list(found[0].us)
    lines = [("grammar", "dialect", "asked as", *(f"{size} us" for size in sizes), f"{sizes[-1]} / {sizes[0]}", "memory")]
    for row in found:
        heavy = f"{max(row.memory.values()):.1f}" if row.memory else "-"
        cells = (*(f"{row.us[size]:.1f}" for size in sizes), f"{row.ratio:.2f}", heavy)
        lines.append((row.grammar, row.dialect, row.named, *cells))
    return table_of(lines, left=3)


def draw(found: list[Row]) -> bool:
    """The picture for the documents, if matplotlib is installed: one line per grammar, its slowest dialect."""
    if find_spec("matplotlib") is None:
        return False
    import_module("matplotlib").use("Agg")
    pyplot: Any = import_module("matplotlib.pyplot")
    figure, axes = pyplot.subplots(figsize=(9, 5.5))
    sizes = [SIZES[size] for size in found[0].us]
    for at, (grammar, group) in enumerate(groupby(found, key=lambda row: row.grammar)):
        group_rows = list(group)
        slowest = [max(row.us[size] for row in group_rows) for size in found[0].us]
        axes.plot(sizes, slowest, marker="o", markersize=3, linewidth=1.2, label=grammar, linestyle="-" if at < 10 else "--")
    for name, us in PEERS_US.items():
        axes.plot([SIZES["100 KB"]], [us], marker="x", markersize=8, color="black", linestyle="none")
        above = not name.startswith("SGLang")
        axes.annotate(
            f"{name}: {us:,.0f}",
            (SIZES["100 KB"], us),
            (8, 6 if above and us < 1000 else -12 if above else 6),
            textcoords="offset points",
            fontsize=8,
        )
    axes.axhline(MOST_US, color="grey", linewidth=0.8, linestyle=":")
    axes.annotate("at most 10 us", (sizes[0], MOST_US), (0, 4), textcoords="offset points", fontsize=8, color="grey")
    axes.set(
        xscale="log", yscale="log", ylim=(0.8, 60_000), xlabel="length of the argument, characters", ylabel="CPU a delta, us"
    )
    axes.set_title(
        "One call in four-character deltas; x: others at 100 KB, figures of the plan, not measured here",
        fontsize=9,
    )
    axes.legend(fontsize=7, ncols=3, loc="center left")
    figure.tight_layout()
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=120)
    return True


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="six dialects, 1 KB and 100 KB, memory not weighed, no plot")
    options.add_argument("--json", action="store_true", help="print the results as JSON")
    asked = options.parse_args()
    logging.getLogger("toolglot").setLevel(logging.ERROR)
    sizes = {size: SIZES[size] for size in (("1 KB", "100 KB") if asked.quick else SIZES)}
    found = rows(QUICK if asked.quick else dialect_names(), sizes, weigh=not asked.quick)
    verdicts = [verdict for row in found for verdict in row.verdicts()]
    results = {
        "python": platform.python_version(),
        "calibration_us": _loop_us(),
        "peers_us_at_100_KB": PEERS_US,
        "rows": [vars(row) for row in found],
        "targets": [{"target": sentence, "met": met} for sentence, met in verdicts],
    }
    OUT.mkdir(exist_ok=True)
    (OUT / "stream.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    drawn = not asked.quick and draw(found)
    if asked.json:
        print(json.dumps(results, indent=1))
    else:
        print(f"Python {results['python']}; calibration loop {results['calibration_us']:.1f} us; CPU per delta, end included")
        print(f"memory: bytes at the peak for one byte of the argument\n\n{table(found)}\n")
        print(*(f"{name}: {us:,.0f} us a delta at 100 KB (not measured here)" for name, us in PEERS_US.items()), sep="\n")
        missed = [sentence for sentence, met in verdicts if not met]
        print(*(f"MISSED  {sentence}" for sentence in missed), sep="\n")
        print(f"{len(verdicts) - len(missed)} of {len(verdicts)} targets met")
        print(f"written to .bench/stream.json{' and docs/assets/stream.png' if drawn else ''}", file=sys.stderr)
    return int(not all(met for _, met in verdicts))


if __name__ == "__main__":
    sys.exit(main())
