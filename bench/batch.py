"""How many rows a second `toolglot batch` reads: rows made of the dialects' fixtures, with 1 and 2 workers.

python bench/batch.py [--rows 20000] [--workers 1 2] [--ray]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from itertools import cycle, islice
from pathlib import Path

FIXTURES = Path(__file__).parent.parent / "fixtures" / "dialects"


def texts() -> list[str]:
    files = [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(FIXTURES.glob("*.toml"))]
    return [case["text"] for file in files for case in file.get("case", []) if isinstance(case.get("text"), str)]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=20_000)
    options.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    options.add_argument("--ray", action="store_true", help="also on a new Ray cluster on this machine")
    given = options.parse_args()
    tools = [{"name": name, "schema": {"type": "object"}} for name in ("get_weather", "get_time", "search", "write_file")]
    with tempfile.TemporaryDirectory() as folder:
        source, known = Path(folder, "in.jsonl"), Path(folder, "tools.json")
        known.write_text(json.dumps(tools))
        with source.open("w") as file:
            file.writelines(json.dumps({"text": text}) + "\n" for text in islice(cycle(texts()), given.rows))
        print(f"{given.rows} rows, {source.stat().st_size / 1e6:.1f} MB")
        runs = [["--workers", str(number)] for number in given.workers]
        for words in [*runs, *([["--ray", "local", "--workers", "2"]] if given.ray else [])]:
            command = [sys.executable, "-m", "toolglot.cli.main", "batch", str(source), f"{folder}/out.jsonl", "--overwrite"]
            done = subprocess.run([*command, "--tools", str(known), "--json", *words], stdout=subprocess.PIPE, check=True)
            found = json.loads(done.stdout)
            print(f"{' '.join(words)}: {found['rows_per_second']:,.0f} rows/s, {found['rows_per_second_per_core']:,.0f} a core")


if __name__ == "__main__":
    main()
