"""Calls between tags, told one after the other as a walk finds them. What stands inside one is told by who knows its tags."""

from __future__ import annotations

from toolglot.grammars.tag_walk import Call, TagWalk
from toolglot.grammars.unfolding import Step, Tail


class UnfoldWalk:
    def __init__(self, walk: TagWalk, opener: str) -> None:
        self._walk = walk
        self._tail = Tail(opener)
        self._call = 0  # the one that is next
        self._lost = False

    def feed(self, piece: str, /) -> list[Step]:
        steps: list[Step] = []
        if not self._lost:
            self._tail.add(piece)
            while not self._lost and self._step(steps):
                pass
        return steps

    def _step(self, steps: list[Step]) -> bool:
        """Whether there may be more to tell at once."""
        walk = self._walk
        if self._call >= len(walk.calls):
            self._tail.upto(walk.certain)
            return False
        call = walk.calls[self._call]
        if call.body < 0 or call.json is not None:
            self._lost = call.json is not None
            return False
        return self._tell_call(call, steps)

    def _tell_call(self, call: Call, steps: list[Step]) -> bool:
        """Of a call whose head is known; as `_step`."""
        raise NotImplementedError
