"""A record of runs: what was asked, what came back, what was run, how long it took. It can be replayed.

One entry per step, written as it happens, so that a run that is killed is on record up to there. By the file's name it is
SQLite (`.sqlite`, `.sqlite3`, `.db`) or JSON lines. Keys don't get here: a record holds requests and replies, no headers,
and what a variable like `..._KEY` or `..._TOKEN` holds is hidden wherever it occurs. The conversation itself is in it, so the
file is readable for its owner only.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from toolglot.agent.limits import Limits
from toolglot.agent.loop import Done, Interrupted, Loop, RunTools
from toolglot.agent.run import Run, ToolRun
from toolglot.core.messages import ToolCall
from toolglot.core.reply import Decision, Reply
from toolglot.core.request import Request
from toolglot.core.tools import Tool
from toolglot.errors import CallerError, UpstreamError
from toolglot.text.json_text import dumps, encode

_SQLITE = frozenset({".sqlite", ".sqlite3", ".db"})
_TABLE = "CREATE TABLE IF NOT EXISTS steps (run TEXT, at REAL, entry TEXT)"
_SECRET = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD)$")  # names of variables
_SHORTEST = 8  # a value that is shorter stands in too many words
_DEEP = 3  # as it is, as JSON, and as JSON in JSON: arguments are kept as text
_ERROR = ("message", "status", "code", "retry_after", "should_retry")


# -- entries: `now` is the clock of the loop, `at` the time of day, both in seconds


class Begun(msgspec.Struct, frozen=True, omit_defaults=True, tag="begun", tag_field="step"):
    run: str
    at: float
    now: float
    request: Request
    limits: Limits


class Replied(msgspec.Struct, frozen=True, omit_defaults=True, tag="replied", tag_field="step"):
    run: str
    at: float
    now: float
    reply: Reply
    seconds: float = 0.0


class Ran(msgspec.Struct, frozen=True, omit_defaults=True, tag="ran", tag_field="step"):
    run: str
    at: float
    now: float
    runs: tuple[ToolRun, ...] = ()
    tools: tuple[Tool, ...] | None = None  # from here on, where others are offered than before


class Broke(msgspec.Struct, frozen=True, omit_defaults=True, tag="broke", tag_field="step"):
    run: str
    at: float
    now: float
    how: Interrupted
    runs: tuple[ToolRun, ...] = ()  # that had come to their end


class Ended(msgspec.Struct, frozen=True, omit_defaults=True, tag="ended", tag_field="step"):
    """For those who read the file; the rest of the Run follows from the entries before."""

    run: str
    at: float
    now: float
    end: str
    why: str
    text: str
    turns: int
    calls: tuple[ToolCall, ...] = ()
    decisions: tuple[Decision, ...] = ()


Entry = Begun | Replied | Ran | Broke | Ended


def as_json(value: Any) -> Any:
    """An `enc_hook` for msgspec: the one thing in a run that it does not know is an error."""
    if isinstance(value, UpstreamError):
        return {name: getattr(value, name) for name in _ERROR if getattr(value, name) is not None}
    raise NotImplementedError(f"a {type(value).__name__} can't be recorded")


def _from_json(kind: type, value: Any) -> Any:
    if kind is UpstreamError:
        return UpstreamError(**{name: value.get(name) for name in _ERROR})
    raise NotImplementedError(kind)


_ENCODER = msgspec.json.Encoder(enc_hook=as_json)
_DECODER = msgspec.json.Decoder(Entry, dec_hook=_from_json)


def _encoded(entry: Entry) -> bytes:
    try:
        return _ENCODER.encode(entry)
    except UnicodeError:  # half a pair of surrogates, in what the caller gave
        return encode(msgspec.to_builtins(entry, enc_hook=as_json))


def encode_run(run: Run) -> dict[str, Any]:
    """A Run as plain values: what `toolglot ask --json` prints."""
    held: dict[str, Any] = msgspec.to_builtins(run, enc_hook=as_json)
    return held


# -- files


class Record:
    """Where runs are kept. One object may serve many runs, also at a time."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(os.path.expanduser(path))

    @property
    def _sqlite(self) -> bool:
        return self.path.suffix.lower() in _SQLITE

    def add(self, entry: Entry) -> None:
        line = _hidden(_encoded(entry))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_CREAT | os.O_APPEND | os.O_RDWR, 0o600)
            try:
                if not self._sqlite:
                    os.write(descriptor, (b"\n" if _amid_a_line(descriptor) else b"") + line + b"\n")
            finally:
                os.close(descriptor)
            if self._sqlite:
                with closing(sqlite3.connect(self.path)) as base, base:
                    base.execute(_TABLE)
                    base.execute("INSERT INTO steps VALUES (?, ?, ?)", (entry.run, entry.at, line.decode()))
        except (OSError, sqlite3.Error) as error:
            raise CallerError(f"{self.path} can't be written: {error}", "record") from None

    def entries(self, run: str | None = None) -> list[Entry]:
        """All, or those of one run. A last line that was cut off, as a killed process leaves it, is passed over."""
        return [entry for entry in map(_read, self._lines()) if entry is not None and run in {None, entry.run}]

    def runs(self) -> list[str]:
        """The ids, the latest last; of those whose beginning is there, for without it nothing can be told."""
        return list(dict.fromkeys(entry.run for entry in self.entries() if isinstance(entry, Begun)))

    def _lines(self) -> Iterable[str | bytes]:
        try:
            if not self._sqlite:
                return [line for line in self.path.read_bytes().splitlines() if line.strip()]
            with closing(sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True)) as base:
                return [row[0] for row in base.execute("SELECT entry FROM steps ORDER BY rowid")]
        except (OSError, sqlite3.Error) as error:
            raise CallerError(f"{self.path} is no record that can be read: {error}", "record") from None


