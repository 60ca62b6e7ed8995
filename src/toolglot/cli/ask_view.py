"""Shows a run as it happens: the answer on stdout; calls, results, fixes and rejections on stderr."""

from __future__ import annotations

from io import TextIOWrapper
from typing import TextIO

import click

from toolglot.agent.run import Run, ToolRun
from toolglot.cli.terminal import colour, plain
from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open
from toolglot.core.messages import Media
from toolglot.core.reply import Decision

_LONG = 400


class View:
    """The answer goes to `out`. `quiet` shows nothing, because the caller prints the whole run afterwards.

    `verbose` also shows notes and what was done to each call. Rejected calls are always shown: they are why there is no result.
    `at_end` shows the answer when it is over: one that does not match its schema may be followed by another.
    """

    def __init__(self, out: TextIO, *, quiet: bool = False, verbose: bool = False, at_end: bool = False) -> None:
        self._quiet, self._verbose, self._at_end = quiet, verbose, at_end
        self._open: dict[int, Open] = {}
        self._arguments: dict[int, str] = {}
        self._mid_line = False  # the last text on stdout had no line break
        self._in_reasoning = False
        self._out = out
        self._terminal = out is not None and out.isatty()
        if isinstance(out, TextIOWrapper):
            out.reconfigure(errors="replace")  # for characters that the terminal's encoding lacks

    def show(self, event: Event | ToolRun) -> None:
        if self._quiet:
            return
        if isinstance(event, Open):
            self._open[event.index] = event
        elif isinstance(event, Delta):
            self._show_delta(event)
        elif isinstance(event, Close):
            self._show_block(event)
        elif isinstance(event, Finish):
            self._show_decisions(event.decisions)
        elif isinstance(event, Fault):
            self._line(click.style(f"interrupted: {plain(event.error.message, _LONG)}", fg="red"))
        elif isinstance(event, ToolRun):
            self._show_result(event)

    def _show_delta(self, event: Delta) -> None:
        kind, text = self._open[event.index].kind, event.text
        if kind == "text" and text and not self._at_end:
            self._show_text(text)
        elif kind == "reasoning":
            self._in_reasoning = True
            click.secho(plain(text), fg="bright_black", err=True, nl=False)
        elif kind == "call":
            self._arguments[event.index] = self._arguments.get(event.index, "") + text

    def _show_text(self, text: str) -> None:
        self._end_reasoning()
        click.echo(plain(text) if self._terminal else text, self._out, nl=False)
        self._mid_line = not text.endswith("\n")

    def _show_block(self, event: Close) -> None:
        opened, arguments = self._open.pop(event.index), self._arguments.pop(event.index, "")
        if opened.kind == "call" and event.sealed:
            name = click.style(plain(opened.full_name), fg="green")
            self._line(f"{click.style('call', bold=True)} {name}({plain(arguments, _LONG)})")
            if event.fixes and self._verbose:
                self._line(f"  as written: {plain(event.written or '', _LONG)}")
        self._show_decisions(event.decisions)

    def _end_reasoning(self) -> None:
        if self._in_reasoning:
            click.echo(err=True)
            self._in_reasoning = False

    def _show_decisions(self, decisions: tuple[Decision, ...]) -> None:
        for one in decisions:
            if not self._verbose and not one.code.startswith("rejected_"):
                continue
            self._line(f"  {click.style(one.code, fg=colour(one.code))}  {plain(one.message, _LONG)}")

    def _show_result(self, run: ToolRun) -> None:
        media = [f"[{part.kind}]" for part in run.result.parts if isinstance(part, Media)]
        content = " ".join([plain(run.result.text, _LONG), *media])
        took = "from the cache" if run.cached else f"{run.seconds:.1f} s"
        word = click.style("error", fg="red", bold=True) if run.error is not None else click.style("result", bold=True)
        self._line(f"{word} {plain(run.call.full_name)}: {content} {click.style(f'({took})', fg='bright_black')}")

    def _line(self, text: str) -> None:
        self._end_reasoning()
        self._end_line()
        click.echo(text, err=True)

    def _end_line(self) -> None:
        if self._mid_line:
            click.echo(file=self._out)
            self._mid_line = False

    def close(self, run: Run) -> None:
        if self._quiet:
            return
        if self._at_end and run.text:
            self._show_text(run.text)
        self._end_reasoning()
        self._end_line()
        for note in run.notes if self._verbose else ():
            click.secho(f"note: {plain(note, _LONG)}", fg="bright_black", err=True)
        if not run.ok:
            click.echo(f"{click.style(run.end, fg='red', bold=True)}: {plain(run.why, _LONG)}", err=True)
