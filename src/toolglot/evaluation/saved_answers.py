"""Saves the answer to each question as a line of a file, so that an interrupted run can continue and be scored again.

The first line is the setting; each further line is an answer. If a question has two answers, the last one counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from toolglot.core.messages import ToolCall
from toolglot.core.reply import Decision, Usage
from toolglot.errors import CallerError, unreadable
from toolglot.evaluation.questions import Question
from toolglot.io.json_codec import encode


class Setting(msgspec.Struct, frozen=True, tag="setting", tag_field="kind"):
    """The model and the options of a run. A file has answers of one setting only."""

    model: str
    ask: str = "auto"  # as requested
    tool_mode: str = "native"  # as resolved
    policy: str = "balanced"
    options: dict[str, Any] = {}  # of each request, as in OpenAI Chat


class SavedAnswer(msgspec.Struct, frozen=True, omit_defaults=True, tag="answer", tag_field="kind"):
    """One validated answer, with toolglot's decisions and the raw HTTP bodies."""

    question: str
    asked: str  # the hash of the question: an edited question is asked again
    calls: tuple[ToolCall, ...] = ()  # of all turns
    text: str = ""  # of the last turn
    decisions: tuple[Decision, ...] = ()
    stop: str | None = None
    usage: Usage | None = None
    seconds: float = 0.0
    turns: int = 1
    error: str | None = None  # why there is no answer
    raw: tuple[str, ...] = ()  # the body of each HTTP response
    notes: tuple[str, ...] = ()


def mark(question: Question) -> str:
    """A hash of what the model gets; independent of the expected answer."""
    loop = None if question.loop is None else question.loop.results
    return sha256(msgspec.json.encode([question.messages, question.tools, loop], order="sorted")).hexdigest()[:16]


def read_saved(path: Path) -> tuple[Setting, dict[str, SavedAnswer]]:
    """The answers by question id. An incomplete last line is ignored; other damage is a CallerError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None
    whole = data[: data.rfind(b"\n") + 1]
    setting: Setting | None = None
    found: dict[str, SavedAnswer] = {}
    for number, line in enumerate(whole.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line, type=Setting | SavedAnswer)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise CallerError(f"not a line of an evaluation: {error}", f"{path}: line {number}") from None
        if isinstance(row, SavedAnswer):
            found[row.question] = row
        elif setting is not None:
            raise CallerError("a second setting: the file contains two runs", f"{path}: line {number}")
        else:
            setting = row
    if setting is None:
        raise CallerError("the setting is missing: use a file that `toolglot eval --save` wrote", str(path))
    return setting, found


def still_good(rows: Iterable[SavedAnswer], questions: Iterable[Question]) -> dict[str, SavedAnswer]:
    """The answers that are still valid: they have no error, and the question is unchanged."""
    hashes = {question.id: mark(question) for question in questions}
    return {row.question: row for row in rows if row.error is None and hashes.get(row.question) == row.asked}


class AnswerFile:
    """Appends each answer immediately. A new file starts with the setting; an incomplete last line is removed."""

    def __init__(self, path: Path, setting: Setting) -> None:
        self.path = path
        data = path.read_bytes() if path.is_file() else b""  # reading a device may never end
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            with path.open("ab") as file:
                file.truncate(whole)
        if not whole:
            self._write(setting)

    def add(self, row: SavedAnswer) -> None:
        self._write(row)

    def _write(self, row: Setting | SavedAnswer) -> None:
        try:
            with self.path.open("ab") as file:
                file.write(encode(row) + b"\n")
        except OSError as error:
            raise CallerError(f"can't be written: {error.strerror}", str(self.path)) from None
