"""The way back from a model too small to be believed: its answer is held against what the tools gave."""

from __future__ import annotations

import msgspec

from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open
from toolglot.core.reply import Decision, Stop
from toolglot.pipeline.answers import Answers
from toolglot.pipeline.borne_out import is_borne_out, what_was_given
from toolglot.pipeline.guard_calls import Policy
from toolglot.pipeline.lately import Lately
from toolglot.pipeline.plan import Plan


class GroundedAnswers(Answers):
    """Its words leave together, at their end: either they are borne out, or what was given leaves in their place."""

    def __init__(self, plan: Plan, last: Lately, *, policy: Policy) -> None:
        super().__init__(plan, policy=policy)
        self._last = last
        self._texts: set[int] = set()
        self._held: list[Open | Delta | Close] = []

    def _take(self, event: Event, out: list[Event]) -> None:
        found: list[Event] = []
        super()._take(event, found)
        for one in found:
            if isinstance(one, Open) and one.kind == "text":
                self._texts.add(one.index)
            if isinstance(one, Open | Delta | Close) and one.index in self._texts:
                self._held.append(one)
            elif isinstance(one, Finish | Fault):
                out += self._told(one)
            else:
                out.append(one)

    def _told(self, end: Finish | Fault) -> list[Event]:
        written = "".join(one.text for one in self._held if isinstance(one, Delta))
        if isinstance(end, Fault) or not self._held or is_borne_out(written, self._last):
            return [*self._held, end]
        given = what_was_given(self._last)
        if not given:
            return [*self._held, end]
        index = self._held[0].index
        left: list[Event] = [one for one in self._held if not isinstance(one, Delta)]
        left.insert(1, Delta(index, given))
        why = Decision("grounded_answer", f"the model's answer is not borne out by the results: {written.strip()[:300]!r}")
        stop = Stop("stop", end.stop.raw)  # what leaves is whole, even where the model's words were cut short
        return [*left, msgspec.structs.replace(end, stop=stop, decisions=(*end.decisions, why))]
