"""Budgets: what each key may spend in a day or a month (UTC). A request of a key that has spent one is rejected.

Requests in progress count once they end. With shared state, the requests of all gateways count. Tokens that no upstream
reported are estimated, or a client that always leaves before the end of a stream would spend nothing.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Literal

import msgspec

from toolglot.core.reply import Usage
from toolglot.errors import UpstreamError
from toolglot.gateway.records import Record
from toolglot.gateway.shared_state import BETWEEN, SPENT, SharedState

Period = Literal["day", "month"]
_DOLLARS, _TOKENS = "dollars", "tokens"
_CHARACTERS_PER_TOKEN = 4
_DAY = 86400  # seconds
_NANO = 1_000_000_000  # dollars are counted in billionths: counts are whole numbers
_FORMATS: dict[Period, str] = {"day": "%Y-%m-%d", "month": "%Y-%m"}


class Budget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[[budget]]`."""

    key: str  # the name of a key; `*` and `?` match as in file names, and each key that matches has this budget for itself
    dollars: float = 0.0  # US dollars, of models with a price; 0: no limit
    tokens: int = 0  # input and output; 0: no limit
    period: Period = "month"  # it starts again at midnight UTC, of each day or of the first day of a month

    def is_for(self, owner: str) -> bool:
        return fnmatchcase(owner, self.key)


class Spent(msgspec.Struct, frozen=True):
    dollars: float = 0.0
    tokens: int = 0


def check_budgets(budgets: Iterable[Budget], spent: dict[Period, Spent], now: float) -> None:
    """Raises if one is spent. SDKs must not retry it: the wait is long."""
    for budget in budgets:
        done = spent[budget.period]
        dollars, tokens = f"${budget.dollars:.2f}", f"{budget.tokens:,} tokens"
        limits = {dollars: (budget.dollars, done.dollars), tokens: (budget.tokens, done.tokens)}
        for shown, (limit, number) in limits.items():
            if limit and number >= limit:
                ends = _end(budget.period, now)
                when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(ends))
                message = f"this API key has spent its budget of {shown} per {budget.period}; it starts again at {when}"
                raise UpstreamError(message, 429, "budget_exceeded", ends - now, should_retry=False)


def estimated_usage(sent: int, received: int) -> Usage:
    """From the bytes of a request and the characters of its response."""
    return Usage(sent // _CHARACTERS_PER_TOKEN, received // _CHARACTERS_PER_TOKEN)


def report_budget(budget: Budget, owner: str, spent: Spent, now: float) -> dict[str, Any]:
    limits = {name: limit for name in (_DOLLARS, _TOKENS) if (limit := getattr(budget, name))}
    done = {f"spent_{name}": getattr(spent, name) for name in limits}
    ends = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(_end(budget.period, now)))
    return {"owner": owner, "period": budget.period, **limits, **done, "ends": ends}


def _end(period: Period, now: float) -> float:
    today = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    end = today + timedelta(days=1) if period == "day" else (today.replace(day=28) + timedelta(days=4)).replace(day=1)
    return end.timestamp()


@lru_cache(2)
def _periods(day: int) -> Mapping[Period, str]:
    """The names of the day with this number since 1970, and of its month. Every request asks."""
    at = time.gmtime(day * _DAY)
    return {period: time.strftime(form, at) for period, form in _FORMATS.items()}


class Spending:
    """An observer of records: what each key has spent in this day and this month."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._new: dict[str, Counter[str]] = {}  # by period; what the shared state does not have
        self._shared: dict[str, dict[str, int]] = {}

    def __call__(self, record: Record) -> None:
        numbers = {_DOLLARS: round((record.cost or 0) * _NANO), _TOKENS: (record.input or 0) + (record.output or 0)}
        if not any(numbers.values()):
            return
        now = self._now().values()
        self._new = {period: self._new.get(period) or Counter() for period in now}  # what is over no longer matters
        for counts in self._new.values():
            for kind, number in numbers.items():
                counts[record.owner + BETWEEN + kind] += number

    def _now(self) -> Mapping[Period, str]:
        return _periods(int(self._clock() // _DAY))

    def spent(self, owner: str) -> dict[Period, Spent]:
        def number(name: str, kind: str) -> int:
            key = owner + BETWEEN + kind
            return self._new.get(name, Counter())[key] + self._shared.get(name, {}).get(key, 0)

        return {period: Spent(number(name, _DOLLARS) / _NANO, number(name, _TOKENS)) for period, name in self._now().items()}

    async def exchange(self, state: SharedState) -> None:
        """Adds what is new to the shared state, and reads what all gateways have added. What can't be added waits."""
        now = self._now().values()
        self._shared = {period: self._shared.get(period, {}) for period in now}
        for period in now:
            sent = Counter(self._new.get(period))
            if sent and await state.add_counts(SPENT, period, sent):
                self._new.get(period, Counter()).subtract(sent)
                self._shared[period] = dict(sent + Counter(self._shared[period]))
            self._shared[period] = await state.counts(SPENT, period) or self._shared[period]
