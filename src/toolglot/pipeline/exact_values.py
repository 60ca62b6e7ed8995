"""Values that are one parameter's and no other's, by what it asks for: a code, a part of a name, what to be reminded of."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from itertools import takewhile

from toolglot.pipeline.asked_forms import compass, formed, globbed, hosted
from toolglot.pipeline.date_forms import day_in_form
from toolglot.pipeline.plain_words import FUNCTION_WORDS
from toolglot.pipeline.relevance import words_of
from toolglot.pipeline.said import Find, Said
from toolglot.pipeline.said_bounds import last_one
from toolglot.pipeline.said_choices import interval, times_a_year
from toolglot.pipeline.said_codes import codes_said, tickers_said
from toolglot.pipeline.said_numbers import NUMBER_WORDS
from toolglot.pipeline.said_sums import summed
from toolglot.pipeline.said_texts import told_text
from toolglot.pipeline.said_units import TIME, unit_after, wanted_unit
from toolglot.pipeline.slot_kinds import Slot, begins_alike

_REPEATED = re.compile(r"compound|times a year|times .*per year|interest is (?:added|paid)", re.IGNORECASE)
_ADDRESSED = frozenset({"to", "cc", "bcc", "recipient", "recipients", "attendee", "attendees", "invitees", "participants"})
_FULL_NAME = re.compile(r"\bnames?\b", re.IGNORECASE)
_PARTS = {
    "first": frozenset({"first", "given", "forename", "firstname"}),
    "last": frozenset({"last", "surname", "family", "lastname"}),
}
_VERSIONED = frozenset({"version", "release"})
_SORTED = frozenset({"sort", "order", "sorting", "orderby", "sortby"})
_SORT = re.compile(r"\b(?:sort|order|rank)(?:ed|ing)? (?:[a-z]+ ){0,2}?by (?:the )?(?P<key>[\w-]+)", re.IGNORECASE)
_DOING = re.compile(
    r"\b(?P<verb>[a-z]+(?:ed|e|gn))\s+(?:(?:it|this|that|them|the \w+|task \S+)\s+)?(?:to|by)\s+"
    r"(?P<whom>(?!the\b|my\b|a\b|me\b)[^\W\d_])",
    re.IGNORECASE,
)
_DID = re.compile(r" (?:has |had |have )?(?P<verb>[a-z]+ed)\b(?! (?:by|to)\b)")
_SHORT = 4  # letters of a stem
# parameters whose values everyone knows
_KNOWN = tuple(
    (frozenset(own.split()), re.compile(rf"\b(?:{words})\b", re.IGNORECASE))
    for own, words in {
        "color colour": r"(?:(?:dark|light|navy|pale|bright|hot) )?(?:red|blue|green|yellow|black|white|orange|purple|pink"
        r"|brown|gr[ae]y|silver|gold|beige|turquoise|violet|navy|teal|maroon)",
        "genre genres": r"action|adventure|animation|comedy|crime|documentary|drama|fantasy|horror|mystery|noir|romance"
        r"|romantic comedy|science fiction|sci-fi|thriller|western|jazz|rock|pop|classical|hip[- ]hop|rap|techno|house|metal"
        r"|folk|country|blues|reggae|soul|funk|punk|electronic|indie|ambient|r&b|biography|poetry",
        "cuisine": r"american|brazilian|chinese|ethiopian|french|german|greek|indian|italian|japanese|korean|lebanese"
        r"|mediterranean|mexican|middle eastern|moroccan|peruvian|polish|portuguese|spanish|thai|turkish|vietnamese|vegan"
        r"|vegetarian|sushi",
    }.items()
)
_FOLDERS = frozenset({"directory", "folder", "dir"})
_NUMBERS = frozenset({"number", "id", "no", "issue"})
_DIGITS = re.compile(r"\d{1,9}")
_LEAVING = frozenset({"end", "out", "checkout", "return", "departure", "to", "until"})
_NIGHTS = re.compile(rf"\b(?:\d+|{'|'.join(NUMBER_WORDS)}) nights?\b", re.IGNORECASE)
_HALF_DAY = 12 * 60
_NIGHTLY = range(1, 366)
_UNIT = 20  # characters behind a number
_SIDES, _DICE = frozenset({"sides", "side", "faces"}), frozenset({"count", "dice", "rolls", "num", "number", "times"})
_DIE = re.compile(r"\b(?P<dice>\d{1,2})?d(?P<sides>\d{1,3})\b", re.IGNORECASE)
_LONG_NAME = 3  # words


def exact(this: Slot, said: Said) -> list[Find]:
    """The values that are this parameter's and no other's, by what it asks for."""
    return next((found for finder in _FINDERS.get(this.kind, ()) if (found := finder(this, said))), [])


def _repeated(this: Slot, said: Said) -> list[Find]:
    """Every second week; compounded quarterly."""
    if "interval" in this.own:
        return interval(said)
    return times_a_year(said) if _REPEATED.search(f"{this.name} {this.about}") else []


def _known(this: Slot, said: Said) -> list[Find]:
    """A colour, a genre, a cuisine; or the name that it is a part of: Sea Green."""
    match = next((told for own, words in _KNOWN if this.own & own and (told := words.search(said.text))), None)
    if match is None:
        return []
    names = (name for name in said.names if name.start <= match.start() < name.end)
    return [next(names, Find(match[0], match.start(), match.end()))]


def _versioned(this: Slot, said: Said) -> list[Find]:
    return said.versions if this.own & _VERSIONED else []


def _sorted_by(this: Slot, said: Said) -> list[Find]:
    match = _SORT.search(said.text) if this.own & _SORTED else None
    return [Find(match["key"], match.start("key"), match.end("key"))] if match else []


def _addressed(this: Slot, said: Said) -> list[Find]:
    """A recipient's address, where the text has any."""
    return said.emails if this.own & _ADDRESSED and not _FULL_NAME.search(this.about) else []


