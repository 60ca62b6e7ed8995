"""The same input, cut in every small size and whole: what comes out must not depend on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

Cuttable = TypeVar("Cuttable", str, bytes)

SIZES = (1, 2, 3, 4, 5, 6, 7, None)


def cut(data: Cuttable, size: int | None) -> Iterator[Cuttable]:
    """`data` in pieces of `size`; None: in one piece."""
    step = size or max(len(data), 1)
    for at in range(0, len(data), step):
        yield data[at : at + step]
