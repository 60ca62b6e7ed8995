"""Which of a text's own values could be a parameter's.

Those of its kind (`slot_kinds.py`) are found in the text (`said.py`). Words beside a value say whose it is: "from Paris",
"three days", "port 443".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import pairwise, takewhile
from typing import Any

import msgspec

from toolglot.pipeline.date_forms import dates_in_form, edges_of_months, times_in_form
from toolglot.pipeline.related_words import related
from toolglot.pipeline.relevance import words_of
from toolglot.pipeline.said import FUNCTION_WORDS, Find, Said, Value, Word
from toolglot.pipeline.said_bounds import is_bounded, is_priced
from toolglot.pipeline.said_choices import interval, times_a_year
from toolglot.pipeline.said_codes import codes_said
from toolglot.pipeline.said_labels import marked, named_before
from toolglot.pipeline.said_numbers import NUMBER_WORDS, numbers
from toolglot.pipeline.said_texts import told_text
from toolglot.pipeline.said_units import CURRENCY_CODES, in_unit, unit_after, wanted_unit
from toolglot.pipeline.slot_kinds import Slot, begins_alike

MOST = 150  # values of one parameter: a grammar of more is slow to make


# kinds whose values are known by their form; of all others the model chooses among the text's own words
SHARP = frozenset({"number", "date", "time", "email", "phone", "url", "host", "path", "code", "tag", "address"})

# codes that no text need say: where it says none, the model writes one of this form
FORMS = {"ticker": "^[A-Z]{1,5}$", "airport": "^[A-Z]{3}$", "currency": "^[A-Z]{3}$"}

# a word before a value -> words of the parameter that it points to
_POINTS = {
    "from": "from origin source start base begin departure depart sender old initial pickup"
    " company organization brand store shop",
    "between": "from origin source start begin",
    "to": "to destination target end arrival quote recipient until into new dest final dropoff",
    "into": "to target destination",
    "until": "end to until",
    "in": "city location place country in to room language",
    "at": "at place restaurant location address time price host",
    "by": "artist author by director writer maker actor",
    "for": "for name recipient city location topic party",
    "on": "on date day",
    "with": "with attendee",
    "called": "name title",
    "named": "name title",
    "titled": "title name",
    "saying": "message body text content",
    "says": "message body text content",
    "say": "message body text content",
    "off": "from base",
    "about": "topic query subject",
    "than": "price",
    "under": "price",
    "below": "price",
    "of": "name",
}
_POINTED = {word: frozenset(names.split()) for word, names in _POINTS.items()}
_APART = re.compile(r"[,;:?!]|\.\s")
_BEHIND = re.compile(r"['\"”’]? (?:(?:in|as) (?:the|a|its|my) )?([^\W\d_]+)")
_EQUALS = re.compile(r"([A-Za-z]\w*)\s?=\s?$")
_AMOUNT = re.compile(rf"(?:\d|\b(?:{'|'.join(NUMBER_WORDS)}|hundred|thousand|million|half|dozen))[ -]?$", re.IGNORECASE)
_REPEATED = re.compile(r"compound|times a year|times .*per year|interest is (?:added|paid)", re.IGNORECASE)
_ADDRESSED = frozenset({"to", "cc", "bcc", "recipient", "recipients", "attendee", "attendees", "invitees", "participants"})
_FULL_NAME = re.compile(r"\bnames?\b", re.IGNORECASE)
_PARTS = {"first": frozenset({"first", "given", "forename", "firstname"}), "last": frozenset({"last", "surname", "family", "lastname"})}
_LONG_NAME = 3  # words
_NO = frozenset({"no", "without"})
_AHEAD = 2  # words after a number
_LABEL = 20  # characters before a number
_WITHIN = 3  # words between a value and the one that says whose it is


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
    quoted = _short(said.quoted)
    named = [one for one in _merged(said.names, said.capitals) if not any(_around(other, one) for other in said.streets)]
    bare = [one for one in _merged(said.streets, named) if not any(_around(other, one) for other in said.quoted)]
    return _merged(said.called, quoted, [one for one in bare if not any(_around(other, one) for other in said.called)])


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
    "path": lambda said: _merged(said.paths, said.folders) or _short(said.quoted),
    "code": lambda said: said.codes or _short(said.quoted),
    "tag": lambda said: said.tags or _short(said.quoted),
    "address": lambda said: said.addresses or _merged(said.names, _short(said.quoted)),
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


_FIRSTS = frozenset({"start", "from", "begin", "first", "since", "after"})
_LASTS = frozenset({"end", "to", "until", "last", "before", "till"})


def sure(this: Slot, said: Said) -> list[Find]:
    """The values that are of the parameter's kind, with no doubt about that."""
    if told := exact(this, said):
        return told
    found = _told(this, said)
    if "month" in this.own and (told := _of_months(this, said)):
        return told
    if this.kind == "number":
        found = _in_its_form(this, found, said)
    if this.kind == "number" and re.search(r"year\d*$", this.name, re.IGNORECASE):
        found = [one for one in found if 1000 <= float(one.value) < 3000] or found
    if this.kind == "number":
        found = _in_its_unit(this, found, said)
    if this.kind == "number":
        found = [*_none(this, said), *found]
    if this.kind == "name":
        found = [_untitled(this, one) for one in found]
    if this.kind in _LABELLED:
        told = labelled(this, said)
        written = [*named_before(this.own, said), *marked(this.own, said)] if this.kind in ("name", "words") else []
        found = _merged(told, written) if written else _merged(told, found)
    return [one for one in found if _allowed(one.value, this.schema)]