def _coded(this: Slot, said: Said) -> list[Find]:
    return codes_said(this.name, this.about, said)


def _told(this: Slot, said: Said) -> list[Find]:
    return told_text(this.name, this.about, said)


def _is_verb_of(this: Slot, verb: str) -> bool:
    return any(begins_alike(stem, own) for stem in words_of(verb) for own in this.named if len(own) > _SHORT)


def _done_to(this: Slot, said: Said) -> list[Find]:
    """Assign it to hwang; directed by david leitch: a verb of the parameter's own name, and whom it is done to or by."""
    for one in said.names:  # the films Agnes Varda directed
        did = _DID.match(said.text, one.end)
        if did is not None and _is_verb_of(this, did["verb"]):
            return [one]
    for match in _DOING.finditer(said.text):
        if _is_verb_of(this, match["verb"]):
            start = match.start("whom")
            name = next((one for one in said.names if one.start == start), None)
            behind = [word for word in said.words if word.start >= start]
            run = list(takewhile(lambda word: word.low not in FUNCTION_WORDS, behind))
            whole = [word for at, word in enumerate(run) if not said.is_broken(run[: at + 1])][:_LONG_NAME]
            return [name or said.span(whole)] if whole else []
    return []


def _span(this: Slot, said: Said) -> list[Find]:
    """The nights between two days; the minutes from two to half past three."""
    days = [one for one in said.moments if one.value]
    if this.own & {"nights", "night"} and len(days) == 2 and "night" not in said.text:
        apart = date.fromisoformat(days[1].value) - date.fromisoformat(days[0].value)
        return [Find(apart.days, days[1].start, days[1].end)]
    wanted = wanted_unit(this.name, this.about) if this.own & {"duration", "length"} else None
    if wanted is None or wanted[0] != TIME or len(said.times) != 2:
        return []
    told = [one for one in said.numbers if (unit := unit_after(said.text[one.end : one.end + _UNIT])) and unit[0] == TIME]
    if told:
        return []
    first, last = (int(clock[:2]) * 60 + int(clock[3:5]) for clock in (str(one.value) for one in said.times))
    length = (last - first) % _HALF_DAY * 60 / wanted[1]
    return [Find(int(length) if length == int(length) else length, said.times[1].start, said.times[1].end)]


def _left_on(this: Slot, said: Said) -> list[Find]:
    """Three nights from 1 June end on the 4th."""
    days, nights = [one for one in said.moments if one.value], _NIGHTS.search(said.text)
    counted = [one for one in said.numbers if nights is not None and one.start == nights.start() and one.value in _NIGHTLY]
    if len(days) != 1 or not counted or not this.own & _LEAVING:
        return []
    last = (date.fromisoformat(days[0].value) + timedelta(int(counted[0].value))).isoformat()
    return [Find(day_in_form(this.about, last), counted[0].start, counted[0].end)]


def _part_of_names(this: Slot, said: Said) -> list[Find]:
    """Tomasz Zielinski is Tomasz first and Zielinski last."""
    part = next((part for part in _PARTS if this.own & _PARTS[part]), None)
    people = [one for one in said.names if 1 < len(str(one.value).split()) <= _LONG_NAME and "," not in str(one.value)]
    if not people or part is None:
        return []
    name, (first, last) = people[0], str(people[0].value).split(" ", 1)
    return [Find(last, name.end - len(last), name.end) if part == "last" else Find(first, name.start, name.start + len(first))]


def _of_months(this: Slot, said: Said) -> list[Find]:
    """A month by its number, or by its name where any words may be the value."""
    if "month" not in this.own:
        return []
    told = [*said.months, *said.moments]
    if this.kind == "number":
        return [Find(int(one.known.split("-")[1]), one.start, one.end) for one in told]
    return [Find(one.written.split()[0].strip(","), one.start, one.end) for one in said.months]


def _in_folder(this: Slot, said: Said) -> list[Find]:
    """The folder that is called one, where a folder is asked for."""
    return said.folders if this.own & _FOLDERS else []


def _numbered(this: Slot, said: Said) -> list[Find]:
    """Issue #96."""
    if not this.own & _NUMBERS:
        return []
    return [Find(int(one.value), one.start, one.end) for one in said.tags if _DIGITS.fullmatch(str(one.value))]


def _sided(this: Slot, said: Said) -> list[Find]:
    """A d20 has twenty sides, and 3d6 are three dice."""
    part = "sides" if this.own & _SIDES else "dice" if this.own & _DICE else None
    found = _DIE.finditer(said.text) if part is not None else ()
    return [Find(int(match[part]), *match.span(part)) for match in found if part is not None and match[part]]


def _lone(this: Slot, said: Said) -> list[Find]:
    return last_one(this.own, this.about, said)


_NAMED = (globbed, formed, _addressed, _part_of_names, _versioned, _sorted_by, _done_to, _known, _coded, _told)
_FINDERS: dict[str, tuple[Callable[[Slot, Said], list[Find]], ...]] = {
    "number": (compass, _sided, _numbered, _repeated, _of_months, _span, _lone),
    "date": (_left_on,),
    "path": (globbed, _in_folder),
    "host": (hosted,),
    "ticker": (lambda _, said: tickers_said(said),),
    "name": _NAMED,
    "words": (_of_months, *_NAMED),
    "free": (formed, summed, _addressed, _coded, _told),
    "code": (formed, _versioned, _coded, _told),
    "email": (_addressed,),
}
