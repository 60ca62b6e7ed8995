"""Progress on stderr: on a terminal one line that changes, elsewhere a line for each step."""

from __future__ import annotations

import sys

import click

from toolglot.cli.streams import is_dumb

_WIPE = "\r\033[K"


def tell(number: int, total: int, what: str) -> None:
    """Step `number` of `total` begins; a total of 0 says that nobody knows how many there are."""
    count = f"{number}/{total} " if total else ""
    changing(f"{count}{what} ..." if _is_live() else f"{count}{what}")


def changing(line: str) -> None:
    """In the place of the line before it. To wipe a line is no colour: it is done with NO_COLOR as well."""
    live = _is_live()
    click.echo(f"{_WIPE}{line}" if live else line, nl=not live, err=True, color=live or None)


def told_all() -> None:
    """The line that changes is wiped."""
    if _is_live():
        click.echo(_WIPE, nl=False, err=True, color=True)


def _is_live() -> bool:
    return sys.stderr.isatty() and not is_dumb()
