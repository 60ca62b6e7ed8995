"""The generated pages of the documentation are current."""

from __future__ import annotations

import subprocess
import sys

import msgspec
from scripts import pages


def test_generated_pages_are_current() -> None:
    """In a process of its own: click keeps a command's `--help` as it was first used."""
    done = subprocess.run(
        [sys.executable, "-m", "scripts.pages", "--check"], cwd=pages.ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


class Row(msgspec.Struct):
    name: str  # what it is called
    size: int = 3


def test_every_configuration_key_has_a_default_and_an_explanation() -> None:
    assert "| `name` | required | string | what it is called |" in pages._keys(Row)
    assert "| `size` | `3` | whole number |  |" in pages._keys(Row)
    for line in pages.configuration().splitlines():
        if line.startswith("| `"):
            assert all(cell.strip() for cell in line.strip("|").split("|")), line
