"""Progress on stderr: on a terminal one line that is rewritten, elsewhere a line for each step."""

from __future__ import annotations

import sys

import click

from toolglot.cli.streams import is_dumb

_ERASE = "\r\033[K"


def show_progress(number: int, total: int, what: str) -> None:
    """Step `number` of `total` starts; a total of 0 means unknown."""
    count = f"{number}/{total} " if total else ""
    replace_line(f"{count}{what} ..." if _is_live() else f"{count}{what}")


def replace_line(line: str) -> None:
    """Overwrite the previous line. NO_COLOR does not turn this off: without it, the end of a longer line would remain."""
    live = _is_live()
    click.echo(f"{_ERASE}{line}" if live else line, nl=not live, err=True, color=live or None)


def clear_line() -> None:
    """Erase the progress line."""
    if _is_live():
        click.echo(_ERASE, nl=False, err=True, color=True)


def plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _is_live() -> bool:
    return sys.stderr.isatty() and not is_dumb()
