"""What a server says of a model, whatever its kind; and how values of any shape are taken from its JSON without surprises."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import msgspec

_SHOWN = 5  # names in a note
_LONGEST = 400  # characters of a name
_LONGEST_TEMPLATE = 64 * 1024  # the longest that models have are a third of it
_MOST_COMMENTS = 500  # more are a flood that would only cost time
_MOST_TOKENS = 1 << 40


class Told(msgspec.Struct, frozen=True):
    """None and empty: it does not say. Notes are for people."""

    asked: str = ""  # POST /api/show
    missing: bool = False  # it has no such model
    tools: bool | None = None
    parallel: bool | None = None
    context_length: int | None = None
    parameters: float | None = None  # billions
    template: str = ""
    refuses: tuple[str, ...] = ()  # beside what the template shows
    runs: str = ""  # what it has loaded under this name
    made_of: str = ""  # what the weights call themselves: counts where the name says nothing
    notes: tuple[str, ...] = ()


def fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def rows(value: Any) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def name(value: Any) -> str:
    """A name that may be shown: one line, not too long."""
    return "".join(sign for sign in text(value)[:_LONGEST] if sign.isprintable()).strip()


def template(value: Any) -> str:
    held = text(value)
    sound = len(held) <= _LONGEST_TEMPLATE and held.count("{#") + held.count("/*") <= _MOST_COMMENTS
    return held if sound else ""


def tokens(value: Any) -> int | None:
    """A length of context; zero, which servers write for `not known`, is none."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    sound = isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MOST_TOKENS
    return value if sound else None


def truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def holds(value: Any, word: str) -> bool | None:
    """Whether a list of words has this one; None where there is no list."""
    return word in value if isinstance(value, list) else None


def absent(asked: str, model: str, known: list[str], advice: str = "") -> Told:
    """The server has no such model: say what it has, the nearest first."""
    near = get_close_matches(model, known, _SHOWN, 0.5)
    if near:
        told = f"nearest: {', '.join(near)}"
    elif known:
        more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
        told = f"it has {', '.join(known[:_SHOWN])}{more}"
    else:
        told = "it has none"
    return Told(asked, missing=True, notes=(f"the server has no model {model!r}; {told}{advice}",))
