"""A run as people see it while it happens: the answer on stdout; calls, results, fixes and refusals on stderr."""

from __future__ import annotations

import re
from io import TextIOWrapper
from typing import TextIO

import click

from toolglot.agent.run import Run, ToolRun
from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open
from toolglot.core.messages import Media
from toolglot.core.reply import Decision
from toolglot.text.json_text import shown

# what a terminal would obey: escape sequences and other controls have no business in a model's or a tool's words
_CONTROLS = re.compile("\x1b\\[[0-9;?]*[ -/]*[@-~]|\x1b\\].*?(?:\x07|\x1b\\\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LONG = 400
COLOURS = {"rejected": "red", "abstained": "yellow", "missing": "yellow", "rescued": "green", "unchecked": "yellow"}


def plain(text: str, limit: int | None = None) -> str:
    """Fit for a terminal, and on one line where it has a limit."""
    text = _CONTROLS.sub("", text)
    return text if limit is None else shown(" ".join(text.split()), limit)


def colour(code: str) -> str:
    return COLOURS.get(code.partition("_")[0], "cyan")


class View:
    """The answer goes to `out`. `quiet` shows nothing: the whole is printed afterwards."""

    def __init__(self, out: TextIO, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._open: dict[int, Open] = {}
        self._arguments: dict[int, str] = {}
        self._mid_line = False  # stdout stands within a line
        self._thinking = False
        self._out = out
        self._terminal = out is not None and out.isatty()
        if isinstance(out, TextIOWrapper):
            out.reconfigure(errors="replace")  # a sign that the terminal lacks is no reason to lose the answer

    def show(self, event: Event | ToolRun) -> None:
        if self._quiet:
            return
        if isinstance(event, Open):
            self._open[event.index] = event
        elif isinstance(event, Delta):
            self._said(event)
        elif isinstance(event, Close):
            self._closed(event)
        elif isinstance(event, Finish):
            self._decided(event.decisions)
        elif isinstance(event, Fault):
            self._line(click.style(f"broke off: {plain(event.error.message, _LONG)}", fg="red"))
        elif isinstance(event, ToolRun):
            self._ran(event)

    def _said(self, event: Delta) -> None:
        kind, text = self._open[event.index].kind, event.text
        if kind == "text" and text:
            self._thought_ends()
            click.echo(plain(text) if self._terminal else text, self._out, nl=False)
            self._mid_line = not text.endswith("\n")
        elif kind == "reasoning":
            self._thinking = True
            click.secho(plain(text), fg="bright_black", err=True, nl=False)
        elif kind == "call":
            self._arguments[event.index] = self._arguments.get(event.index, "") + text

    def _closed(self, event: Close) -> None:
        opened, arguments = self._open.pop(event.index), self._arguments.pop(event.index, "")
        if opened.kind == "call" and event.sealed:
            name = click.style(plain(opened.full_name), fg="green")
            self._line(f"{click.style('call', bold=True)} {name}({plain(arguments, _LONG)})")
            if event.fixes:
                self._line(f"  as written: {plain(event.written or '', _LONG)}")
        self._decided(event.decisions)

    def _thought_ends(self) -> None:
        if self._thinking:
            click.echo(err=True)
            self._thinking = False

    def _decided(self, decisions: tuple[Decision, ...]) -> None:
        for held in decisions:
            self._line(f"  {click.style(held.code, fg=colour(held.code))}  {plain(held.message, _LONG)}")

    def _ran(self, run: ToolRun) -> None:
        others = [f"[{part.kind}]" for part in run.result.parts if isinstance(part, Media)]
        told = " ".join([plain(run.result.text, _LONG), *others])
        took = "from the cache" if run.cached else f"{run.seconds:.1f} s"
        word = click.style("error", fg="red", bold=True) if run.error is not None else click.style("result", bold=True)
        self._line(f"{word} {plain(run.call.full_name)}: {told} {click.style(f'({took})', fg='bright_black')}")

    def _line(self, text: str) -> None:
        self._thought_ends()
        self._end_line()
        click.echo(text, err=True)

    def _end_line(self) -> None:
        if self._mid_line:
            click.echo(file=self._out)
            self._mid_line = False

    def close(self, run: Run) -> None:
        if self._quiet:
            return
        self._thought_ends()
        self._end_line()
        for note in run.notes:
            click.secho(f"note: {plain(note, _LONG)}", fg="bright_black", err=True)
        if not run.ok:
            click.echo(f"{click.style(run.end, fg='red', bold=True)}: {plain(run.why, _LONG)}", err=True)
