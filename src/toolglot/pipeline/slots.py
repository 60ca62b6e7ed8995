"""Which of a text's own values could be a parameter's.

Those of its kind (`slot_kinds.py`) are found in the text (`said.py`). Words beside a value say whose it is: "from Paris",
"three days", "port 443".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import msgspec

from toolglot.pipeline.date_forms import dates_in_form, edges_of_months, times_in_form
from toolglot.pipeline.exact_values import exact
from toolglot.pipeline.plain_words import FUNCTION_WORDS
from toolglot.pipeline.relevance import words_of
from toolglot.pipeline.said import Find, Said, Value
from toolglot.pipeline.said_labels import around, labelled, marked, named_before
from toolglot.pipeline.said_numbers import numbers
from toolglot.pipeline.said_options import described_options, mentioned
from toolglot.pipeline.said_units import CURRENCY_CODES, in_unit, unit_after, wanted_unit
from toolglot.pipeline.slot_kinds import Slot
from toolglot.pipeline.spans import Spans

MOST = 150  # values of one parameter: a grammar of more is slow to make


# kinds whose values are known by their form; of all others the model chooses among the text's own words
SHARP = frozenset({"number", "date", "time", "email", "phone", "url", "host", "path", "code", "tag", "address"})

# codes that no text need say: where it says none, the model writes one of this form
FORMS = {"ticker": "^[A-Z]{1,5}$", "airport": "^[A-Z]{3}$", "currency": "^[A-Z]{3}$"}

_EXAMPLE = re.compile(r"(?:e\.g\.|such as|like|example:?),? ['\"]?([\w#/-]*\d[\w/-]*)")
_TOGETHER = re.compile(r" ?[A-Za-z]+\.?,?(?: and)? ?")
_CODED = re.compile(r"[A-Z]{2,}-?\d[A-Z\d-]*")
_SHARE = re.compile(
    r"rate|ratio|interest|probab|fraction|decimal|share|return|growth|yield|tax|discount|inflation|level|confidence"
)
_POSTAL = frozenset({"postal", "zip", "postcode", "zipcode"})
_NO = frozenset({"no", "without"})


# -- the values of a kind


def _merged(*lists: Iterable[Find]) -> list[Find]:
    found: dict[Value, Find] = {}
    for one in (one for held in lists for one in held):
        found.setdefault(one.value, one)
    return list(found.values())


def _short(quoted: list[Find]) -> list[Find]:
    """A quoted sentence is no name."""
    return [one for one in quoted if len(str(one.value).split()) < 6 and not str(one.value).endswith((".", "!", "?"))]


def _named(said: Said) -> list[Find]:
    """A name is called so, or quoted, or has capitals; what stands within quotes is no name of its own."""
    streets, whole = Spans(said.streets), Spans(said.quoted, said.called)
    longer = Spans(one for one in said.codes if "-" in str(one.value))  # TEA-101 is no name, and TEA is none of its own
    named = _merged(said.names, (one for one in said.capitals if not longer.hold(one)))
    named = [one for one in named if not streets.hold(one)]
    named = [one for one in named if not _CODED.fullmatch(str(one.value))] or named  # beside a name, CO2 is none
    bare = [one for one in _merged(said.streets, named) if not whole.hold(one)]
    return _merged(said.called, _short(said.quoted), bare)


def _with_town(said: Said) -> list[Find]:
    return [next((street for street in said.streets if around(street, one)), one) for one in said.addresses]


def _coded(said: Said, least: int) -> list[Find]:
    """Codes in capitals, where there are any; else the names that they may stand for."""
    codes = [one for one in said.capitals if len(str(one.value)) >= least and one.value not in CURRENCY_CODES]
    return codes or said.names


# what a text says that is surely of the kind
_SURE: dict[str, Callable[[Said], list[Find]]] = {
    "number": lambda said: said.numbers,
    "email": lambda said: said.emails,
    "phone": lambda said: said.phones,
    "url": lambda said: _merged(said.urls, said.hosts),
    "host": lambda said: _merged(said.hosts, said.urls),
    "path": lambda said: said.paths or _merged(said.folders) or _short(said.quoted),
    "code": lambda said: said.codes or _short(said.quoted),
    "tag": lambda said: said.tags or _short(said.quoted),
    "address": lambda said: _with_town(said) or _merged(said.names, _short(said.quoted)),
    "currency": lambda said: _merged(said.currencies),
    "unit": lambda said: _merged(said.units),
    "ticker": lambda said: _coded(said, 1),
    "airport": lambda said: _coded(said, 3),
    "name": _named,
    "free": lambda said: _merged(said.quoted, said.after_colon),
    "words": lambda said: _merged(said.quoted, said.names, [one for one in said.codes if not str(one.value).isdigit()]),
}


# the same, where it depends on the form that is asked for
_IN_FORM: dict[str, Callable[[str, Said], list[Find]]] = {"date": dates_in_form, "time": times_in_form}


_LABELLED = frozenset({"name", "words", "tag", "code", "address"})
_FIRSTS = frozenset({"start", "from", "begin", "first", "since", "after"})
_LASTS = frozenset({"end", "to", "until", "last", "before", "till"})


def sure(this: Slot, said: Said) -> list[Find]:
    """The values that are of the parameter's kind, with no doubt about that."""
    if told := exact(this, said):
        return told
    found = _told(this, said)
    if this.kind == "number":
        found = _in_its_form(this, found, said)
    if this.kind == "number" and re.search(r"year\d*$", this.name, re.IGNORECASE):
        found = [one for one in found if 1000 <= float(one.value) < 3000] or found
    if this.kind == "number":
        found = _in_its_unit(this, found, said)
    if this.kind == "number":
        found = [*_none(this, said), *found]
    if this.kind == "unit" and (named := mentioned(described_options(this.about), said)):
        found = [next((one for one in named if around(find, one)), find) for find in found]
    if this.kind == "name":
        found = [_untitled(this, one) for one in found]
    if this.kind == "code":
        found = _shaped(this, found)
    if this.kind in _LABELLED:
        told, marked_so = labelled(this, said), written(this, said)
        if marked_so:  # the orders table sorted by date: what follows is no name
            told = [one for one in told if not str(one.value).endswith(("ed", "ing"))]
        found = (_merged(told) or marked_so) if marked_so else _merged(told, found)
    return [one for one in found if _allowed(one.value, this.schema)]


