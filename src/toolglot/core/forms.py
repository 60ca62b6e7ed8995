"""How to recognize what is a wire's: whole responses, single messages, calls, tools and choices, as callers have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

Body = dict[str, Any]


def _never(_: Body, named: bool = False) -> bool:
    return False


class Forms(msgspec.Struct, frozen=True):
    """`named`: the caller named this wire. Then it is asked first, and may claim what several wires have."""

    is_response: Callable[[Body], bool] = _never
    is_message: Callable[[Body, bool], bool] = _never
    is_call: Callable[[Body], bool] = _never
    is_tool: Callable[[Body, bool], bool] = _never
    is_choice: Callable[[Body], bool] = _never
    # as a whole response
    around_message: Callable[[Body], Body] | None = None
    around_calls: Callable[[list[Any]], Body] | None = None


def has_type(body: Body, *types: str) -> bool:
    kind = body.get("type")
    return isinstance(kind, str) and kind in types
