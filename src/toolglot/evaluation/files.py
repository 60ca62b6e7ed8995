"""The question files themselves: ours, which comes with the package, and those that users have."""

from __future__ import annotations

from pathlib import Path

from toolglot.errors import CallerError
from toolglot.evaluation.bfcl import is_bfcl, read_bfcl
from toolglot.evaluation.questions import Question, read_questions


def own_questions() -> list[Question]:
    """The half that we wrote ourselves. It is never changed because a model fails."""
    return read_questions(Path(__file__).with_name("questions.jsonl").read_text(encoding="utf-8"))


def load(path: str | Path) -> list[Question]:
    """A file of our form, or one of BFCL's, whose answers are looked for where BFCL has them."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise CallerError(f"it can't be read: {error}", str(path)) from None
    answers = path.parent / "possible_answer" / path.name
    try:
        if is_bfcl(text):
            return read_bfcl(text, answers.read_text(encoding="utf-8") if answers.exists() else None)
        return read_questions(text)
    except CallerError as error:
        raise CallerError(error.problem, f"{path}: {error.where}") from None