def _shaped(this: Slot, found: list[Find]) -> list[Find]:
    """Those that look like the example of the description: letters and digits where it has them."""
    example = _EXAMPLE.search(this.about)
    alike = [one for one in found if example and _shape(str(one.value)) == _shape(example[1])]
    plain = [one for one in found if str(one.value).isdigit()]
    mixed = [one for one in found if any(map(str.isdigit, str(one.value))) and one not in plain]
    return alike or (plain if this.own & _POSTAL else mixed) or found  # what is but a number may count something


def _shape(code: str) -> str:
    return re.sub(r"[a-z]+", "a", re.sub(r"[A-Z]+", "A", re.sub(r"\d+", "9", code)))


def written(this: Slot, said: Said) -> list[Find]:
    """The names that stand before what they name, or are written as no word is."""
    before = named_before(this, said) if this.kind in ("name", "words", "tag") else []
    return [*before, *marked(this.own, said)] if this.kind in ("name", "words") else before


def _told(this: Slot, said: Said) -> list[Find]:
    in_form = _IN_FORM.get(this.kind)
    about = this.about
    if in_form is not None:
        found = _merged(in_form(about, said))
        if not found and not about and "format" not in this.schema:
            found = _merged(said.written_dates)  # which day tomorrow is, nobody has told
        bounds = this.kind == "date" and not found and this.own & (_FIRSTS | _LASTS)
        return edges_of_months(about, said, last=not this.own & _FIRSTS) if bounds else found
    return _SURE[this.kind](said) if this.kind in _SURE else []


