"""Single values of a provider's reply: read leniently, and the same way on every wire. A bad value counts as absent."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

_LARGEST_COUNT = 2**53  # a larger number is not exact in most JSON decoders, and not a token count
_LAST_SECOND = 253_402_300_799  # of the year 9999
_CHANNELS = frozenset({"json", "text"})


def non_empty_string(value: object) -> str | None:
    """A string with something in it."""
    return value if isinstance(value, str) and value else None


def identifier(value: object) -> str | None:
    """The id of a call. Some servers send numbers, or the word `null`."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return None if value == "null" else non_empty_string(value)


def token_count(value: object) -> int | None:
    """A whole number from 0 on. Some servers write it as a float (`12.0`)."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    valid = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST_COUNT
    return value if valid else None  # type: ignore[return-value]


def merge_usage(usage: dict[str, Any], reported: object) -> None:
    """Counts of a later chunk are totals and replace earlier ones; a null or a 0 does not replace a count."""
    if isinstance(reported, dict):
        for key, value in reported.items():
            if value is not None and not (value == 0 and usage.get(key)):
                usage[key] = value


def read_timestamp(value: object) -> int | None:
    """Seconds since 1970 from a number or an RFC 3339 string. 0 and Go's zero time mean that there is none."""
    if isinstance(value, str):
        try:
            time = datetime.fromisoformat(value)
            value = (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= _LAST_SECOND:
        return None
    return int(value)


def write_timestamp(seconds: int) -> str:
    """RFC 3339. A time that the format can't express is written as 1970."""
    valid = seconds if 0 <= seconds <= _LAST_SECOND else 0
    return datetime.fromtimestamp(valid, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def text_channel(*objects: dict[str, Any]) -> str | None:
    """The `kind` that some servers put on a delta, a choice or a chunk: whether its text is JSON."""
    for each in objects:
        kind = each.get("kind")
        if isinstance(kind, str) and kind in _CHANNELS:
            return kind
    return None
