"""Lists in pages, as two vendors have them: after which entry, before which, and how many."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from toolglot.errors import CallerError
from toolglot.gateway.exchange import Exchange
from toolglot.gateway.listing import Model


class Page(msgspec.Struct, frozen=True):
    models: Sequence[Model]
    more: bool = False  # in the direction that was asked for


def page_of(models: list[Model], exchange: Exchange, size: str, after: str, before: str = "") -> Page:
    """`size`, `after`, `before`: what they are called in the query. Who says no size gets all: not every client turns pages."""
    begin, end = 0, len(models)
    if exchange.asked(after):
        begin = _place(models, exchange.asked(after), after) + 1
    elif before and exchange.asked(before):
        end = _place(models, exchange.asked(before), before)
        first = max(0, end - _size(exchange, size, end))
        return Page(models[first:end], first > 0)
    last = min(end, begin + _size(exchange, size, end))
    return Page(models[begin:last], last < end)


def _size(exchange: Exchange, key: str, otherwise: int) -> int:
    said = exchange.asked(key)
    if said in ("", "0"):  # 0 is what Google's API takes for nothing said
        return otherwise
    if not (said.isascii() and said.isdecimal()) or len(said) > 9:
        raise CallerError("expected a whole number above 0", key)
    return int(said)


def _place(models: list[Model], name: str, key: str) -> int:
    found = next((at for at, model in enumerate(models) if model.name == name), None)
    if found is None:
        raise CallerError(f"there is no model {name[:200]!r} to go on from", key)
    return found
