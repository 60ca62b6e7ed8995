"""The three streams of the process: closed ones, those that know few signs, and results that can't be written."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import TextIOWrapper


def ready() -> None:
    """A closed stream is an empty one, or one that nobody reads. A sign that one lacks is no reason to lose the rest."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  (until the process ends)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def failed(error: OSError) -> str:
    """What is said of a file or a stream that failed. With no file named, it is where results go: input has its own errors."""
    why = error.strerror or str(error)
    return f"{error.filename}: {why}" if error.filename else f"the output can't be written: {why}"


def give_up() -> None:
    """What could not be written is not tried again when the process ends, which would tell of it a second time."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
