"""The arguments of a call, told member by member as one JSON object."""

from __future__ import annotations

from toolglot.grammars.unfolding import Begun, More, Step
from toolglot.text.json_text import dumps


class Members:
    """The call itself is told with its first member, or at its end: until then it may turn out to be none."""

    __slots__ = ("_begun", "_keys")

    def __init__(self, at: int, name: str) -> None:
        self._begun = Begun(at, name)
        self._keys: set[str] = set()

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def key(self, key: str, steps: list[Step], value: str) -> None:
        """A member, up to as much of its value as is known, as JSON."""
        if not self._keys:
            steps.append(self._begun)
        steps.append(More(f"{', ' if self._keys else '{'}{dumps(key)}: {value}"))
        self._keys.add(key)

    def end(self, steps: list[Step]) -> None:
        if not self._keys:
            steps.append(self._begun)
        steps.append(More("}" if self._keys else "{}"))


def inside(text: str) -> str:
    """Text as it stands inside a JSON string."""
    return dumps(text)[1:-1]
