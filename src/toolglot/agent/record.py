"""A record of runs: requests, replies, tool runs and times. A run can be replayed from it.

Each step is written when it ends, so a killed process leaves its run up to that step. The file name decides the format:
SQLite (`.sqlite`, `.sqlite3`, `.db`) or JSON lines. No API keys: headers are not recorded, and the values of variables such as
`..._KEY` or `..._TOKEN` are masked. The conversation itself is recorded, so only the owner can read the file.
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
from toolglot.client.user_dirs import open_private
from toolglot.core.messages import ToolCall
from toolglot.core.reply import Decision, Reply
from toolglot.core.request import Request
from toolglot.core.tools import Tool
from toolglot.errors import CallerError, UpstreamError
from toolglot.io.json_codec import dumps, encode

_SQLITE = frozenset({".sqlite", ".sqlite3", ".db"})
_TABLE = "CREATE TABLE IF NOT EXISTS steps (run TEXT, at REAL, entry TEXT)"
_SECRET = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD)$")  # names of variables
_SHORTEST = 8  # shorter values occur in ordinary words
_JSON_DEPTH = 3  # plain, in JSON, and in JSON inside JSON: arguments are stored as text
_ERROR = ("message", "status", "code", "retry_after", "should_retry")


# -- entries: `now` is the clock of the loop, `at` the time of day, both in seconds


class RunStarted(msgspec.Struct, frozen=True, omit_defaults=True, tag="begun", tag_field="step"):
    run: str
    at: float
    now: float
    request: Request
    limits: Limits
    typed_output: bool = False


class ModelReplied(msgspec.Struct, frozen=True, omit_defaults=True, tag="replied", tag_field="step"):
    run: str
    at: float
    now: float
    reply: Reply
    seconds: float = 0.0


class ToolsRan(msgspec.Struct, frozen=True, omit_defaults=True, tag="ran", tag_field="step"):
    run: str
    at: float
    now: float
    runs: tuple[ToolRun, ...] = ()
    tools: tuple[Tool, ...] | None = None  # the new tools, if they changed


class RunInterrupted(msgspec.Struct, frozen=True, omit_defaults=True, tag="broke", tag_field="step"):
    run: str
    at: float
    now: float
    how: Interrupted
    runs: tuple[ToolRun, ...] = ()  # that had finished


class RunEnded(msgspec.Struct, frozen=True, omit_defaults=True, tag="ended", tag_field="step"):
    """For readers of the file. A replay does not need it."""

    run: str
    at: float
    now: float
    end: str
    why: str
    text: str
    turns: int
    calls: tuple[ToolCall, ...] = ()
    decisions: tuple[Decision, ...] = ()


Entry = RunStarted | ModelReplied | ToolsRan | RunInterrupted | RunEnded


def as_json(value: Any) -> Any:
    """An `enc_hook` for msgspec: UpstreamError is the only type in a run that msgspec does not know."""
    if isinstance(value, UpstreamError):
        return {name: getattr(value, name) for name in _ERROR if getattr(value, name) is not None}
    raise NotImplementedError(f"a {type(value).__name__} can't be recorded")


def _from_json(kind: type, value: Any) -> Any:
    if kind is UpstreamError:
        return UpstreamError(**{name: value.get(name) for name in _ERROR})
    raise NotImplementedError(kind)


_ENCODER = msgspec.json.Encoder(enc_hook=as_json)
_DECODER = msgspec.json.Decoder(Entry, dec_hook=_from_json)


def _encode(entry: Entry) -> bytes:
    try:
        return _ENCODER.encode(entry)
    except UnicodeError:  # half a surrogate pair in a text of the caller
        return encode(msgspec.to_builtins(entry, enc_hook=as_json))


def encode_run(run: Run) -> dict[str, Any]:
    """A Run as JSON values, for `toolglot ask --json`."""
    fields: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(run, value=None), enc_hook=as_json)
    return fields


# -- files


class Record:
    """A file of recorded runs. One object can be used by many runs, also at the same time."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(os.path.expanduser(path))

    @property
    def _sqlite(self) -> bool:
        return self.path.suffix.lower() in _SQLITE

    def add(self, entry: Entry) -> None:
        line = _mask_secrets(_encode(entry))
        try:
            descriptor = open_private(self.path)
            try:
                if not self._sqlite:
                    os.write(descriptor, (b"\n" if _in_partial_line(descriptor) else b"") + line + b"\n")
            finally:
                os.close(descriptor)
            if self._sqlite:
                with closing(sqlite3.connect(self.path)) as base, base:
                    base.execute(_TABLE)
                    base.execute("INSERT INTO steps VALUES (?, ?, ?)", (entry.run, entry.at, line.decode()))
        except (OSError, sqlite3.Error) as error:
            raise CallerError(f"{self.path} can't be written: {error}", "record") from None

    def entries(self, run: str | None = None) -> list[Entry]:
        """All entries, or those of one run. A partial line, left by a killed process, is skipped."""
        return [entry for entry in map(_read, self._lines()) if entry is not None and run in {None, entry.run}]

    def runs(self) -> list[str]:
        """The ids of the runs, the latest last. Runs without their first entry are left out."""
        return list(dict.fromkeys(entry.run for entry in self.entries() if isinstance(entry, RunStarted)))

    def _lines(self) -> Iterable[str | bytes]:
        try:
            if not self._sqlite:
                return [line for line in self.path.read_bytes().splitlines() if line.strip()]
            with closing(sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True)) as base:
                return [row[0] for row in base.execute("SELECT entry FROM steps ORDER BY rowid")]
        except (OSError, sqlite3.Error) as error:
            raise CallerError(f"{self.path} is not a readable record: {error}", "record") from None


