"""Progress on stderr: on a terminal one line that changes, elsewhere a line for each step."""

from __future__ import annotations

import sys

import click

_WIPE = "\r\033[K"


def tell(number: int, total: int, what: str) -> None:
    """Step `number` of `total` begins; a total of 0 says that nobody knows how many there are."""
    count = f"{number}/{total} " if total else ""
    changing(f"{count}{what} ..." if sys.stderr.isatty() else f"{count}{what}")


def changing(line: str) -> None:
    """In the place of the line before it. To wipe a line is no colour: it is done with NO_COLOR as well."""
    live = sys.stderr.isatty()
    click.echo(f"{_WIPE}{line}" if live else line, nl=not live, err=True, color=live or None)


def told_all() -> None:
    """The line that changes is wiped."""
    if sys.stderr.isatty():
        click.echo(_WIPE, nl=False, err=True, color=True)
