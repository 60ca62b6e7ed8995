"""Loads question files: the built-in one, and the user's."""

from __future__ import annotations

from pathlib import Path

from toolglot.errors import CallerError, unreadable
from toolglot.evaluation.bfcl import is_bfcl, read_bfcl
from toolglot.evaluation.questions import Question, read_questions


def builtin_questions() -> list[Question]:
    """The questions that come with the package. They are never changed because a model fails."""
    return read_questions(Path(__file__).with_name("questions.jsonl").read_text(encoding="utf-8"))


def load(path: str | Path) -> list[Question]:
    """A file in our format or in BFCL's; BFCL's answers are read from `possible_answer/`."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise unreadable(path, error) from None
    answers = path.parent / "possible_answer" / path.name
    try:
        if is_bfcl(text):
            return read_bfcl(text, answers.read_text(encoding="utf-8") if answers.exists() else None)
        return read_questions(text)
    except CallerError as error:
        raise CallerError(error.problem, f"{path}: {error.where}") from None
