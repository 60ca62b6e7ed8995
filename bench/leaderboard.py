"""The same questions to every model, asked natively and as toolglot asks it; the table of docs/reference/leaderboard.md.

    python bench/leaderboard.py -m ollama/qwen3:8b            # add a model; interrupted, it goes on where it was
    python bench/leaderboard.py -m local/smollm2 --limit 40   # of the 216 questions, the first so many of a fixed order
    python bench/leaderboard.py                               # write the page again, without asking

The questions: the 108 that come with toolglot, and a fixed draw of 108 from BFCL's package (which is fetched once). Answers are
kept in .bench/leaderboard, figures in leaderboard.json. Send us your rows: figures are compared on equal numbers of questions.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent
KEPT = ROOT / ".bench" / "leaderboard"
ROWS = HERE / "leaderboard.json"
PAGE = ROOT / "docs" / "reference" / "leaderboard.md"
START, END = "<!-- table: bench/leaderboard.py -->", "<!-- end of the table -->"
WAYS = {"native": ("native", "written"), "native, read by toolglot": ("native", "left"), "toolglot": ("auto", "left")}
MEASURES = {"valid": "valid", "right_arguments": "right arguments", "false_calls": "false calls", "right": "all right"}


def questions() -> list[str]:
    """The files of the fixed set, as words for `toolglot eval`."""
    bfcl = KEPT / "bfcl.json"
    if not bfcl.exists():
        subprocess.run([sys.executable, str(HERE / "questions" / "bfcl.py"), "--write", str(bfcl)], check=True)
    return ["--questions", "own", "--questions", str(bfcl)]


def ask(model: str, tool_mode: str, limit: int | None, more: list[str]) -> dict[str, Any]:
    """What `toolglot eval --json` gives."""
    answers = KEPT / f"{model.replace('/', '_').replace(':', '_')}.{tool_mode}.{limit or 'all'}.jsonl"
    command = [sys.executable, "-m", "toolglot", "eval", "-m", model, "--ask", tool_mode, "--resume", str(answers), "--json"]
    command += [*questions(), *(("--limit", str(limit)) if limit else ()), *more]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout))


def measured(model: str, limit: int | None, more: list[str]) -> list[dict[str, Any]]:
    found = {tool_mode: ask(model, tool_mode, limit, more) for tool_mode in dict.fromkeys(mode for mode, _ in WAYS.values())}
    rows = []
    for way, (tool_mode, column) in WAYS.items():
        figures = found[tool_mode]
        rates = {measure: figures["overall"][measure][column] for measure in MEASURES}
        rows.append(
            {"model": model, "way": way, "tool_mode": figures["tool_mode"], "questions": figures["questions"], "rates": rates}
        )
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    lines = [f"| model | asked | questions | {' | '.join(MEASURES.values())} |", "|---|---|--:" + "|--:" * len(MEASURES) + "|"]
    best: dict[str, float] = {}
    for row in rows:
        best[row["model"]] = max(best.get(row["model"], 0), row["rates"]["right"]["share"] or 0)
    for row in sorted(rows, key=lambda row: (-best[row["model"]], row["model"], list(WAYS).index(row["way"]))):
        mode = f" ({row['tool_mode']})" if row["way"] == "toolglot" else ""
        cells = " | ".join(_cell(row["rates"][measure]) for measure in MEASURES)
        lines.append(f"| {row['model']} | {row['way']}{mode} | {row['questions']} | {cells} |")
    return "\n".join(lines)


def _cell(rate: dict[str, Any]) -> str:
    if rate["share"] is None:
        return "-"
    return f"{100 * rate['share']:.0f} % [{100 * rate['low']:.0f}, {100 * rate['high']:.0f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", "--model", help="provider/model; more words go to `toolglot eval`, such as --base-url URL")
    parser.add_argument("--limit", type=int, help="only the first so many questions")
    options, more = parser.parse_known_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    rows = json.loads(ROWS.read_text(encoding="utf-8")) if ROWS.exists() else []
    if options.model:
        rows = [row for row in rows if row["model"] != options.model] + measured(options.model, options.limit, more)
        ROWS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    before, start, rest = PAGE.read_text(encoding="utf-8").partition(START)
    _, end, after = rest.partition(END)
    PAGE.write_text(f"{before}{start}\n\n{table(rows)}\n\n{end}{after}", encoding="utf-8")
    print(table(rows))


if __name__ == "__main__":
    main()
