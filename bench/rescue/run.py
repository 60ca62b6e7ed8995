"""Score toolglot over the rows: `python bench/rescue/run.py`. Exit code 0 where every target is met, else 1.

The rows are the committed ones; make.py makes them. Results on stdout, progress on stderr, a plot under .bench/.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from heatmap import heatmap

from judge import MISSED, RIGHT, WRONG, Extract, Row, Tally, Verdict, counts_by, judged, targets

HERE = Path(__file__).parent
SETS = ("clean", "damaged", "negatives")
# Where toolglot names a dialect otherwise than the rows do.
NAMES: dict[str, str] = {}


def load(name: str) -> list[Row]:
    with gzip.open(HERE / "data" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def run(extract: Extract, name: str, rows: list[Row], mode: str) -> list[Verdict]:
    """`named`: the dialect that was asked for; a negative has one only where it quotes one, and is skipped where not."""
    made = []
    for at, row in enumerate(rows, 1):
        if at % 50 == 0 or at == len(rows):
            print(f"\r{name}, {mode}: {at}/{len(rows)}", end="", file=sys.stderr, flush=True)
        dialect = "auto" if mode == "auto" else str(row["dialect"])
        if dialect:
            made.append(judged(extract, row, NAMES.get(dialect, dialect)))
    print(file=sys.stderr)
    return made


def table(title: str, made: dict[str, Tally]) -> str:
    lines = [f"{title:<22}{'rows':>6}{'right':>8}{'missed':>8}{'wrong':>7}{'right %':>10}"]
    for name, tally in made.items():
        counts = f"{tally.counts[RIGHT]:>8}{tally.counts[MISSED]:>8}{tally.counts[WRONG]:>7}"
        lines.append(f"{name:<22}{tally.total:>6}{counts}{tally.share(RIGHT):>10.1%}")
    return "\n".join(lines)


def plot(results: dict[str, list[Verdict]], mode: str) -> str:
    """Dialects down; `clean` and every kind of damage across."""
    cells: dict[tuple[str, str], tuple[int, int]] = {}
    columns = ["clean"]
    for name in ("clean", "damaged"):
        for one in results.get(name, ()):
            column = "clean" if name == "clean" else one.row["kind"]
            columns += [] if column in columns else [column]
            right, total = cells.get((one.row["dialect"], column), (0, 0))
            cells[one.row["dialect"], column] = (right + (one.verdict == RIGHT), total + 1)
    rows = list(dict.fromkeys(row for row, _ in cells))
    return heatmap(rows, columns, cells, f"Calls exactly right, by dialect asked for and damage ({mode})")


def shown(verdicts: Iterable[Verdict], most: int) -> str:
    failed = [one for one in verdicts if one.verdict != RIGHT]
    lines = []
    for one in sorted(failed, key=lambda one: one.verdict != WRONG)[:most]:
        want = [(call["name"], call["arguments"]) for call in one.row["expected_calls"]]
        head = f"{one.verdict.upper()} {one.row['id']} [{one.row['dialect']}] {one.row['note']}"
        lines.append(f"{head}\n{one.row['text']}\n  want {want}\n  got  {one.got}\n  detail {one.detail}\n")
    return "\n".join(lines)


def summary(results: dict[str, list[Verdict]]) -> dict[str, Any]:
    return {
        name: {
            "rows": len(verdicts),
            "targets": [{"target": asked, "reached": got, "met": met} for asked, got, met in targets(name, verdicts)],
            **{
                key: {one: dict(tally.counts) for one, tally in counts_by(verdicts, key).items()} for key in ("kind", "dialect")
            },
            "failed": {one.row["id"]: one.verdict for one in verdicts if one.verdict != RIGHT},
        }
        for name, verdicts in results.items()
    }


def report(results: dict[str, list[Verdict]], mode: str) -> str:
    lines = [f"== dialect {mode} =="]
    for name, verdicts in results.items():
        keys = ("kind", "dialect") if name != "negatives" else ("kind",)
        lines += [f"\n{table(f'{name}, by {key}', counts_by(verdicts, key))}" for key in keys]
    lines.append("")
    for name, verdicts in results.items():
        for asked, got, met in targets(name, verdicts):
            lines.append(f"{'ok  ' if met else 'FAIL'} {name}: {asked}: {got}")
    return "\n".join(lines)


def arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", choices=("auto", "named", "both"), default="both", help="who names the dialect")
    parser.add_argument("--only", choices=SETS, action="append", help="one set of rows (may be repeated)")
    parser.add_argument("--dialect", help="only rows of this dialect")
    parser.add_argument("--kind", help="only rows of this kind")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N failures of each set, wrong calls first")
    parser.add_argument("--json", action="store_true", help="the results as JSON on stdout instead of tables")
    parser.add_argument("--plot", type=Path, default=HERE.parents[1] / ".bench", help="the folder for the plots")
    return parser.parse_args(argv)


def main(extract: Extract, argv: list[str] | None = None) -> int:
    args = arguments(argv)
    chosen = {name: _chosen(load(name), args) for name in args.only or SETS}
    made, met = {}, True
    for mode in ("auto", "named") if args.mode == "both" else (args.mode,):
        results = {name: run(extract, name, rows, mode) for name, rows in chosen.items() if rows}
        results = {name: verdicts for name, verdicts in results.items() if verdicts}
        met = met and all(done for name, verdicts in results.items() for _, _, done in targets(name, verdicts))
        made[mode] = summary(results)
        args.plot.mkdir(parents=True, exist_ok=True)
        (args.plot / f"rescue-{mode}.svg").write_text(plot(results, mode), encoding="utf-8")
        if not args.json:
            print(report(results, mode), end="\n\n")
            print("".join(shown(verdicts, args.show) for verdicts in results.values()), end="")
    if args.json:
        print(json.dumps(made, indent=1))
    return 0 if met else 1


def _chosen(rows: list[Row], args: argparse.Namespace) -> list[Row]:
    return [row for row in rows if args.dialect in {None, row["dialect"]} and args.kind in {None, row["kind"]}]


if __name__ == "__main__":
    import toolglot

    sys.exit(main(toolglot.extract))
