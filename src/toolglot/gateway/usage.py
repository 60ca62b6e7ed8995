"""Requests, tokens and cost per key, model and day (UTC). With shared state: of all gateways."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from toolglot.gateway.metrics import LabelSet
from toolglot.gateway.records import Record
from toolglot.gateway.shared_state import BETWEEN, USAGE, SharedState

_DAY = 86_400
MAX_DAYS = USAGE.seconds // _DAY
_COST = "cost_nano"  # billionths of a dollar: counts are whole numbers
_NANO = 1_000_000_000


class Usage:
    """An observer of records."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._models = LabelSet()
        self._new: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))  # by day

    def __call__(self, record: Record) -> None:
        if not record.target or not record.owner:
            return
        name = BETWEEN.join((record.owner, self._models.label(record.target.replace(BETWEEN, " "))))
        counts = self._new[_day(self._clock())]
        numbers = {"requests": 1, "input_tokens": record.input, "output_tokens": record.output}
        numbers[_COST] = round((record.cost or 0) * _NANO)
        for kind, number in numbers.items():
            if number:
                counts[name + BETWEEN + kind] += number

    async def flush(self, state: SharedState) -> None:
        """Adds the new counts to the state. If it can't be reached, they wait."""
        for day in list(self._new):
            counts = self._new.pop(day)
            if not await state.add_counts(USAGE, day, counts):
                for name, number in counts.items():
                    self._new[day][name] += number

    async def report(self, state: SharedState, days: int, owner: str | None) -> list[dict[str, Any]]:
        """Newest day first; of one owner, or of all."""
        await self.flush(state)
        rows: list[dict[str, Any]] = []
        for ago in range(min(days, MAX_DAYS)):
            day = _day(self._clock() - ago * _DAY)
            by_name: dict[tuple[str, str], dict[str, Any]] = {}
            counts = await state.counts(USAGE, day)
            for name, number in (*counts.items(), *self._new.get(day, {}).items()):
                of, model, kind = name.split(BETWEEN)
                if owner in {None, of}:
                    row = by_name.setdefault((of, model), {"day": day, "owner": of, "model": model})
                    row[kind] = row.get(kind, 0) + number
            rows += by_name.values()
        for row in rows:
            if _COST in row:
                row["cost"] = row.pop(_COST) / _NANO
        return rows


def _day(at: float) -> str:
    return _name_of_day(int(at // _DAY))


@lru_cache(2 * MAX_DAYS)
def _name_of_day(number: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(number * _DAY))
