"""Runs the `console` blocks of a page.

Lines with `$ ` are commands, and lines with `> ` right below go on with them. What follows is the output; `...` is any text.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec

BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)


class Command(msgspec.Struct, frozen=True):
    line: str
    expected: str


def commands(page: str) -> list[Command]:
    found = []
    for block in BLOCK.findall(page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, expected = part.partition("\n")
            while expected.startswith("> "):
                more, _, expected = expected.partition("\n")
                line = f"{line}\n{more[2:]}"
            found.append(Command(line, expected))
    return found


def run(command: Command, folder: Path, environment: dict[str, str] | None = None) -> str:
    """The output as a terminal shows it: stdout and stderr."""
    path = os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"]))
    variables = {name: value for name, value in os.environ.items() if not name.startswith("TOOLGLOT_")}
    variables |= {"PATH": path, "HOME": str(folder), "NO_COLOR": "1", "COLUMNS": "120", **(environment or {})}
    done = subprocess.run(
        ["bash", "-c", command.line],  # noqa: S607
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.stdout.decode()


def matches(expected: str, output: str) -> bool:
    """Trailing white space does not count."""
    parts = (re.escape(line.rstrip()).replace(r"\.\.\.", "(?s:.*)") for line in expected.rstrip().splitlines())
    given = "\n".join(line.rstrip() for line in output.rstrip().splitlines())
    return re.fullmatch("\n".join(parts), given) is not None
