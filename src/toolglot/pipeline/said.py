"""What a text says that could be a value: names, quoted words, codes, addresses, numbers, dates, and plain runs of words."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from datetime import date
from functools import cached_property
from itertools import islice, pairwise
from typing import Any, TypeVar

import msgspec

from toolglot.pipeline import said_forms as forms
from toolglot.pipeline.plain_words import ASKING, DATED, FUNCTION_WORDS, LABELS
from toolglot.pipeline.said_numbers import Number, numbers
from toolglot.pipeline.said_places import ADDRESS, PLACE, STREET, STREET_ADDRESS
from toolglot.pipeline.said_times import Moment, dates, months, times
from toolglot.pipeline.said_units import currencies, units
from toolglot.pipeline.said_words import Word, ended, is_initial, is_titled
from toolglot.pipeline.spans import Spans

Value = str | int | float
Kind = TypeVar("Kind")

_MOST_LOOKED = 250_000  # characters of parts, for each value that is looked for: an ordinary question has up to 210,000
_MOST_FINDS = 100  # of a kind: an ordinary question has less than 50
_MOST_STRETCHES = 1000
_EACH_LOOK = 150  # characters that each look counts for
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
_SCALE = re.compile(r"\bout of $|[a-z²\d] ?[-+] ?[\d.]+ ?= ?$", re.IGNORECASE)  # 4 out of 5; 2x - 3 = 0
_COUNTED = re.compile(r" [a-z]{3,}s\b")  # stars
_LOOK_BACK = 6  # characters between the end of a sentence and the next word
_SCALED = 12  # characters before a number
_NOT_NAMES = FUNCTION_WORDS | DATED | {"celsius", "fahrenheit"}
_LINKS = "of de da del della di do dos du la le van von der den the and & y v."
_JOINS = frozenset(_LINKS.split())


class Find(msgspec.Struct, frozen=True):
    """`value` as a call would have it, and where it stands."""

    value: Value
    start: int
    end: int


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
        part_of: Said | None = None,
    ) -> None:
        """`midway`: the text begins in the middle of a sentence. `earlier` was said before: it has no values of its own.

        `counting` are numbers that only count what is told (two circles).
        """
        self.text, self.today, self._midway, self._earlier, self._counting = text, today, midway, earlier, counting
        self.runs: list[Find] | None = None  # as said_runs.py finds them, once
        self.kept: dict[tuple[int, frozenset[str]], tuple[object, Any]] = {}  # what fills a schema, as own_words.py tells it
        self._parts: dict[tuple[int, int], Said] = {}
        self._rests: dict[frozenset[tuple[int, int]], Said] = {}
        self._is_part = part_of is not None
        self._looked: list[int] = [0] if part_of is None else part_of._looked  # at parts of the whole, in characters

    def part(self, start: int, end: int) -> Said:
        """Made once: what is found in it is asked for again and again."""
        if (start, end) not in self._parts:
            midway, counting = not self._begins(start), self.counting
            text = self.text[start:end]
            part = Said(text, self.today, midway=midway, earlier=self._earlier, counting=counting, part_of=self)
            self._parts[start, end] = part
        return self._parts[start, end]

    def look_for(self, values: int) -> None:
        """In a part of a question, for so many: that is counted, for there are far more parts than characters."""
        if self._is_part:
            self._looked[0] += values * (len(self.text) + _EACH_LOOK)

    @property
    def is_spent(self) -> bool:
        """Enough parts have been looked at."""
        return self._looked[0] > _MOST_LOOKED

    def without(self, finds: list[Find]) -> Said:
        """The same text with blanks where these stand. Made once."""
        key = frozenset((one.start, one.end) for one in finds)
        if key not in self._rests:
            self._rests[key] = self._blanked(finds)
        return self._rests[key]

    def _blanked(self, finds: list[Find]) -> Said:
        taken, text = Spans(finds), list(self.text)
        for one in finds:
            text[one.start : one.end] = " " * (one.end - one.start)
        rest = Said("".join(text), self.today, midway=self._midway, earlier=self._earlier, counting=self.counting)
        rest._is_part, rest._looked = self._is_part, self._looked
        rest.moments = [one for one in self.moments if not taken.meet(one)]  # a day may have its month from another date
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
                found.append(Word(text, start, start + len(text), self._begins(start), text.lower()))
        return found

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        return frozenset(word.low for word in self.words)

    def before(self, place: int, count: int) -> list[Word]:
        """So many of the words that end before it."""
        at = bisect_right(self.words, place, key=lambda word: word.end)
        return self.words[max(0, at - count) : at]

    @cached_property
    def quoted(self) -> list[Find]:
        return [
            Find(text.strip(), match.start(), match.end())
            for match in _some(_QUOTED.finditer(_WRAPPED.sub(r" \1 ", self.text)))
            if (text := next(filter(None, match.groups())).strip()) and len(text) < _MOST_QUOTED * len(self.text)
        ]

    @cached_property
    def after_colon(self) -> list[Find]:
        match = _AFTER_COLON.search(self.text)
        return [Find(match[1].strip().strip("\"'"), match.start(1), match.end(1))] if match else []

    @cached_property
    def currencies(self) -> list[Find]:
        """By their codes."""
        return [Find(code, start, end) for code, start, end in _some(currencies(self.text))]

    @cached_property
    def units(self) -> list[Find]:
        return [Find(name, start, end) for name, start, end in _some(units(self.text))]

    @cached_property
    def emails(self) -> list[Find]:
        return _all(forms.EMAIL, self.text)

    @cached_property
    def urls(self) -> list[Find]:
        return _all(forms.URL, self.text)

    @cached_property
    def hosts(self) -> list[Find]:
        return _all(forms.HOST, self.text)

    @cached_property
    def phones(self) -> list[Find]:
        found = _all(forms.PHONE, self.text)
        return [one for one in found if sum(sign.isdigit() for sign in str(one.value)) >= 7 and not self._dated(one)]

    @cached_property
    def paths(self) -> list[Find]:
        """Whole words with a slash in them, or an ending."""
        found = ((forms.dotted(self.text, word.start), word.end) for word in self.words if forms.PATH.fullmatch(word.text))
        return _some(Find(self.text[start:end], start, end) for start, end in found)

    @cached_property
    def codes(self) -> list[Find]:
        """What has a digit in it and is no date; and runs of capitals."""
        pairs = [
            one for one in _all(forms.TWO_WORDED, self.text) if not self._dated(one) and str(one.value).split()[0] not in LABELS
        ]
        whole = Spans(pairs)
        digits = [*pairs, *(one for one in _all(forms.CODE, self.text) if not self._dated(one) and not whole.hold(one))]
        digits = [msgspec.structs.replace(one, value=str(one.value).lstrip("#")) for one in digits]
        whole = Spans(digits)
        capitals = [one for one in self.capitals if not whole.hold(one)]
        return sorted([*digits, *capitals], key=lambda one: one.start)

    @cached_property
    def versions(self) -> list[Find]:
        return [one for one in _all(forms.VERSION, self.text) if not self._dated(one)]

    @cached_property
    def capitals(self) -> list[Find]:
        return [one for one in _all(forms.CAPS, self.text) if one.value not in LABELS]

    @cached_property
    def tags(self) -> list[Find]:
        return [Find(match[1], match.start(1), match.end(1)) for match in _some(forms.TAG.finditer(self.text))]

    @cached_property
    def dates(self) -> list[Find]:
        return [Find(one.value or one.written, one.start, one.end) for one in self.moments]

    @cached_property
    def moments(self) -> list[Moment]:
        return _some(dates(self.text, self.today))

    @cached_property
    def months(self) -> list[Moment]:
        """Those that no day is told of."""
        dated = Spans(self.written_dates)
        return [one for one in _some(months(self.text, self.today)) if not dated.hold(one)]

    @cached_property
    def written_dates(self) -> list[Find]:
        return [Find(one.written, one.start, one.end) for one in _some(dates(self.text, self.today or date(2000, 1, 1)))]

    @cached_property
    def times(self) -> list[Find]:
        return [Find(one.value, one.start, one.end) for one in self._times]

    @cached_property
    def written_times(self) -> list[Find]:
        return [Find(one.written, one.start, one.end) for one in self._times]

    @cached_property
    def _times(self) -> list[Moment]:
        return _some(times(self.text))

    @cached_property
    def numbers(self) -> list[Find]:
        """Those outside of dates, times, telephone numbers and quotes; if there are none, all."""
        all_ = [Find(form, one.start, one.end) for one in self._numbers for form in one.forms]
        streets, other = Spans(self.streets), Spans(self.phones, self.urls)
        all_ = [one for one in all_ if not streets.hold(one)]
        found = [one for one in all_ if not _SCALE.search(self.text[max(0, one.start - _SCALED) : one.start])] or all_
        apart = [one for one in found if not self._dated(one) and not other.hold(one)]
        return [one for one in apart or found if one.value not in self.counting or self._has_digit(one)]

    @cached_property
    def _numbers(self) -> list[Number]:
        return _some(numbers(self.text))

    @cached_property
    def counting(self) -> frozenset[int]:
        """Numbers in words that say how many are told in digits: four circles, with as many radii, or twice as many."""
        dated = Spans(self.written_dates)
        all_ = [one for one in self._numbers if not dated.hold(one)]
        told = sum(self._has_digit(one) for one in all_)
        spelt = {int(one.forms[0]) for one in all_ if not self._has_digit(one) and one.forms[0] >= 2}
        return self._counting | {count for count in spelt if told >= count and told % count == 0}

    @cached_property
    def names(self) -> list[Find]:
        """Runs of words with capitals: the run itself, and without a word that only begins the sentence."""
        found: list[Find] = []
        for run in map(self._without_count, _some(self._runs())):
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
        return [Find(match[1], match.start(1), match.end(1)) for match in _some(forms.CALLED.finditer(self.text))]

    @cached_property
    def folders(self) -> list[Find]:
        groups = ((match, match.lastindex or 1) for match in _some(forms.FOLDER.finditer(self.text)))
        return [Find(match[at], match.start(at), match.end(at)) for match, at in groups]

    @cached_property
    def rows(self) -> list[list[Find]]:
        """The lists of things: "milk, brown bread and eggs"."""
        return [
            [
                Find(one[0], match.start() + one.start(), match.start() + one.end())
                for one in _some(forms.ITEM.finditer(match[0]))
            ]
            for match in _some(forms.ROW.finditer(self.text))
        ]

    @cached_property
    def places(self) -> list[Find]:
        """A place and where it is: Naples, Florida."""
        return [Find(match[0], match.start(), match.end()) for match in _some(PLACE.finditer(self.text))]

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
        some = ((word, end) for word in self.words for end in ends[bisect_left(ends, word.end) :])
        for word, end in islice(some, _MOST_STRETCHES):
            text = self.text[word.start : end].strip()
            found.setdefault(text, Find(text, word.start, end))
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
                (word.low not in _NOT_NAMES and word.text not in LABELS) or (not word.first and is_titled(word.text))
            )
            joins = bool(run) and word.low in _JOINS
            if run and self.is_broken([run[-1], word]):
                yield from ended(run)
                run = []
                joins = False
            if capital or joins or (run and word.text[0].isdigit() and not _DATED_WORD.match(word.text)):
                run.append(word)
            else:
                yield from ended(run)
                run = []
        yield from ended(run)

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
        edges = self._edges
        return any(
            (_BREAK.search(self.text, one.end, other.start) and not is_initial(one.text))
            or (edges and (at := bisect_left(edges, one.end)) < len(edges) and edges[at] <= other.start)
            for one, other in pairwise(run)
        )

    @cached_property
    def _edges(self) -> list[int]:
        return sorted(edge for quote in self.quoted for edge in (quote.start, quote.end))

    def _has_digit(self, one: Find | Number) -> bool:
        return any(sign.isdigit() for sign in self.text[one.start : one.end])

    def _dated(self, one: Find) -> bool:
        return self._moments.hold(one)

    @cached_property
    def _moments(self) -> Spans[Find]:
        return Spans(self.written_dates, self.written_times)


def _all(pattern: re.Pattern[str], text: str) -> list[Find]:
    return [Find(match[0].strip(), match.start(), match.end()) for match in _some(pattern.finditer(text))]


def _some(found: Iterable[Kind]) -> list[Kind]:
    """The first ones: what a text has more of, no call needs."""
    return list(islice(found, _MOST_FINDS))
