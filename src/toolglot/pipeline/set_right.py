"""Arguments that are set right. Small models fill in options that nobody asked for, leave out those that somebody did, miscopy
addresses, misread clocks, and name currencies.

What is optional and was not spoken of is left out, before anything has been called: later a value may come from what was seen.
What is optional and one of a few, and is the only one of them that the question names, is put in; so are some of a list, and
the only date.
An e-mail address that stands nowhere becomes the one that has the same name before the @, if there is but one.
A time of day, or a duration, that nobody said becomes the only one that was.
Of 3.5 % a percentage is 3.5, and a rate 0.035. Of 50 million 50 is but a part.
A kind is named without the word for it: the finish is rosewood, not "rosewood finish". A museum's name may end with "museum". A
theory is named without "the". C# is not C.
A currency has its code wherever money is exchanged: dollars are USD. So have languages, countries, states and well-known
shares, where codes are asked for, and well-known cities their state.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from toolglot.core.tools import Tool, as_function
from toolglot.pipeline.conversation import DATE, Conversation
from toolglot.pipeline.relevance import spaced
from toolglot.pipeline.said_codes import code_for, wants_state, with_state
from toolglot.pipeline.said_forms import EMAIL
from toolglot.pipeline.said_units import TIME, currency_code, wanted_unit

UNSPOKEN, MISCOPIED, NAMED = "dropped_unspoken", "fixed_address", "fixed_currency"
CODED = "fixed_code"
SPOKEN, MISREAD = "filled_spoken", "fixed_as_said"
_CODE_KEY = re.compile(r"(?:_id|Id|ID|code)$")  # a number that the description may tell: 1 for Bangkok
_UNIT_KEY = re.compile(r"units?$", re.IGNORECASE)
_CURRENCY_KEY = re.compile(r"currency$", re.IGNORECASE)
_LONG = 60  # characters: a text of the model's own
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::00)?")
_NUMBERED = re.compile(r"[^\W\d_]+ (\d{1,3})")  # Mission 7
_WORDS = re.compile(r"[^\W\d_]{3}")  # what has none is found in any text
_HALF_A_DAY = 12 * 60  # minutes
_SHARE = re.compile(r"decimal|fraction|growth|interest|probab|rate\b|\bratio|yield")
_PRICED = re.compile(r"discount|tax|tip\b|vat\b")  # which are told in percent as often
_SHORT = 6  # words of a name
_WORDING = re.compile(r"text|message|content|title|body|note|prompt|quer(?:y|ies)|phrase|word|lyric", re.IGNORECASE)
_ARTICLE = re.compile(r"the (?=[^\W\d_]{2})")  # of a title it is written large
_IN_MILLIONS = re.compile(r"thousand|million|billion", re.IGNORECASE)  # in which a number may be asked for
_OF_A_KIND = """
algorithm category class color colour complexity condition criterion cuisine finish format genre level method mode order
platform priority quality season size species style system type
"""
_KINDS = frozenset(_OF_A_KIND.split())  # what a thing is of, and no part of its name


def set_right(
    tool: Tool,
    held: dict[str, Any],
    spoken: Conversation,
    told: Mapping[str, Any] = MappingProxyType({}),
    *,
    begun: bool,
    alone: bool = True,
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The arguments, and the codes of what was changed. `told` are those that the question leaves no doubt about.

    `begun`: something was called before. `alone`: nothing else is called now.
    """
    schema = as_function(tool).schema or {}
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict) or spoken.in_other_script:
        return held, ()
    kept: dict[str, Any] = {}
    codes: dict[str, None] = {}
    for key, value in held.items():
        own = properties.get(key)
        if isinstance(own, dict) and not begun and not _needs(required, key):
            counted_up = not alone and _is_counted_up(value, spoken)
            if counted_up or not _is_spoken(key, own, value, spoken):
                codes[UNSPOKEN] = None
                continue
        kept[key], code = _better(key, own, value, spoken)
        if code is not None:
            codes[code] = None
        if isinstance(own, dict) and not begun and (said := _as_said(key, own, value, held, spoken)) != value:
            kept[key] = said
            codes[MISREAD] = None
    for key, value in told.items():
        own = properties.get(key)
        if key not in held and not _needs(required, key) and isinstance(own, dict) and _is_named(value, own, held, spoken):
            kept[key] = value
            codes[SPOKEN] = None
    return kept, tuple(codes)


def _is_named(value: object, own: dict[str, Any], held: dict[str, Any], spoken: Conversation) -> bool:
    """The only ones of a few that the question names, or the only date in it, where the call has none."""
    if isinstance(value, str) and DATE.fullmatch(value):
        return len(spoken.dates) == 1 and not any(isinstance(one, str) and DATE.search(one) for one in held.values())
    named = [one for one in _choices(own) if spoken.holds(one) and _WORDS.search(one)]
    return bool(named) and sorted(map(str, value if isinstance(value, list) else [value])) == sorted(named)


