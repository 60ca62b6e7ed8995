"""Names of models come from clients where a route lets them: only so many are told apart."""

from __future__ import annotations

OTHER = "other"


class KnownNames:
    def __init__(self, most: int = 200) -> None:
        self._most = most
        self._known: set[str] = set()

    def told_apart(self, name: str) -> str:
        if name not in self._known:
            if len(self._known) >= self._most:
                return OTHER
            self._known.add(name)
        return name
