"""Measure an implementation with the vectors.

    python -m conformance.run -- python conformance/adapters/toolglot_adapter.py
    python -m conformance.run --group text --dialect auto --cuts 1,7 --show 20 -- ./my_adapter
    python -m conformance.run --json result.json -- ...     # for the table, see table.py

Exit code 1 if a vector fails. What the adapter answers with `unsupported` does not count, and is shown.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from conformance.adapter import Adapter
from conformance.judge import judge
from conformance.vectors import GROUPS, VERSION


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", action="append", choices=list(GROUPS), help="only these vectors")
    parser.add_argument(
        "--dialect", choices=("named", "auto"), default="named", help="whether the adapter is given the dialect"
    )
    parser.add_argument("--cuts", default="", help="also in pieces of so many characters or bytes, as in 1,7")
    parser.add_argument("--show", type=int, default=5, help="failures to print for each group")
    parser.add_argument("--json", type=Path, help="write the result here")
    parser.add_argument("command", nargs="+", help="the adapter, behind --")
    options = parser.parse_args()
    cuts = tuple(int(size) for size in options.cuts.split(",") if size)
    result: dict[str, dict[str, Any]] = {}
    failed = False
    with Adapter(options.command) as adapter:
        about = adapter.ask("about")
        print(f"vectors {VERSION}, {about['name']} {about['version']}, dialect {options.dialect}, cuts {list(cuts)}")
        for group in options.group or GROUPS:
            verdicts = list(judge(adapter, group, auto=options.dialect == "auto", cuts=cuts))
            wrong = [(name, why) for name, why in verdicts if why is not None]
            result[group] = {"right": len(verdicts) - len(wrong), "of": len(verdicts), "wrong": [name for name, _ in wrong]}
            result[group]["tried"] = [name for name, _ in verdicts]
            failed = failed or bool(wrong)
            print(f"{group:14}{len(verdicts) - len(wrong):6} of {len(verdicts):6}  {GROUPS[group]}")
            for name, why in wrong[: options.show]:
                print(f"    {name}: {why}")
    if options.json:
        found = {"about": about, "vectors": VERSION, "dialect": options.dialect, "cuts": cuts, "groups": result}
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