def _in_its_form(this: Slot, found: list[Find], said: Said) -> list[Find]:
    """Of 3.5 % a percentage is 3.5, and any other share 0.035."""
    about = f"{this.name} {this.about}".lower()
    whole = this.schema.get("type") == "integer" or "percent" in about or (about and not _SHARE.search(about))
    shares = {one.start for one in found if re.search(r"%|percent", said.text[one.start : one.end])}
    firsts = {one.start: one.value for one in reversed(found)}
    return [one for one in found if one.start not in shares or (one.value == firsts[one.start]) is whole]


def _in_its_unit(this: Slot, found: list[Find], said: Said) -> list[Find]:
    wanted = wanted_unit(this.name, this.about)
    if wanted is None:
        return found
    found = _added_up(found, said, wanted)
    turned = ((one, in_unit(float(one.value), said.text[one.end : one.end + 20], wanted)) for one in found)
    return [one if value is None else msgspec.structs.replace(one, value=value) for one, value in turned]


def _added_up(found: list[Find], said: Said, wanted: tuple[int, float]) -> list[Find]:
    """An hour and 15 minutes, 5 ft 10 in: two units of one kind are one amount, told in the first."""
    summed: list[Find] = []
    for one in found:
        before = summed[-1] if summed else None
        unit = unit_after(said.text[one.end : one.end + 20])
        larger = unit_after(said.text[before.end : before.end + 20]) if before is not None else None
        joined = before is not None and _TOGETHER.fullmatch(said.text[before.end : one.start])
        if before and joined and unit and larger and unit[0] == larger[0] == wanted[0] and unit[1] < larger[1]:
            summed[-1] = Find(float(before.value) + float(one.value) * unit[1] / larger[1], before.start, before.end)
        else:
            summed.append(one)
    return summed


def _none(this: Slot, said: Said) -> list[Find]:
    """Without children: none of them."""
    denied = [(no, word) for no, word in pairwise(said.words) if no.low in _NO and word.low not in FUNCTION_WORDS]
    return [Find(0, no.start, word.end) for no, word in denied if set(words_of(word.low)) & this.named]


def _untitled(this: Slot, one: Find) -> Find:
    """Lawyer John Doe, where a lawyer's name is wanted."""
    title, _, name = str(one.value).partition(" ")
    if not name or " " not in name or not set(words_of(title)) & (this.words - this.named):
        return one
    return Find(name, one.end - len(name), one.end)


def maybe(this: Slot, said: Said, rest: list[Find]) -> list[Find]:
    """What else it might be: any of the rest of the text's words. Free text may go on to the end of a clause."""
    if this.kind == "free":
        free = {(one.start, one.end) for one in rest}
        quoted = [one for one in said.quoted if (one.start, one.end) in free]
        return _merged(quoted) or _merged(rest, said.after_colon, said.stretches)
    if this.kind in ("name", "words"):
        days = Spans(said.written_dates)
        rest = [one for one in rest if not days.meet(one)] or rest
    return _merged(rest, {"date": said.written_dates, "phone": said.codes}.get(this.kind, []))


def _allowed(value: Value, schema: dict[str, Any]) -> bool:
    if isinstance(value, str):
        return True
    held = schema.get("type")
    if held == "integer" and isinstance(value, float):
        return False
    low, high = schema.get("minimum"), schema.get("maximum")
    return not (isinstance(low, (int, float)) and value < low) and not (isinstance(high, (int, float)) and value > high)


_DEFAULT = re.compile(r"\bdefaults?(?: value)?(?: is| to|:|=)? ['\"]?([^\s'\",;)]+?)['\"]?(?=[\s,;)]|\.?$|\.\s)", re.IGNORECASE)


def default_of(schema: dict[str, Any]) -> Value | None:
    """The number that a parameter has by itself, as its schema or its description tells."""
    told = schema.get("default")
    if isinstance(told, (int, float)) and not isinstance(told, bool):
        return told
    match = _DEFAULT.search(str(schema.get("description") or ""))
    read = numbers(match[1]) if match else []
    return read[0].forms[0] if read and _allowed(read[0].forms[0], schema) else None
