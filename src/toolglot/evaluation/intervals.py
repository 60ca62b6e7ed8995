"""Shares with confidence intervals: with few questions, a bare percentage looks too precise."""

from __future__ import annotations

from math import sqrt

import msgspec

_Z = 1.959963984540054  # 95 % of a normal distribution lie within


def wilson(hits: int, of: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share. It stays within 0 and 1, also at the ends. Without questions it is all of 0 to 1."""
    if not of:
        return 0.0, 1.0
    share, spread = hits / of, _Z * _Z / of
    middle = (share + spread / 2) / (1 + spread)
    reach = _Z * sqrt(share * (1 - share) / of + spread / (4 * of)) / (1 + spread)
    return max(0.0, middle - reach), min(1.0, middle + reach)


class Rate(msgspec.Struct, frozen=True):
    """`hits` of `of`."""

    hits: int
    of: int

    @property
    def share(self) -> float | None:
        return self.hits / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.hits, self.of)

    def __str__(self) -> str:
        if not self.of:
            return "-"
        low, high = self.interval
        return f"{self.hits / self.of:.0%} [{low:.0%}, {high:.0%}]"
