"""Marks of a prompt's part that will come again: Anthropic's `cache_control` and OpenAI's `prompt_cache_breakpoint`."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra
from toolglot.io.request_validation import Body

_CONTROL, _BREAKPOINT = "cache_control", "prompt_cache_breakpoint"
_LONG = "12h"  # OpenAI's longer lifetime; Anthropic's is an hour


def as_cache_control(extra: Extra, wire: str) -> Extra:
    return _translated(extra, wire, _BREAKPOINT, _CONTROL, _control)


def as_breakpoint(extra: Extra, wire: str, quirks: Quirks) -> Extra:
    return (
        _translated(extra, wire, _CONTROL, _BREAKPOINT, lambda _: {"mode": "explicit"}) if quirks.cache_breakpoints else extra
    )


def _control(mark: Body) -> Body:
    return {"type": "ephemeral", "ttl": "1h"} if mark.get("ttl") == _LONG else {"type": "ephemeral"}


def _translated(extra: Extra, wire: str, old: str, new: str, make: Callable[[Body], Body]) -> Extra:
    """With another wire's mark as this wire's."""
    for name, fields in extra.items():
        if name != wire and isinstance(fields.get(old), dict):
            rest = {key: value for key, value in fields.items() if key != old}
            return {**extra, name: rest, wire: {new: make(fields[old]), **extra.get(wire, {})}}
    return extra


def breakpoints_for(model: str, quirks: Quirks) -> Quirks:
    """Of a provider that has breakpoints, only some models accept them."""
    if model.startswith(quirks.cache_breakpoints):
        return quirks
    return msgspec.structs.replace(quirks, cache_breakpoints=())