def _as_said(key: str, own: dict[str, Any], value: object, held: dict[str, Any], spoken: Conversation) -> object:
    """A quarter past six for 06:30, half an hour for 45 minutes: what nobody said, where only one thing was said."""
    if isinstance(value, str):
        read = _clock(value)
        alone = read is not None and sum(_clock(other) is not None for other in held.values()) == 1
        if not alone or len(spoken.times) != 1 or spoken.durations or read in spoken.times:
            return value
        (said,) = spoken.times
        return value if (said - (read or 0)) % _HALF_A_DAY == 0 else f"{said // 60:02}:{said % 60:02}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    about = str(own.get("description") or "")
    share = _as_share(f"{key} {about}".lower(), own, value, spoken.percents)
    if share != value:
        return share
    if value in spoken.shortened and not _IN_MILLIONS.search(f"{key} {about}"):
        return spoken.shortened[value]
    unit = wanted_unit(key, about)
    if unit is None or unit[0] != TIME or len(spoken.durations) != 1 or spoken.counts(value):
        return value
    (lasts,) = spoken.durations
    return int(lasts / unit[1]) if lasts % unit[1] == 0 else lasts / unit[1]


def _as_share(about: str, own: dict[str, Any], value: float, percents: dict[float, float]) -> float:
    """Of 3.5 % a percentage is 3.5, and a rate 0.035, if nobody says otherwise."""
    if "percent" in about:
        return next((whole for whole, share in percents.items() if share == value), value)
    share = own.get("type") == "number" and _SHARE.search(about) and not _PRICED.search(about)
    return percents.get(value, value) if share else value


def _clock(value: object) -> int | None:
    """In minutes."""
    found = _CLOCK.fullmatch(value) if isinstance(value, str) else None
    return int(found[1]) * 60 + int(found[2]) if found else None


def _choices(own: dict[str, Any]) -> list[str]:
    """Those of a text, or of each in a list of texts."""
    held = own.get("enum", (own.get("items") or {}).get("enum") if isinstance(own.get("items"), dict) else None)
    return [one for one in held if isinstance(one, str)] if isinstance(held, list) else []


def _needs(required: object, key: str) -> bool:
    return not isinstance(required, list) or key in required


def _is_spoken(key: str, own: dict[str, Any], value: object, spoken: Conversation) -> bool:
    """In doubt it is: what is long, nested, dated or a yes or no may be told by the sense alone."""
    if "default" in own and value == own["default"]:
        return True
    if value in ("", [], {}):
        return False
    if isinstance(value, int | float) and not isinstance(value, bool):
        return spoken.counts(value) or _CODE_KEY.search(key) is not None or spoken.speaks_of(spaced(key))
    if "enum" in own and not _UNIT_KEY.search(key):
        return True  # a choice by its sense: ghosts for horror
    if isinstance(value, str) and len(value) < _LONG and not any(sign.isdigit() for sign in value):
        return spoken.holds(value) or spoken.traces(value) or spoken.speaks_of(f"{value} {spaced(key)}")
    return True


def _signed(letter: str, text: str) -> str | None:
    """C# and C++ for C, where nothing but these was said."""
    said = {found[0] for found in re.finditer(rf"(?<!\w){re.escape(letter)}(?:[#♯]|\+\+)?(?!\w)", text)}
    return said.pop() if len(said) == 1 and letter not in said else None


def _is_counted_up(value: object, spoken: Conversation) -> bool:
    """Mission 1, Mission 2, and so on, of calls that find no end."""
    numbered = _NUMBERED.fullmatch(value) if isinstance(value, str) else None
    return numbered is not None and not spoken.counts(int(numbered[1]))


def _better(key: str, own: object, value: object, spoken: Conversation) -> tuple[object, str | None]:
    if not isinstance(value, str):
        return value, None
    if EMAIL.fullmatch(value) and not spoken.holds(value):
        same = [mail for mail in spoken.mails if mail.lower().split("@")[0] == value.lower().split("@")[0]]
        return (same[0], MISCOPIED) if len(same) == 1 else (value, None)
    if not isinstance(own, dict) or "enum" in own:
        return value, None
    bare, _, last = value.rpartition(" ")
    if bare and last.lower() in _KINDS and spaced(key).lower().endswith(last.lower()) and spoken.holds(value):
        return bare, MISREAD
    if len(value) == 1 and (signed := _signed(value, spoken.text)):
        return signed, MISREAD
    if _ARTICLE.match(value) and len(value.split()) <= _SHORT and not _WORDING.search(key) and spoken.holds(value):
        return _ARTICLE.sub("", value), MISREAD
    about = str(own.get("description") or "")
    if wants_state(key, about) and (full := with_state(value)):
        return full, CODED
    if _CURRENCY_KEY.search(key):
        code = currency_code(value)
        return (code, NAMED) if code is not None and code != value.upper() else (value, None)
    code = code_for(key, about, value)
    return (code, CODED) if code is not None and code.lower() != value.lower() else (value, None)