def exact(this: Slot, said: Said) -> list[Find]:
    """The values that are this parameter's and no other's, by what it asks for."""
    about = str(this.schema.get("description") or "")
    if this.kind == "number" and "interval" in this.own:
        return interval(said)
    if this.kind == "number" and _REPEATED.search(f"{this.name} {about}"):
        return times_a_year(said)
    if this.own & _ADDRESSED and said.emails and not _FULL_NAME.search(about):
        return said.emails
    if this.kind in ("name", "words") and (part := next((part for part in _PARTS if this.own & _PARTS[part]), None)):
        return _part_of_names(part, said)
    if this.kind in ("name", "words", "free", "code"):
        return codes_said(this.name, about, said) or told_text(this.name, about, said)
    return []


def _part_of_names(part: str, said: Said) -> list[Find]:
    """Tomasz Zielinski is Tomasz first and Zielinski last."""
    people = [one for one in said.names if 1 < len(str(one.value).split()) <= _LONG_NAME and "," not in str(one.value)]
    cut = [(one, *str(one.value).split(" ", 1)) for one in people]
    ends = [Find(last, one.end - len(last), one.end) for one, _, last in cut]
    return (ends if part == "last" else [Find(first, one.start, one.start + len(first)) for one, first, _ in cut])[:1]


def _told(this: Slot, said: Said) -> list[Find]:
    in_form = _IN_FORM.get(this.kind)
    about = str(this.schema.get("description") or "")
    if in_form is not None:
        found = _merged(in_form(about, said))
        bounds = this.kind == "date" and not found and this.own & (_FIRSTS | _LASTS)
        return edges_of_months(about, said, last=not this.own & _FIRSTS) if bounds else found
    return _SURE[this.kind](said) if this.kind in _SURE else []


def _of_months(this: Slot, said: Said) -> list[Find]:
    """A month by its number, or by its name where any words may be the value."""
    told = [*said.months, *said.moments]
    if this.kind == "number":
        return [Find(int(one.known.split("-")[1]), one.start, one.end) for one in told]
    return [Find(one.written.split()[0].strip(","), one.start, one.end) for one in said.months] if this.kind == "words" else []


def _in_its_form(this: Slot, found: list[Find], said: Said) -> list[Find]:
    """Of 3.5 % a percentage is 3.5, and any other share 0.035."""
    about = f"{this.name} {this.schema.get('description') or ''}".lower()
    whole = this.schema.get("type") == "integer" or "percent" in about
    shares = {one.start for one in found if re.search(r"%|percent", said.text[one.start : one.end])}
    firsts = {one.start: one.value for one in reversed(found)}
    return [one for one in found if one.start not in shares or (one.value == firsts[one.start]) is whole]


def _in_its_unit(this: Slot, found: list[Find], said: Said) -> list[Find]:
    wanted = wanted_unit(this.name, str(this.schema.get("description") or ""))
    if wanted is None:
        return found
    turned = ((one, in_unit(float(one.value), said.text[one.end : one.end + 20], wanted)) for one in found)
    return [one if value is None else msgspec.structs.replace(one, value=value) for one, value in turned]


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


_LABELLED = frozenset({"name", "words", "tag", "code", "address"})
_LEADING = frozenset({"from", "off", "into"})
_GENERIC = frozenset({"name", "id", "title", "number", "code"})
_BETWEEN = frozenset(
    {"called", "named", "is", "titled", "number", "numbered", "no", "id", "uuid", "of", "as", "to", "be", "with"}
    | {"name", "set", "should", "will", "must"}
)
_FURTHER = 4  # words from a name to its value


