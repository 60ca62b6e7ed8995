"""Arguments that are set right. Small models fill in options that nobody asked for, miscopy addresses, and name currencies.

What is optional and was not spoken of is left out, before anything has been called: later a value may come from what was seen.
An e-mail address that stands nowhere becomes the one that has the same name before the @, if there is but one.
A currency has its code wherever money is exchanged: dollars are USD.
"""

from __future__ import annotations

import re
from typing import Any

from toolglot.core.tools import Tool, as_function
from toolglot.pipeline.conversation import Conversation
from toolglot.pipeline.relevance import spaced
from toolglot.pipeline.said import EMAIL
from toolglot.pipeline.said_units import currency_code

UNSPOKEN, MISCOPIED, NAMED = "dropped_unspoken", "fixed_address", "fixed_currency"
_CODE_KEY = re.compile(r"(?:_id|Id|ID|code)$")  # a number that the description may tell: 1 for Bangkok
_UNIT_KEY = re.compile(r"units?$", re.IGNORECASE)
_CURRENCY_KEY = re.compile(r"currency$", re.IGNORECASE)
_LONG = 60  # characters: a text of the model's own


def set_right(tool: Tool, held: dict[str, Any], spoken: Conversation, *, begun: bool) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The arguments, and the codes of what was changed. `begun`: something was called before."""
    schema = as_function(tool).schema or {}
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict) or spoken.in_other_script:
        return held, ()
    kept: dict[str, Any] = {}
    codes: dict[str, None] = {}
    for key, value in held.items():
        own = properties.get(key)
        if isinstance(own, dict) and not begun and not _needs(required, key) and not _is_spoken(key, own, value, spoken):
            codes[UNSPOKEN] = None
            continue
        kept[key], code = _better(key, own, value, spoken)
        if code is not None:
            codes[code] = None
    return kept, tuple(codes)


def _needs(required: object, key: str) -> bool:
    return not isinstance(required, list) or key in required


def _is_spoken(key: str, own: dict[str, Any], value: object, spoken: Conversation) -> bool:
    """In doubt it is: what is long, nested, dated or a yes or no may be told by the sense alone."""
    if "default" in own and value == own["default"]:
        return True
    if isinstance(value, int | float) and not isinstance(value, bool):
        return spoken.counts(value) or _CODE_KEY.search(key) is not None or spoken.speaks_of(spaced(key))
    if "enum" in own and not _UNIT_KEY.search(key):
        return True  # a choice by its sense: ghosts for horror
    if isinstance(value, str) and len(value) < _LONG and not any(sign.isdigit() for sign in value):
        return spoken.holds(value) or spoken.traces(value) or spoken.speaks_of(f"{value} {spaced(key)}")
    return True


def _better(key: str, own: object, value: object, spoken: Conversation) -> tuple[object, str | None]:
    if not isinstance(value, str):
        return value, None
    if EMAIL.fullmatch(value) and not spoken.holds(value):
        same = [mail for mail in spoken.mails if mail.lower().split("@")[0] == value.lower().split("@")[0]]
        return (same[0], MISCOPIED) if len(same) == 1 else (value, None)
    if _CURRENCY_KEY.search(key) and isinstance(own, dict) and "enum" not in own:
        code = currency_code(value)
        return (code, NAMED) if code is not None and code != value.upper() else (value, None)
    return value, None