def _amid_a_line(descriptor: int) -> bool:
    """A process that was killed may have left half a line: what is written behind it would be lost with it."""
    if not os.fstat(descriptor).st_size:
        return False
    os.lseek(descriptor, -1, os.SEEK_END)
    return os.read(descriptor, 1) != b"\n"


def _hidden(line: bytes) -> bytes:
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST and _SECRET.search(name.upper()):
            for _ in range(_DEEP):
                line = line.replace(value.encode("utf-8", "surrogateescape"), b"***")
                value = dumps(value)[1:-1]
    return line


def _read(line: str | bytes) -> Entry | None:
    try:
        entry: Entry = _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return entry


# -- again


def replay(record: Record | str | os.PathLike[str] | Iterable[Entry], run: str | None = None) -> Run:
    """The loop once more, with the recorded replies and results: the same Run. Without an id, the latest of the record."""
    if isinstance(record, (str, os.PathLike)):
        record = Record(record)
    if isinstance(record, Record):
        entries = record.entries(run or next(reversed(record.runs()), None))
    else:
        entries = [entry for entry in record if run in {None, entry.run}]
    if not entries or not isinstance(entries[0], Begun):
        raise CallerError(f"there is no run {run or ''} on record".replace("  ", " "), "record")
    return _again(entries[0], entries[1:])


def _again(begun: Begun, rest: list[Entry]) -> Run:
    loop = Loop(begun.request, begun.limits, id=begun.run)
    step = loop.next(now=begun.now)
    for entry in rest:
        if isinstance(step, Done):
            break
        if isinstance(entry, Replied):
            step = loop.next(entry.reply, now=entry.now)
        elif isinstance(entry, Ran):
            if entry.tools is not None:
                loop.offer(entry.tools)
            step = loop.next([one.result for one in entry.runs], now=entry.now)
        elif isinstance(entry, Broke):
            step = loop.next(entry.how, now=entry.now)
    if not isinstance(step, Done):
        waited = "tools" if isinstance(step, RunTools) else "the model"
        step = loop.next(Interrupted("stopped", f"the record ends while {waited} worked"))
    assert isinstance(step, Done)  # noqa: S101  (an interruption always ends)
    return step.run
