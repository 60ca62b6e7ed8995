"""Progress: a line that changes on a terminal, a line for each step elsewhere."""

from __future__ import annotations

import sys

import click
import pytest

from toolglot.cli.output import clear_line, show_progress


@pytest.mark.parametrize("colour", [None, False])
def test_a_line_takes_the_place_of_the_one_before(
    colour: bool | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where there are no colours (NO_COLOR): else a shorter line leaves the end of the longer one."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with click.Context(click.Command("x"), color=colour):
        show_progress(1, 2, "a long step")
        show_progress(2, 2, "short")
        clear_line()
    assert capsys.readouterr().err == "\r\033[K1/2 a long step ...\r\033[K2/2 short ...\r\033[K"


@pytest.mark.parametrize("is_terminal", [False, True])
def test_elsewhere_each_step_has_its_line(
    is_terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    monkeypatch.setenv("TERM", "dumb")
    show_progress(1, 2, "a step")
    clear_line()
    assert capsys.readouterr().err == "1/2 a step\n"
