"""Measure toolglot and others, and write the table of the docs.

    python -m conformance.compare                  # all, each in an environment of its own under .conformance/; then the page
    python -m conformance.compare --only toolglot  # some; the page keeps the figures of the others

Every figure comes from `run.py`. What an implementation does not do is a dash.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import msgspec
from tests.integrations.hosts.environments import environment as host_environment

from conformance.vectors import GROUPS, VERSION, vectors

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".conformance"
PAGE = ROOT / "docs" / "reference" / "conformance.md"
RESULTS = ROOT / "conformance" / "results.json"  # of the last run of each
START, END = "<!-- table: python -m conformance.compare -->", "<!-- end of the table -->"
WHOLE = {"clean", "parallel", "text_around", "reasoning"}
CLEAN, DAMAGED = "calls in text, well written", "damaged, cut off or no call"
HOSTS = ("engines", "litellm")  # environments of tests/integrations/hosts, which name the versions
OURS = ""  # this environment
CUTS = "1,7"


class Measured(msgspec.Struct, frozen=True):
    """An implementation, and how it is run."""

    adapter: tuple[str, ...]  # a file of adapters/, and its arguments
    packages: tuple[str, ...]  # what its environment needs; OURS: this one
    dialect: str = "named"
    cuts: str = CUTS
    groups: tuple[str, ...] = ()  # without any, all that it supports


GATEWAY = ("text", "real_calls", "quoted_input", "traps", "plain_calls")
EVERY = {
    "toolglot": Measured(("toolglot_adapter.py",), (OURS,)),
    "toolglot, dialect unknown": Measured(("toolglot_adapter.py",), (OURS,), "auto", groups=(*GATEWAY, "values")),
    "toolglot gateway": Measured(("gateway_adapter.py", "toolglot"), (OURS,), "auto", "7", GATEWAY),
    "toolglot gateway, Ollama's API": Measured(("gateway_adapter.py", "toolglot", "ollama"), (OURS,), "auto", "7", GATEWAY[1:]),
    "LiteLLM": Measured(("litellm_adapter.py",), ("litellm",), cuts="", groups=("wires", "prefix")),
    "LiteLLM proxy": Measured(("gateway_adapter.py", "litellm"), ("litellm",), "auto", "", GATEWAY),
    "llm-rosetta": Measured(("llm_rosetta_adapter.py",), ("llm-rosetta",), cuts="", groups=("wires", "prefix")),
    "vLLM's parsers": Measured(("engines_adapter.py", "vllm"), ("engines",), cuts="", groups=("text", "values")),
    "SGLang's detectors": Measured(("engines_adapter.py", "sglang"), ("engines",), cuts="", groups=("text", "values")),
    "json-repair": Measured(("json_repair_adapter.py",), ("json-repair",), groups=("arguments",)),
}


def environment(packages: tuple[str, ...]) -> str:
    """A Python that has these packages."""
    if packages == (OURS,):
        return sys.executable
    if packages[0] in HOSTS:
        return str(host_environment(packages[0]) / "bin" / "python")
    place = CACHE / "-".join(packages)
    python, done = place / "bin" / "python", place / "done"
    if not done.exists():
        print(f"installing {' '.join(packages)} ...", file=sys.stderr, flush=True)
        venv.create(place, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages], check=True)
        done.touch()
    return str(python)


def measure(name: str) -> dict[str, Any]:
    """The result of run.py."""
    print(f"{name} ...", file=sys.stderr, flush=True)
    about, result = EVERY[name], CACHE / "result.json"
    words = ["--dialect", about.dialect, "--cuts", about.cuts, "--show", "0", "--json", str(result)]
    words += [word for group in about.groups for word in ("--group", group)]
    file, *given = about.adapter
    adapter = [environment(about.packages), "-W", "ignore", str(ROOT / "conformance" / "adapters" / file), *given]
    command = [sys.executable, "-m", "conformance.run", *words, "--", *adapter]
    result.unlink(missing_ok=True)
    subprocess.run(command, cwd=ROOT, check=False, stderr=subprocess.DEVNULL, stdout=sys.stderr)
    found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    return {"about": found["about"], "vectors": VERSION, "columns": columns(found["groups"])}


def columns(groups: dict[str, Any]) -> dict[str, list[int]]:
    """How many are right, and of how many."""
    counts = {title: [groups[group]["right"], groups[group]["of"]] for group, title in GROUPS.items() if group in groups}
    whole = {row["id"] for row in vectors("text") if row["kind"] in WHOLE}
    if "text" in groups:
        tried, wrong = (set(groups["text"][key]) for key in ("tried", "wrong"))
        del counts[GROUPS["text"]]
        counts = {
            name: [len(ids - wrong), len(ids)] for name, ids in ((CLEAN, tried & whole), (DAMAGED, tried - whole))
        } | counts
    return counts


def table(results: dict[str, Any]) -> str:
    """As the docs have it."""
    heads = [CLEAN, DAMAGED, *(title for group, title in GROUPS.items() if group != "text")]
    lines = [f"| vectors {VERSION} | {' | '.join(heads)} |", "|---" + "|--:" * len(heads) + "|"]
    for name in EVERY:
        if name in results:
            about = results[name]["about"]
            cells = " | ".join(_cell(*results[name]["columns"].get(head, (0, 0))) for head in heads)
            lines.append(f"| {name} {about['version']} | {cells} |")
    return "\n".join(lines)


def _cell(right: int, of: int) -> str:
    return f"{100 * right / of:.1f} % of {of:,}" if of else "-"


def write_page(results: dict[str, Any]) -> None:
    before, start, rest = PAGE.read_text(encoding="utf-8").partition(START)
    _, end, after = rest.partition(END)
    PAGE.write_text(f"{before}{start}\n\n{table(results)}\n\n{end}{after}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=list(EVERY))
    only = parser.parse_args().only
    CACHE.mkdir(exist_ok=True)
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for name in only or EVERY:
        results[name] = measure(name)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    write_page(results)


if __name__ == "__main__":
    main()
