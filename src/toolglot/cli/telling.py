"""Progress on stderr: on a terminal one line that changes, elsewhere a line for each step."""

from __future__ import annotations

import sys

import click


def tell(number: int, total: int, what: str) -> None:
    """Step `number` of `total` begins; a total of 0 says that nobody knows how many there are."""
    count = f"{number}/{total} " if total else ""
    live = sys.stderr.isatty()
    click.echo(f"\r\033[K{count}{what} ..." if live else f"{count}{what}", nl=not live, err=True)


def told_all() -> None:
    """The line that changes is wiped."""
    if sys.stderr.isatty():
        click.echo("\r\033[K", nl=False, err=True)