def _in_partial_line(descriptor: int) -> bool:
    """A killed process may leave a partial line; an entry appended to it would be unreadable."""
    if not os.fstat(descriptor).st_size:
        return False
    os.lseek(descriptor, -1, os.SEEK_END)
    return os.read(descriptor, 1) != b"\n"


def _mask_secrets(line: bytes) -> bytes:
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST and _SECRET.search(name.upper()):
            for _ in range(_JSON_DEPTH):
                line = line.replace(value.encode("utf-8", "surrogateescape"), b"***")
                value = dumps(value)[1:-1]
    return line


def _read(line: str | bytes) -> Entry | None:
    try:
        entry: Entry = _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return entry


# -- replay


def replay(record: Record | str | os.PathLike[str] | Iterable[Entry], run: str | None = None) -> Run:
    """Run the loop again with the recorded replies and results; returns the same Run. Without an id: the latest run.

    Example, where runs.jsonl is what `Agent(..., record="runs.jsonl")` wrote:
        >>> run = toolglot.replay("runs.jsonl")
        >>> run.text, [call.name for call in run.calls]
        ('It is mild.', ['get_weather'])
    """
    if isinstance(record, (str, os.PathLike)):
        record = Record(record)
    if isinstance(record, Record):
        entries = record.entries(run or next(reversed(record.runs()), None))
    else:
        entries = [entry for entry in record if run in {None, entry.run}]
    if not entries or not isinstance(entries[0], RunStarted):
        raise CallerError(f"there is no run {run or ''} in the record".replace("  ", " "), "record")
    return _replay(entries[0], entries[1:])


def _replay(start: RunStarted, rest: list[Entry]) -> Run:
    loop = Loop(start.request, start.limits, id=start.run, typed_output=start.typed_output)
    step = loop.next(now=start.now)
    for entry in rest:
        if isinstance(step, Done):
            break
        if isinstance(entry, ModelReplied):
            step = loop.next(entry.reply, now=entry.now)
        elif isinstance(entry, ToolsRan):
            if entry.tools is not None:
                loop.set_tools(entry.tools)
            step = loop.next([one.result for one in entry.runs], now=entry.now)
        elif isinstance(entry, RunInterrupted):
            step = loop.next(entry.how, now=entry.now)
    if not isinstance(step, Done):
        during = "a tool run" if isinstance(step, RunTools) else "a request to the model"
        step = loop.next(Interrupted("stopped", f"the record ends during {during}"))
    assert isinstance(step, Done)  # noqa: S101  (an interruption always ends the loop)
    return step.run
