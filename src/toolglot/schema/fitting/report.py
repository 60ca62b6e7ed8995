"""What is told of a fitting, gathered on the way."""

from __future__ import annotations

_MOST = 20


class Report:
    """`notes` for the caller; `moved` into descriptions; `narrowed` where something allowed can't be said; `aside` for the
    description of the tool itself, where the root takes none.
    """

    def __init__(self, notes: tuple[str, ...] = ()) -> None:
        self.notes = list(notes)
        self.moved: list[str] = []
        self.narrowed: list[str] = []
        self.aside: list[str] = []

    def note(self, path: str, text: str) -> None:
        told = f"{path}: {text}" if path else text
        if told not in self.notes and len(self.notes) < _MOST:
            self.notes.append(told)

    def narrow(self, path: str, why: str) -> None:
        told = f"{path}: {why}" if path else why
        if told not in self.narrowed and len(self.narrowed) < _MOST:
            self.narrowed.append(told)
