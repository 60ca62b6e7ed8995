"""What a model costs: rows of prices.toml, and the user's own (`[[price]]` in toolglot.toml), which win."""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from pathlib import Path

import msgspec

from toolglot.core.reply import Usage

_MILLION = 1_000_000
_DATE = re.compile(r"[-@]20\d\d-?\d\d-?\d\d$")  # of a version: claude-sonnet-4-5-20250929


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars for a million tokens. A `*` at the end of `model` stands for any rest."""

    model: str  # its name at the upstream; `*` at the end stands for any rest
    input: float  # of a million tokens
    output: float  # of a million tokens
    cache_read: float | None = None  # of input tokens that were cached; None: as other input
    cache_write: float | None = None  # of input tokens that are put into the cache; None: as other input
    cache_write_1h: float | None = None  # of those that stay there for an hour; None: as `cache_write`
    above: int = 0  # only of requests with more input tokens than this; such a row comes before the model's other one
    providers: tuple[str, ...] = ()  # only at these; []: at all
    source: str = ""  # where the price is from
    date: str = ""  # of the source

    def matches(self, model: str, provider: str) -> bool:
        """Whether it is the model's, at some number of input tokens."""
        if self.providers and provider not in self.providers:
            return False
        if self.model.endswith("*"):
            return model.startswith(self.model[:-1])
        return self.model in (model, _DATE.sub("", model))

    def cost(self, usage: Usage) -> float:
        cached, written = usage.cache_read or 0, usage.cache_write or 0
        for_an_hour = min(written, usage.cache_write_1h or 0)
        fresh = max(0, (usage.input or 0) - cached - written)
        cache_read = self.input if self.cache_read is None else self.cache_read
        cache_write = self.input if self.cache_write is None else self.cache_write
        cache_write_1h = cache_write if self.cache_write_1h is None else self.cache_write_1h
        input_cost = fresh * self.input + cached * cache_read
        input_cost += (written - for_an_hour) * cache_write + for_an_hour * cache_write_1h
        return (input_cost + (usage.output or 0) * self.output) / _MILLION


@cache
def prices() -> tuple[Price, ...]:
    rows = tomllib.loads(Path(__file__).with_name("prices.toml").read_text(encoding="utf-8"))["price"]
    return msgspec.convert(rows, tuple[Price, ...])


def cost(model: str, provider: str, usage: Usage, own: tuple[Price, ...] = ()) -> float | None:
    """In US dollars; None: no row matches."""
    rows = (row for row in _find(model, provider, own) if not row.above or (usage.input or 0) > row.above)
    return next((row.cost(usage) for row in rows), None)


@lru_cache(512)
def _find(model: str, provider: str, own: tuple[Price, ...]) -> tuple[Price, ...]:
    return tuple(row for row in (*own, *prices()) if row.matches(model, provider))
