"""Make the rows of bench/rescue: `python bench/rescue/make.py [--check]`. Fixed seeds: the same rows every time.

--check  make them again and compare with the committed ones instead of writing
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import sys
from collections.abc import Iterable, Iterator
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

from damage import MIX
from drift import Case
from gold import Call, Gold, read_gold
from negatives import negatives
from render import BY_NAME, FORMS, suits, write

SEED = "toolglot rescue 1"
DATA = Path(__file__).parent / "data"
CLEAN_EACH, DAMAGED = 60, 3500
_MOST_CALLS = 4  # in one message
_RAW_SHARE = 0.15  # of the rows keep BFCL's own types in their tools
Row = dict[str, Any]


def clean_rows(golds: list[Gold]) -> Iterator[Row]:
    for form in FORMS:
        rng = Random(f"{SEED} clean {form.name}")
        for at, gold in enumerate(_spread([gold for gold in golds if suits(form, gold.calls)], rng)):
            message = write(form, gold.calls, rng)
            tools, note = _tools(gold, rng)
            yield {
                "id": f"clean-{form.name}-{at:02d}",
                "dialect": form.name,
                "kind": message.shape,
                "tools": tools,
                "text": message.text,
                "expected_calls": _calls(gold.calls),
                "starts_in_reasoning": message.starts_in_reasoning,
                "note": note,
            }


def _spread(golds: list[Gold], rng: Random) -> list[Gold]:
    """Several calls in two rows of five, and two without any argument: real traffic has fewer, and parsers fail there."""
    several = [gold for gold in golds if len(gold.calls) > 1]
    empty = [gold for gold in golds if len(gold.calls) == 1 and not gold.calls[0].arguments]
    single = [gold for gold in golds if len(gold.calls) == 1 and gold.calls[0].arguments]
    chosen = rng.sample(several, 2 * CLEAN_EACH // 5) if several else []
    chosen += rng.sample(empty, 2)
    chosen += rng.sample(single, CLEAN_EACH - len(chosen))
    return rng.sample(chosen, len(chosen))


def damaged_rows(golds: list[Gold]) -> Iterator[Row]:
    for kind, damage, share, names in MIX:
        rng = Random(f"{SEED} damaged {kind}")
        asked = cycle(rng.sample(names, len(names)))
        order = cycle(rng.sample(golds, len(golds)))
        seen: set[str] = set()
        for at in range(round(DAMAGED * share / 100)):
            form, gold, made = BY_NAME[next(asked)], next(order), None
            while made is None or made.text in seen:
                gold = next(order)
                made = damage(Case(form, gold.calls, gold.tools, rng)) if suits(form, gold.calls) else None
            seen.add(made.text)
            tools, note = _tools(gold, rng)
            yield {
                "id": f"damaged-{kind}-{at:03d}",
                "dialect": made.dialect or form.name,
                "kind": kind,
                "tools": tools,
                "text": made.text,
                "expected_calls": [] if made.cut else _calls(made.calls),
                "starts_in_reasoning": made.starts_in_reasoning,
                "note": f"{made.variant} {note}".strip(),
            }


def negative_rows(golds: list[Gold]) -> Iterator[Row]:
    for at, made in enumerate(negatives(golds, Random(f"{SEED} negatives"))):
        yield {
            "id": f"negative-{made.kind}-{at:04d}",
            "dialect": made.dialect,
            "kind": made.kind,
            "tools": _as_openai(made.tools),
            "text": made.text,
            "expected_calls": [],
            "starts_in_reasoning": False,
            "note": made.note,
        }


def _calls(calls: Iterable[Call]) -> list[Row]:
    return [{"name": call.name, "arguments": call.arguments} for call in calls]


def _tools(gold: Gold, rng: Random) -> tuple[list[Row], str]:
    """The tools in proper JSON Schema, or now and then as BFCL has them, with types such as `dict` and `float`."""
    raw = rng.random() < _RAW_SHARE
    return _as_openai(gold.raw_tools if raw else gold.tools), f"[{gold.id}]" + (" raw_schema" if raw else "")


def _as_openai(tools: list[Row]) -> list[Row]:
    return [{"type": "function", "function": tool} for tool in tools]


def packed(rows: Iterable[Row], name: str) -> bytes:
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, compresslevel=9, mtime=0) as out:
        for at, row in enumerate(rows, 1):
            out.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
            if at % 100 == 0:
                print(f"\r{name}: {at} rows", end="", file=sys.stderr, flush=True)
    print(f"\r{name}: {at} rows, {len(buffer.getvalue()) / 1e6:.2f} MB", file=sys.stderr)
    return buffer.getvalue()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    golds = [gold for gold in read_gold() if len(gold.calls) <= _MOST_CALLS]
    print(f"{len(golds)} gold answers", file=sys.stderr)
    DATA.mkdir(exist_ok=True)
    differing = []
    for name, rows in (("clean", clean_rows), ("damaged", damaged_rows), ("negatives", negative_rows)):
        made, path = packed(rows(golds), name), DATA / f"{name}.jsonl.gz"
        if not check:
            path.write_bytes(made)
        elif gzip.decompress(path.read_bytes()) != gzip.decompress(made):
            differing.append(name)
    if differing:
        print(f"not what is committed: {', '.join(differing)}", file=sys.stderr)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
