"""Plant bugs in toolglot, one at a time, and see that the vectors find each.

    python -m conformance.mutations              # all of them; exit code 1 if one is not found
    python -m conformance.mutations --only 3     # one

mutations.toml lists them: plausible mistakes in parsers, wires and repairs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from conformance.adapter import Adapter
from conformance.judge import judge

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "toolglot"
ADAPTER = ROOT / "conformance" / "adapters" / "toolglot_adapter.py"


class Mutation(NamedTuple):
    """`before` stands once in the file."""

    group: str  # the vectors that find it
    file: str
    before: str
    after: str
    cuts: tuple[int, ...] | list[int] = ()


ROWS = tomllib.loads((ROOT / "conformance" / "mutations.toml").read_text(encoding="utf-8"))["mutation"]
MUTATIONS = tuple(Mutation(**row) for row in ROWS)


class Planter:
    """A copy of the source in which bugs are planted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._failing: dict[str, set[str]] = {}  # by group: what fails without a bug

    def _failures(self, mutation: Mutation) -> Iterator[str]:
        environment = {**os.environ, "PYTHONPATH": str(self._folder)}
        with Adapter([sys.executable, "-B", str(ADAPTER)], environment) as adapter:
            yield from (name for name, wrong in judge(adapter, mutation.group, cuts=tuple(mutation.cuts)) if wrong is not None)

    def _copy(self) -> Path:
        place = self._folder / "toolglot"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(SOURCE, place, ignore=shutil.ignore_patterns("__pycache__"))
        return place

    def first_failure(self, mutation: Mutation) -> str | None:
        """The first vector that fails with the bug and not without it; None if none does."""
        place = self._copy()
        if mutation.group not in self._failing:
            self._failing[mutation.group] = set(self._failures(mutation))
        file = place / mutation.file
        file.write_text(planted(mutation, file.read_text(encoding="utf-8")), encoding="utf-8")
        try:
            return next((name for name in self._failures(mutation) if name not in self._failing[mutation.group]), None)
        except RuntimeError as error:  # it does not even start
            return str(error)


def planted(mutation: Mutation, text: str) -> str:
    """The file with the bug in it."""
    if text.count(mutation.before) != 1:
        raise ValueError(f"{mutation.file}: {mutation.before!r} stands there {text.count(mutation.before)} times, not once")
    return text.replace(mutation.before, mutation.after)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=int, help="the number of one mutation, from 1")
    only = parser.parse_args().only
    survived = 0
    with tempfile.TemporaryDirectory() as folder:
        planter = Planter(Path(folder))
        for number, mutation in enumerate(MUTATIONS, 1):
            if only in (None, number):
                name = planter.first_failure(mutation)
                survived += name is None
                print(
                    f"{number:3} {mutation.file}: {f'found by {mutation.group}, {name}' if name else 'NOT FOUND'}", flush=True
                )
    sys.exit(1 if survived else 0)


if __name__ == "__main__":
    main()
