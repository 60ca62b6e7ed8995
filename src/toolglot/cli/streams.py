"""stdin, stdout and stderr of the process: closed streams, limited encodings, colours, and failed writes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from io import TextIOWrapper
from typing import TextIO


def prepare_streams() -> None:
    """Replace closed streams by the null device, and characters that an encoding lacks by a replacement."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  (open until the process ends)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def is_dumb() -> bool:
    """True for a terminal without control sequences, for example in an editor."""
    return os.environ.get("TERM") == "dumb"


def no_color() -> bool:
    return bool(os.environ.get("NO_COLOR")) or is_dumb()


@contextmanager
def reserve_stdout() -> Iterator[TextIO]:
    """Send everything printed to stderr, also by child processes; yield the real stdout, for results only."""
    out = sys.stdout
    with redirect_stdout(sys.stderr), _redirected_descriptor(out) as descriptor:
        if descriptor is None:
            yield out
            return
        with open(descriptor, "w", encoding=out.encoding, errors="replace", closefd=False) as results:
            yield results


@contextmanager
def _redirected_descriptor(out: TextIO) -> Iterator[int | None]:
    """Point the stream's descriptor at stderr, and yield a copy of the original. None if they are not files, as in tests."""
    try:
        original, error = out.fileno(), sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):
        yield None
        return
    out.flush()
    copy = os.dup(original)
    os.dup2(error, original)
    try:
        yield copy
    finally:
        os.dup2(copy, original)
        os.close(copy)


def describe_error(error: OSError) -> str:
    """The message for a failed file or stream. An error without a file name comes from the output."""
    why = error.strerror or str(error)
    return f"{error.filename}: {why}" if error.filename else f"the output can't be written: {why}"


def discard_output() -> None:
    """Drop what could not be written. Otherwise Python writes it again at exit, and reports the error twice."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
