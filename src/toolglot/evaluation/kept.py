"""What came of each question, kept line by line: a run that was cut off goes on, and can be scored again at any time.

The first line says what was asked and how; each line behind it is an answer. Where a question was asked twice, the last counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from toolglot.core.messages import ToolCall
from toolglot.core.reply import Decision, Usage
from toolglot.errors import CallerError
from toolglot.evaluation.questions import Question
from toolglot.text.json_text import encode


class Setting(msgspec.Struct, frozen=True, tag="setting", tag_field="kind"):
    """How the questions are put. Answers of two settings never stand in one file."""

    model: str
    ask: str = "auto"  # as the caller said
    way: str = "native"  # what it came down to
    policy: str = "balanced"
    options: dict[str, Any] = {}  # of each request, as in OpenAI Chat


class Kept(msgspec.Struct, frozen=True, omit_defaults=True, tag="answer", tag_field="kind"):
    """One answer as it left the guard, with all that was decided on the way, and the bytes that it was made of."""

    question: str
    asked: str  # the hash of the question: another wording is another question
    calls: tuple[ToolCall, ...] = ()  # of all turns
    text: str = ""  # of the last turn
    decisions: tuple[Decision, ...] = ()
    stop: str | None = None
    usage: Usage | None = None
    seconds: float = 0.0
    turns: int = 1
    error: str | None = None  # there is no answer, and why
    raw: tuple[str, ...] = ()  # the body of each HTTP answer
    notes: tuple[str, ...] = ()


def mark(question: Question) -> str:
    """Changes with what the model is told, and not with what counts as right."""
    loop = None if question.loop is None else question.loop.results
    return sha256(msgspec.json.encode([question.messages, question.tools, loop], order="sorted")).hexdigest()[:16]


def read_kept(path: Path) -> tuple[Setting, dict[str, Kept]]:
    """The answers by the question's id. A last line that was cut off is no answer; other damage is a CallerError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CallerError(f"it can't be read: {error.strerror}", str(path)) from None
    whole = data[: data.rfind(b"\n") + 1]
    setting: Setting | None = None
    found: dict[str, Kept] = {}
    for number, line in enumerate(whole.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line, type=Setting | Kept)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise CallerError(f"this is no line of an evaluation: {error}", f"{path}: line {number}") from None
        if isinstance(row, Kept):
            found[row.question] = row
        elif setting is not None:
            raise CallerError("a second setting: two runs stand in this file", f"{path}: line {number}")
        else:
            setting = row
    if setting is None:
        raise CallerError("it does not say what was asked: `toolglot eval --save` writes such files", str(path))
    return setting, found


def still_good(rows: Iterable[Kept], questions: Iterable[Question]) -> dict[str, Kept]:
    """Answers that need not be asked for again: there is one, and the question is worded as it was."""
    asked = {question.id: mark(question) for question in questions}
    return {row.question: row for row in rows if row.error is None and asked.get(row.question) == row.asked}


class Keeper:
    """Appends to the file, each answer at once. A new file gets the setting first; a line that was cut off is dropped."""

    def __init__(self, path: Path, setting: Setting) -> None:
        self.path = path
        held = path.read_bytes() if path.is_file() else b""  # a device may have no end
        whole = held.rfind(b"\n") + 1
        if whole < len(held):
            with path.open("ab") as file:
                file.truncate(whole)
        if not whole:
            self._write(setting)

    def add(self, row: Kept) -> None:
        self._write(row)

    def _write(self, row: Setting | Kept) -> None:
        try:
            with self.path.open("ab") as file:
                file.write(encode(row) + b"\n")
        except OSError as error:
            raise CallerError(f"it can't be written: {error.strerror}", str(self.path)) from None
