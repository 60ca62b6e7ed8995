"""The three streams of the process: closed ones, plain ones, those that know few signs, and results that can't be written."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from io import TextIOWrapper
from typing import TextIO


def ready() -> None:
    """A closed stream is an empty one, or one that nobody reads. A sign that one lacks is no reason to lose the rest."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  (until the process ends)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def is_dumb() -> bool:
    """A terminal that knows no control sequences: an editor's, a log's."""
    return os.environ.get("TERM") == "dumb"


def uncoloured() -> bool:
    return bool(os.environ.get("NO_COLOR")) or is_dumb()


@contextmanager
def results_apart() -> Iterator[TextIO]:
    """Within, what is printed goes to stderr, by programs that are started too; results go to what is given: true stdout."""
    out = sys.stdout
    with redirect_stdout(sys.stderr), _descriptor_kept(out) as kept:
        if kept is None:
            yield out
            return
        with open(kept, "w", encoding=out.encoding, errors="replace", closefd=False) as results:
            yield results


@contextmanager
def _descriptor_kept(out: TextIO) -> Iterator[int | None]:
    """Another descriptor of the stream, whose own leads to stderr meanwhile. None: they are no files, as within a test."""
    try:
        own, other = out.fileno(), sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):
        yield None
        return
    out.flush()
    kept = os.dup(own)
    os.dup2(other, own)
    try:
        yield kept
    finally:
        os.dup2(kept, own)
        os.close(kept)


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
