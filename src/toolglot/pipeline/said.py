"""What a text says that could be a value: names, quoted words, codes, addresses, numbers, dates, and plain runs of words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from functools import cached_property
from itertools import pairwise

import msgspec

from toolglot.pipeline.plain_words import ASKING, DATED, LABELS
from toolglot.pipeline.said_numbers import Number, numbers
from toolglot.pipeline.said_places import ADDRESS, PLACE, STREET, STREET_ADDRESS
from toolglot.pipeline.said_times import Moment, dates, months, times
from toolglot.pipeline.said_units import currencies, units

Value = str | int | float

_MOST_QUOTED = 0.8  # of a text: a question in quotes is still a question
_TOKEN = re.compile(r"[^\s,;:!?\"“”()\[\]{}]+")
_TRIM = ".'’‘"
_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|‘([^’]+)’|(?<!\w)'((?:[^']|(?<=\w)'(?=\w))+)'(?!\w)|`([^`]+)`")
_DATED_WORD = re.compile(r"(?:19|20)\d\d(?![\w])|\d+[/.-]\d")  # of a season, not of a name
_WRAPPED = re.compile(r"^\"([^\"]*)\"$")  # a question in quotes
_AFTER_COLON = re.compile(r":\s+(\S.*)$", re.DOTALL)
_SENTENCE = re.compile(r"(?:[.!?:]\s+|\n)\W*$")
_WORDLIKE = re.compile(r"\w")
_BREAK = re.compile(r"[,;:!?\"“”()\[\]]|\.\s")
_TITLES = frozenset({"Mr", "Mrs", "Ms", "Dr", "Prof", "St"})
_SCALE = re.compile(r"\bout of $|[a-z²\d] ?[-+] ?[\d.]+ ?= ?$", re.IGNORECASE)  # 4 out of 5; 2x - 3 = 0
_COUNTED = re.compile(r" [a-z]{3,}s\b")  # stars
_SCALED, _LOOK_BACK = 12, 6  # characters before a number; between the end of a sentence and the next word
EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)+")
_URL = re.compile(r"\bhttps?://[^\s,;\"')>]+[^\s,;\"')>.?!]")
_HOST = re.compile(
    r"(?<![@\w/.-])(?:\d{1,3}(?:\.\d{1,3}){3}|(?:[a-z\d-]++\.)+[a-z]{2,})(?![\w@/])|\blocalhost\b", re.IGNORECASE
)
_PHONE = re.compile(r"(?<![\w-])(?!\d++\.\d++(?![\s.-]?[\d(]))\+?\d[\d\s().-]{5,}\d(?![\w-])")
_PATH = re.compile(r"[\w.~-]*/[\w./~-]*|[\w~-][\w.~-]*\.[A-Za-z]\w{0,4}", re.ASCII)
_CODE = re.compile(r"(?<![\w/.@+-])#?(?=[\w-]*\d)\w++(?:[-/]\w++)*+(?!@|\.\d)")
_TWO_WORDED = re.compile(r"\b[A-Z]{2,3} \d{2,5}\b")  # a flight: LH 438
_VERSION = re.compile(r"(?<![\w.])v?\d+(?:\.\d+){1,3}(?:-[a-z]+\.?\d*)?(?![\w.]\w|%)", re.IGNORECASE)
_CAPS = re.compile(r"\b[A-Z][A-Z0-9]{1,5}\b")
_NOUN = (
    r"(?!(?:and|or|in|at|for|to|from|of|the|a|an|with|on|by|is|are|that|which|my|me|please|I|we|you|he|she|they)\b)\w[\w'-]*"
)
_THING = rf"{_NOUN}(?: (?:of |per )?{_NOUN}){{0,2}}"
_ROW = re.compile(rf"\b{_THING}(?:, {_THING})*,? (?:and|&|or) (?:an? |the )?{_THING}(?=[\s.,;?!]|$)")
_ITEM = re.compile(rf"\b{_THING}")
_CALLED = re.compile(rf"\b(?:called|named|titled) ({_NOUN}(?: {_NOUN}){{0,4}})")
_FOLDER = re.compile(
    r"\b(?:the|my|our) ([\w.-]+) (?:folder|directory)\b"
    r"|\b(?:under|inside|below) (?:the )?([\w.-]*[a-z][\w.-]*)(?! \w+ (?:folder|dir))"
)
_TAG = re.compile(r"#([\w-]+)")

# words that name nothing by themselves
_PLAIN = """
a about after again all also am an and any are as at be been before being both but by can can't could did do does don't each
either else ever every few for from get give got had has have he her here hers him his how i i'd i'll i'm i've if in into is
isn't it it's its just kindly know last less let let's like many may me might mine more most much must my need no nor not now of
off ok okay on one ones or our out over own per please quite really same say shall she should so some such tell than thanks that
that's the their them then there there's these they thing things this those to too up us very via want was wasn't we were what
what's when where where's which while who who's whom whose why will with within without won't would yes yet you you'd you're
your yours
"""
FUNCTION_WORDS = frozenset(_PLAIN.split())
_NOT_NAMES = FUNCTION_WORDS | DATED | {"celsius", "fahrenheit"}
_LINKS = "of de da del della di do dos du la le van von der den the and & y v."
_JOINS = frozenset(_LINKS.split())


class Find(msgspec.Struct, frozen=True):
    """`value` as a call would have it, and where it stands."""

    value: Value
    start: int
    end: int


class Word(msgspec.Struct, frozen=True):
    text: str
    start: int
    end: int
    first: bool  # of its sentence

    @property
    def low(self) -> str:
        return self.text.lower()


class Said:
    """A text, and its values by kind. Each kind is looked for when it is asked for, once."""

    def __init__(
        self,
        text: str,
        today: date | None = None,
        *,
        midway: bool = False,
        earlier: str = "",
        counting: frozenset[int] = frozenset(),
    ) -> None:
        """`midway`: the text begins in the middle of a sentence. `earlier` was said before: it has no values of its own.

        `counting` are numbers that only count what is told (two circles).
        """
        self.text, self.today, self._midway, self._earlier, self._counting = text, today, midway, earlier, counting
        self.runs: list[Find] | None = None  # as said_runs.py finds them, once

    def part(self, start: int, end: int) -> Said:
        midway, counting = not self._begins(start), self.counting
        return Said(self.text[start:end], self.today, midway=midway, earlier=self._earlier, counting=counting)

    def without(self, finds: list[Find]) -> Said:
        """The same text with blanks where these stand."""
        text = self.text
        for one in finds:
            text = text[: one.start] + " " * (one.end - one.start) + text[one.end :]
        rest = Said(text, self.today, midway=self._midway, earlier=self._earlier, counting=self.counting)
        rest.moments = [  # a day may have its month from another date
            one for one in self.moments if not any(one.start < find.end and find.start < one.end for find in finds)
        ]
        return rest

    @cached_property
    def about(self) -> list[Word]:
        """The words that tell what it is about."""
        return [*self.words, *Said(self._earlier).words] if self._earlier else self.words

    @cached_property
    def words(self) -> list[Word]:
        found = []
        for match in _TOKEN.finditer(self.text):
            text = match[0].strip(_TRIM) if match[0] not in _JOINS else match[0]  # Roe v. Wade
            if text:
                start = match.start() + match[0].index(text)
                found.append(Word(text, start, start + len(text), self._begins(start)))
        return found

    @cached_property
    def quoted(self) -> list[Find]:
        return [
            Find(text.strip(), match.start(), match.end())
            for match in _QUOTED.finditer(_WRAPPED.sub(r" \1 ", self.text))
            if (text := next(filter(None, match.groups())).strip()) and len(text) < _MOST_QUOTED * len(self.text)
        ]

    @cached_property
    def after_colon(self) -> list[Find]:
        match = _AFTER_COLON.search(self.text)
        return [Find(match[1].strip().strip("\"'"), match.start(1), match.end(1))] if match else []

    @cached_property
    def currencies(self) -> list[Find]:
        """By their codes."""
        return [Find(code, start, end) for code, start, end in currencies(self.text)]

    @cached_property
    def units(self) -> list[Find]:
        return [Find(name, start, end) for name, start, end in units(self.text)]

    @cached_property
    def emails(self) -> list[Find]:
        return _all(EMAIL, self.text)

    @cached_property
    def urls(self) -> list[Find]:
        return _all(_URL, self.text)

    @cached_property
    def hosts(self) -> list[Find]:
        return _all(_HOST, self.text)

    @cached_property
    def phones(self) -> list[Find]:
        found = _all(_PHONE, self.text)
        return [one for one in found if sum(sign.isdigit() for sign in str(one.value)) >= 7 and not self._dated(one)]

    @cached_property
    def paths(self) -> list[Find]:
        """Whole words with a slash in them, or an ending."""
        return [Find(word.text, word.start, word.end) for word in self.words if _PATH.fullmatch(word.text)]

    @cached_property
    def codes(self) -> list[Find]:
        """What has a digit in it and is no date; and runs of capitals."""
        pairs = [
            one for one in _all(_TWO_WORDED, self.text) if not self._dated(one) and str(one.value).split()[0] not in LABELS
        ]
        digits = [*pairs, *(one for one in _all(_CODE, self.text) if not self._dated(one) and not _within(one, pairs))]
        digits = [msgspec.structs.replace(one, value=str(one.value).lstrip("#")) for one in digits]
        capitals = [one for one in self.capitals if not _within(one, digits)]
        return sorted([*digits, *capitals], key=lambda one: one.start)

    @cached_property
    def versions(self) -> list[Find]:
        return [one for one in _all(_VERSION, self.text) if not self._dated(one)]

    @cached_property
    def capitals(self) -> list[Find]:
        return [one for one in _all(_CAPS, self.text) if one.value not in LABELS]

    @cached_property
    def tags(self) -> list[Find]:
        return [Find(match[1], match.start(1), match.end(1)) for match in _TAG.finditer(self.text)]

    @cached_property
    def dates(self) -> list[Find]:
        return [Find(one.value or one.written, one.start, one.end) for one in self.moments]

    @cached_property
    def moments(self) -> list[Moment]:
        return dates(self.text, self.today)

    @cached_property
    def months(self) -> list[Moment]:
        """Those that no day is told of."""
        return [one for one in months(self.text, self.today) if not _within(Find("", one.start, one.end), self.written_dates)]

    @cached_property
    def written_dates(self) -> list[Find]:
        return [Find(one.written, one.start, one.end) for one in dates(self.text, self.today or date(2000, 1, 1))]

    @cached_property
    def times(self) -> list[Find]:
        return [Find(one.value, one.start, one.end) for one in times(self.text)]

    @cached_property
    def written_times(self) -> list[Find]:
        return [Find(one.written, one.start, one.end) for one in times(self.text)]

    @cached_property
    def numbers(self) -> list[Find]:
        """Those outside of dates, times, telephone numbers and quotes; if there are none, all."""
        all_ = [Find(form, one.start, one.end) for one in numbers(self.text) for form in one.forms]
        all_ = [one for one in all_ if not _within(one, self.streets)]
        found = [one for one in all_ if not _SCALE.search(self.text[max(0, one.start - _SCALED) : one.start])] or all_
        apart = [one for one in found if not self._dated(one) and not _within(one, [*self.phones, *self.urls])]
        return [one for one in apart or found if one.value not in self.counting or self._has_digit(one)]

    @cached_property
    def counting(self) -> frozenset[int]:
        """Numbers in words that say how many are told in digits: four circles, with as many radii, or twice as many."""
        all_ = [one for one in numbers(self.text) if not _within(Find(0, one.start, one.end), self.written_dates)]
        told = sum(self._has_digit(one) for one in all_)
        spelt = {int(one.forms[0]) for one in all_ if not self._has_digit(one) and one.forms[0] >= 2}
        return self._counting | {count for count in spelt if told >= count and told % count == 0}

    @cached_property
    def names(self) -> list[Find]:
        """Runs of words with capitals: the run itself, and without a word that only begins the sentence."""
        found: list[Find] = []
        for run in map(self._without_count, self._runs()):
            start = run[0]
            alone = self._stands_alone(run)
            if start.first and len(run) > 1 and run[1].text[0].isupper() and not alone:
                found.append(self.span(run[1:]))
            if start.first and len(run) > 1 and run[1].text[0].isdigit():  # Convert 5
                continue
            verb = start.first and start.low in ASKING and len(run) > 1
            if (not start.first or len(run) > 1 or start.text.isupper() or alone) and not verb:
                found.append(self.span(run))
        return [one for one in [*found, *self.places] if not self._dated(one)]

    @cached_property
    def called(self) -> list[Find]:
        """What something is called: a scene called Movie night."""
        return [Find(match[1], match.start(1), match.end(1)) for match in _CALLED.finditer(self.text)]

    @cached_property
    def folders(self) -> list[Find]:
        groups = ((match, match.lastindex or 1) for match in _FOLDER.finditer(self.text))
        return [Find(match[at], match.start(at), match.end(at)) for match, at in groups]

    @cached_property
    def rows(self) -> list[list[Find]]:
        """The lists of things: "milk, brown bread and eggs"."""
        return [
            [Find(one[0], match.start() + one.start(), match.start() + one.end()) for one in _ITEM.finditer(match[0])]
            for match in _ROW.finditer(self.text)
        ]

    @cached_property
    def places(self) -> list[Find]:
        """A place and where it is: Naples, Florida."""
        return [Find(match[0], match.start(), match.end()) for match in PLACE.finditer(self.text)]

    @cached_property
    def addresses(self) -> list[Find]:
        """With a street's word at its end, where one has it: 14 Willow Lane is one, 2 Green Curry is not."""
        found = [one for one in _all(ADDRESS, self.text) if not self._dated(one)]
        return [one for one in found if STREET.search(str(one.value)) or not str(one.value)[0].isdigit()] or found

    @cached_property
    def streets(self) -> list[Find]:
        """Addresses, with the town where it follows: 123 White Street, San Jose."""
        found = [one for one in _all(STREET_ADDRESS, self.text) if STREET.search(str(one.value).split(",")[0])]
        return [one for one in found if not self._dated(one)]

    @cached_property
    def stretches(self) -> list[Find]:
        """Every run of words up to the end of its clause or of the text: what free text is taken from."""
        ends = [*(match.start() for match in re.finditer(r"[.!?;]?\s*$|[.!?;](?=\s)|,(?=\s)", self.text))]
        found: dict[str, Find] = {}
        for word in self.words:
            for end in ends:
                if word.end <= end:
                    found.setdefault(
                        self.text[word.start : end].strip(), Find(self.text[word.start : end].strip(), word.start, end)
                    )
        return list(found.values())

    # -- how

    def _begins(self, start: int) -> bool:
        """Whether a sentence begins here."""
        before = self.text[max(0, start - _LOOK_BACK) : start]
        if start <= _LOOK_BACK and not _WORDLIKE.search(before):
            return not self._midway
        return _SENTENCE.search(before) is not None

    def _runs(self) -> Iterator[list[Word]]:
        run: list[Word] = []
        for word in self.words:
            capital = word.text[0].isupper() and (
                (word.low not in _NOT_NAMES and word.text not in LABELS) or (not word.first and _is_titled(word.text))
            )
            joins = bool(run) and word.low in _JOINS
            if run and self.is_broken([run[-1], word]):
                yield from _ended(run)
                run = []
                joins = False
            if capital or joins or (run and word.text[0].isdigit() and not _DATED_WORD.match(word.text)):
                run.append(word)
            else:
                yield from _ended(run)
                run = []
        yield from _ended(run)

    def _without_count(self, run: list[Word]) -> list[Word]:
        """Spirited Away 5 stars: what counts something is no part of a name."""
        counts = len(run) > 1 and run[-1].text.isdigit() and _COUNTED.match(self.text, run[-1].end)
        return run[:-1] if counts else run

    def _stands_alone(self, run: list[Word]) -> bool:
        """New customer: Thessaly, born in May."""
        return self.text[run[-1].end : run[-1].end + 1] == "," and self.text[: run[0].start].rstrip().endswith(":")

    def span(self, run: list[Word]) -> Find:
        text = self.text[run[0].start : run[-1].end]
        return Find(re.sub(r"['’]s$", "", " ".join(text.split())), run[0].start, run[-1].end)

    def is_broken(self, run: list[Word]) -> bool:
        """Whether a sign that parts words stands between two of them, or a quotation begins or ends there."""
        edges = [edge for quote in self.quoted for edge in (quote.start, quote.end)]
        return any(
            (_BREAK.search(self.text[one.end : other.start]) and not _is_initial(one.text))
            or any(one.end <= edge <= other.start for edge in edges)
            for one, other in pairwise(run)
        )

    def _has_digit(self, one: Find | Number) -> bool:
        return any(sign.isdigit() for sign in self.text[one.start : one.end])

    def _dated(self, one: Find) -> bool:
        return _within(one, [*self.written_dates, *self.written_times])


def _ended(run: list[Word]) -> Iterator[list[Word]]:
    """Without joining words at the end; and where "and" may join two names, both apart as well."""
    while run and not (run[-1].text[0].isupper() or run[-1].text[0].isdigit()):
        run = run[:-1]
    if not run or not any(word.text[0].isupper() for word in run):
        return
    cut = next((at for at, word in enumerate(run) if word.low in ("and", "y")), None)
    if cut is not None:
        yield from _ended(run[:cut])
        yield from _ended(run[cut + 1 :])
    else:
        yield run


def _is_titled(text: str) -> bool:
    """A plain word that has a capital within a sentence: Both Sides Now."""
    return text.istitle() and text.isalpha() and len(text) > 1 and text.lower() in FUNCTION_WORDS


def _is_initial(text: str) -> bool:
    return text in _TITLES or (len(text) == 1 and text.isupper() and text != "I")


def _all(pattern: re.Pattern[str], text: str) -> list[Find]:
    return [Find(match[0].strip(), match.start(), match.end()) for match in pattern.finditer(text)]


def _within(one: Find, others: Iterable[Find]) -> bool:
    return any(other.start <= one.start and one.end <= other.end for other in others)