def labelled(this: Slot, said: Said) -> list[Find]:
    """What follows the parameter's own name: the table customers, the branch called develop, the key with the id A17."""
    found = []
    own = this.own - _POINTED.keys()
    plain = len(own - _GENERIC) <= 1
    for at, word in enumerate(said.words[:-1]):
        rest = said.words[at + 1 :][:_FURTHER]
        skipped = list(takewhile(lambda one: one.low in _BETWEEN or set(words_of(one.low)) & (this.words | this.named), rest))
        if len(skipped) == len(rest):
            skipped = skipped[:-1]
        value = rest[len(skipped)]
        called = any(one.low in ("called", "named") for one in skipped)
        twice = at > 0 and said.words[at - 1].low in own
        labels = ((plain or twice) and word.low in own) or (called and bool(own & {"name", "title"}))
        leads = word.low in _LEADING and bool(this.own & _POINTED[word.low])
        apart = re.search(r"[,.;?!]", said.text[word.end : value.start])
        quoted = any(quote.start <= value.start < quote.end for quote in said.quoted)
        if this.kind == "code" and not quoted and not any(map(str.isdigit, value.text)):
            continue
        quote = next((quote for quote in said.quoted if word.end <= quote.start <= rest[-1].start), None)
        if labels and quote is not None and not re.search(r"[,.;?!]", said.text[word.end : quote.start]):
            found.append(quote)
        elif (labels or leads) and value.low not in FUNCTION_WORDS and not apart:
            one = Find(value.text, value.start, value.end)
            found.append(next((whole for whole in [*said.quoted, *said.streets] if _around(whole, one)), one))
    return [
        one
        for one in found
        if not any(_around(name, one) and name != one for name in [*said.names, *said.quoted, *said.called])
    ]


def _around(name: Find, one: Find) -> bool:
    return name.start <= one.start and one.end <= name.end


def maybe(this: Slot, said: Said, rest: list[Find]) -> list[Find]:
    """What else it might be: any of the rest of the text's words. Free text may go on to the end of a clause."""
    if this.kind == "free":
        free = {(one.start, one.end) for one in rest}
        quoted = [one for one in said.quoted if (one.start, one.end) in free]
        return _merged(quoted) or _merged(rest, said.after_colon, said.stretches)
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


# -- whose value it is


def pointed(this: Slot, one: Find, said: Said) -> float:
    """How clearly the words beside a value say that it is this parameter's."""
    score = 0.0
    before = _before(one, said)
    for far, word in enumerate(reversed(before)):
        if far and (word.text[0].isdigit() or _APART.search(said.text[word.end : one.start])):
            break
        if this.own & _POINTED.get(word.low, frozenset()) and not (this.kind == "number" and word.low == "at"):
            score += 2.0 if not far else 1.0 if far == 1 and before[-1].low in FUNCTION_WORDS else 0.0
        score += _shared(word.low, this) / (1 + far / 2)
    if this.kind != "number":
        return score + _labelled_behind(this, one, said) + _measured(this, one, said)
    score += is_bounded(this.own, one, said) + is_priced(this.own, one, said)
    label = _EQUALS.search(said.text[max(0, one.start - _LABEL) : one.start])  # x in "x = 3"
    if label:
        return 2.0 if label[1].lower() in this.own else 0.0
    unit = unit_after(said.text[one.end : one.end + 20])
    wanted = wanted_unit(this.name, str(this.schema.get("description") or ""))
    behind = _after(one, said)
    if unit is not None and wanted is not None:
        score += 1.5 if unit[0] == wanted[0] else -2.0
        behind = behind[1:]
    return score + sum(_shared(word, this) for word in behind)


def _before(one: Find, said: Said) -> list[Word]:
    """The words before a value. What follows another number is that one's."""
    found = [word for word in said.words if word.end <= one.start][-_WITHIN:]
    counts = [at for at, word in enumerate(found) if word.text[0].isdigit() and at + 1 < len(found)]
    if counts and len(found) - counts[-1] > 1:
        found = [*found[: counts[-1] + 1], *found[counts[-1] + 2 :]]
    return found


def _labelled_behind(this: Slot, one: Find, said: Said) -> float:
    """The Darwin model, Bill Murray in the cast: what stands behind a value may say what it is."""
    behind = _BEHIND.match(said.text, one.end)
    return 1.5 if behind and set(words_of(behind[1].lower())) & this.named else 0.0


def _measured(this: Slot, one: Find, said: Said) -> float:
    """The unit or currency that an amount is told in is the one to convert from, wherever it stands."""
    if this.kind not in ("enum", "unit", "currency") or not _AMOUNT.search(said.text, max(0, one.start - _LABEL), one.start):
        return 0.0
    if not any(one.start <= unit.start < one.end for unit in [*said.units, *said.currencies]):
        return 0.0
    if this.own & _POINTED["to"]:
        return -2.0
    return 1.5 if this.kind != "unit" or this.own & _POINTED["from"] else 0.0


def _after(one: Find, said: Said) -> list[str]:
    """The words behind a number, up to one that tells nothing."""
    clause = re.split(r"[,.;:?!](?:\s|$)", said.text[one.end : one.end + 40])[0].lower()
    words = re.findall(r"[^\W\d_]+", clause)[:_AHEAD]
    return list(takewhile(lambda word: word not in FUNCTION_WORDS and word not in NUMBER_WORDS, words))


def _shared(word: str, this: Slot) -> float:
    """A word of its name says more than one of its description."""
    if word in FUNCTION_WORDS:
        return 0.0
    stems = set(words_of(word))
    if stems & this.named or any(begins_alike(stem, own) for stem in stems for own in this.named):
        return 1.5
    if any(related(stem) & this.named for stem in stems):
        return 1.0
    return 0.5 if stems & this.words else 0.0
