"""Collects what `fit_schema` reports."""

from __future__ import annotations

_MAX_ENTRIES = 20


class Report:
    """`notes` for the caller; `moved` into descriptions; `narrowed` where a valid value can't be expressed; `aside` for the
    tool's description, if the root can't have one.
    """

    def __init__(self, notes: tuple[str, ...] = ()) -> None:
        self.notes = list(notes)
        self.moved: list[str] = []
        self.narrowed: list[str] = []
        self.aside: list[str] = []

    def note(self, path: str, text: str) -> None:
        entry = f"{path}: {text}" if path else text
        if entry not in self.notes and len(self.notes) < _MAX_ENTRIES:
            self.notes.append(entry)

    def narrow(self, path: str, why: str) -> None:
        entry = f"{path}: {why}" if path else why
        if entry not in self.narrowed and len(self.narrowed) < _MAX_ENTRIES:
            self.narrowed.append(entry)
