"""A text in another tongue, word by word in English, so that what reads English reads it; and the way back to its own words.

"Wie ist das Wetter in Berlin?" is "How is the weather in Berlin?". Only words that `other_tongues.py` has are changed; names,
quotations, paths and what follows a colon stay. A language is told by its function words: in a text that has as many of
English, nothing of it is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, pairwise
from unicodedata import combining, normalize

import msgspec

from toolglot.pipeline.other_tongues import KEPT, NAMES, ROWS
from toolglot.pipeline.plain_words import ASKING, FUNCTION_WORDS
from toolglot.pipeline.said_numbers import NUMBER_WORDS
from toolglot.pipeline.said_times import DAYS, MONTHS
from toolglot.pipeline.tongue_forms import TONGUES
from toolglot.pipeline.tongue_talk import TALK
from toolglot.pipeline.tongue_things import THINGS

_MOST_TEXT = 4000  # characters of a text that are looked at
_MOST_TOLD = 100  # words by which a language is told
_LONGEST = 8  # words of a phrase
_SHORTEST = 3  # letters of a beginning
_HOUR, _HALF_DAY, _DAY = 60, 12 * 60, 24 * 60

_WORD = re.compile(r"[^\W\d_]+['’](?=\w)|[^\W_]+|(?<!\w)['’][st]\b")
_MARK = re.compile(r"[¿¡]|(?<=\S)\s+(?=[?!]|:\s)")
_QUOTED = re.compile(r"[„“\"«»](?P<marked>[^„“”\"«»]+)[“”\"«»]|(?<!\w)['‘‚][^'‘’‚]+['‘’](?!\w)")
_AS_IT_IS = re.compile(r"(?<!\S)(?=\S*[^\W\d])\S*[@/\\_#]\S*|(?<![\w.-])\w[\w.-]*\.[A-Za-z]\w{1,4}\b")
_COLON = re.compile(r"(?<=\w) ?:\s+(?=\S)")
_BEFORE_FIRST = frozenset('.!?:…¿¡„“"«»')
_LOOK_BACK = 3  # characters between the end of a sentence and the next word
_CLAUSE_ENDS = re.compile(r"\s*(?:$|[.,;:!?]|(?:und|en|bitte|alsjeblieft)\b)", re.IGNORECASE)
_GAPS = frozenset({"", " ", "-"})
_COUNTED = frozenset({"a", "my", "your", "no"})  # a plain noun follows them
_ON = r"\b(?:(?:le|el|il|am|den|op|em|no dia|dia) )?"
_DAY_FIRST = re.compile(
    rf"{_ON}\b(?P<d>0?[1-9]|[12]\d|3[01])[./](?P<m>0?[1-9]|1[0-2])(?:[./](?P<y>\d{{4}})\b|\.(?!\d))", re.IGNORECASE
)
_COMMA = re.compile(r"(?<![\w.,])(?:\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+,\d+)(?![\w,]|\.\d)")
_PERCENT = re.compile(r"(?<=\d)\s?%")
_MONTHS, _DAYS = [name.capitalize() for name in MONTHS], [name.capitalize() for name in DAYS]
_NUMBERS = list(NUMBER_WORDS)[1:21]


class _Form(msgspec.Struct, frozen=True):
    plain: str
    stays: bool  # in English, in a call
    is_last: bool  # of its clause, or it is another word

    @property
    def names_nothing(self) -> bool:
        return all(word.lower() in FUNCTION_WORDS for word in self.plain.split())


class _Reader(msgspec.Struct, frozen=True):
    """A tongue, ready to be read. What `turns` find is told in other words: a time, a date, a number."""

    forms: dict[str, list[_Form]]
    begins: dict[str, _Form]
    known: frozenset[str]
    telling: frozenset[str]  # its function words that English has not
    dates: re.Pattern[str]
    times: tuple[tuple[re.Pattern[str], int], ...]
    turns: tuple[tuple[re.Pattern[str], str], ...]
    numbers: dict[str, int]
    months: dict[str, str]

    def knows(self, word: str) -> bool:
        return word in self.known or self.begun(word) is not None

    def begun(self, word: str) -> _Form | None:
        return next((self.begins[word[:end]] for end in range(len(word), _SHORTEST - 1, -1) if word[:end] in self.begins), None)


class Piece(msgspec.Struct, frozen=True):
    """What stands where in the English text, and where it stood."""

    start: int
    end: int
    was: tuple[int, int]
    stays: bool


class Gloss(msgspec.Struct, frozen=True):
    text: str
    said: str
    pieces: tuple[Piece, ...]

    def back(self, value: str) -> str:
        """In the words that were said; a time or an amount, and what is no word of this text, as it is."""
        found = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", self.text)
        start, end = found.span() if found else (0, 0)
        held = [one for one in self.pieces if one.start < end and start < one.end]
        if not held or (all(one.stays for one in held) and not any(map(str.isalpha, self._beside(held, start, end)))):
            return value
        first, last = held[0], held[-1]
        begins = first.was[0] - max(0, first.start - start)
        ends = last.was[1] + max(0, end - last.end)
        return " ".join(self.said[begins:ends].split())

    def _beside(self, held: list[Piece], start: int, end: int) -> str:
        """What stands there as it was said."""
        edges = [start, *(at for one in held for at in (one.start, one.end)), end]
        return "".join(self.text[left:right] for left, right in zip(edges[::2], edges[1::2], strict=True))


# -- which tongue


def tongue_of(text: str) -> str | None:
    """One of `NAMES`; None for English, and for what can't be told."""
    words = list(_spoken(text[:_MOST_TEXT]))
    telling, english = _signs()
    if telling.isdisjoint(words) and not english.isdisjoint(words):
        return None
    known = {name: [word for word in words if _reader(name).knows(word)] for name in NAMES}
    best = max(NAMES, key=lambda name: (len(known[name]), sum(word in _reader(name).telling for word in words)))
    own = [word for word in known[best] if word not in _english()]
    others = sum(word in _english() and word not in known[best] for word in words)
    if not telling.isdisjoint(own) and len(own) > max(1, others) and 3 * len(known[best]) >= len(words):
        return best
    # a few words that name things, and no English: Licht aus
    whole = any(word in _reader(best).known and (word not in telling or len(words) > 1) for word in own)
    return best if not others and 2 * len(known[best]) >= len(words) and (whole or len(own) > 1) else None


def _spoken(text: str) -> Iterator[str]:
    """Its words outside of quotations, without names."""
    plain = _QUOTED.sub(" ", text)
    for match in islice(_WORD.finditer(plain), _MOST_TOLD):
        if match[0].islower() or _begins(plain, match.start()) or not match[0][0].isupper():
            yield match[0].lower().replace("’", "'")


def _begins(text: str, at: int) -> bool:
    """Whether a sentence begins here."""
    before = text[max(0, at - _LOOK_BACK) : at].rstrip()
    return before[-1] in _BEFORE_FIRST if before else at <= _LOOK_BACK


@lru_cache(maxsize=1)
def _signs() -> tuple[frozenset[str], frozenset[str]]:
    """The function words of the six, and the words of English that none of them has."""
    telling = frozenset(word for name in NAMES for word in _reader(name).telling)
    return telling, frozenset(word for word in _english() if not any(_reader(name).knows(word) for name in NAMES))


@lru_cache(maxsize=1)
def _english() -> frozenset[str]:
    plain = {word for row in _rows(ROWS + THINGS + KEPT) for word in row[0].lower().split()}
    return FUNCTION_WORDS | ASKING | plain | NUMBER_WORDS.keys() | {"even"}  # Is 42 even?


# -- in English


def glossed(text: str, tongue: str) -> Gloss:
    reader = _reader(tongue)
    text = text[-_MOST_TEXT:]
    out, pieces, at, size = [], [], 0, 0
    for start, end, plain, stays in _changed(text, reader, nouns=tongue == "German"):
        out += [text[at:start], plain]
        size += start - at
        pieces.append(Piece(size, size + len(plain), (start, end), stays))
        size += len(plain)
        at = end
    return Gloss("".join([*out, text[at:]]), text, tuple(pieces))


_Change = tuple[int, int, str, bool]  # from, to, what is said instead, and whether it stays


def _changed(text: str, reader: _Reader, *, nouns: bool) -> list[_Change]:
    """In their order, none within another."""
    found: list[_Change] = []
    kept = (
        [match.span() for match in _AS_IT_IS.finditer(text)]
        + [_inside(match) for match in _QUOTED.finditer(text)]
        + _told(text)
    )
    taken = {at for start, end in kept for at in range(start, end)}
    for change in _put_otherwise(text, reader):
        if taken.isdisjoint(range(change[0], change[1])):
            found.append(change)
            taken.update(range(change[0], change[1]))
    words = [match for match in _WORD.finditer(text) if taken.isdisjoint(range(*match.span()))]
    return sorted([*found, *_word_by_word(text, words, reader, nouns=nouns)])


def _inside(quoted: re.Match[str]) -> tuple[int, int]:
    """Where the words of a quotation stand, without the blanks that a mark may have beside it."""
    words = quoted[0][1:-1].strip()
    start = quoted.start() + (quoted[0].index(words) if words else 1)
    return start, start + len(words)


def _told(text: str) -> list[tuple[int, int]]:
    """What follows a colon is a text of its own, unless it asks, or counts."""
    colon = _COLON.search(text)
    if colon is None or len(text[: colon.start()].split()) < 2 or text.rstrip().endswith("?") or text[colon.end()].isdigit():
        return []
    return [(colon.end(), len(text))]


def _put_otherwise(text: str, reader: _Reader) -> Iterator[_Change]:
    for match in reader.dates.finditer(text):
        yield *match.span(), _dated(match["d"], reader.months[match["month"].lower()], match["y"]), True
    for match in _DAY_FIRST.finditer(text):
        yield *match.span(), _dated(match["d"], _MONTHS[int(match["m"]) - 1], match["y"]), True
    for pattern, minutes in reader.times:
        for match in pattern.finditer(text):
            if told := _time(match, minutes, reader):
                yield *match.span(), f"at {told}{' to' * bool(match.groupdict().get('to'))}", True
    for match in _COMMA.finditer(text):
        yield *match.span(), match[0].replace(".", "").replace(",", "."), True
    for match in _PERCENT.finditer(text):
        yield *match.span(), " percent", True
    for turn, plain in reader.turns:
        for match in turn.finditer(text):
            yield *match.span(), plain, False
    for match in _MARK.finditer(text):
        yield *match.span(), "", False
    for match in _QUOTED.finditer(text):
        if match["marked"]:
            start, end = _inside(match)
            yield match.start(), start, '"', False
            yield end, match.end(), '"', False


def _dated(day: str, month: str, year: str | None) -> str:
    return f"on {int(day)} {month}" + (f" {year}" if year else "")


def _time(match: re.Match[str], minutes: int, reader: _Reader) -> str | None:
    held = match.groupdict()
    said = held["h"].lower()
    hour = int(said) if said.isdigit() else reader.numbers[said]
    minutes += hour * _HOUR + int(held.get("m") or held.get("m2") or 0)
    minutes += _HALF_DAY if held["late"] and minutes < _HALF_DAY else 0
    return f"{minutes % _DAY // _HOUR:02}:{minutes % _HOUR:02}" if hour <= 24 else None


def _word_by_word(text: str, words: list[re.Match[str]], reader: _Reader, *, nouns: bool) -> Iterator[_Change]:
    at, before = 0, ""
    while at < len(words):
        length, form = _longest(text, words[at : at + _LONGEST], reader, nouns=nouns)
        start, end = words[at].start(), words[at + length - 1].end()
        first = _begins(text, start)
        if form is not None:
            plain = form.plain[:1].upper() + form.plain[1:] if first and text[start].isupper() else form.plain
            start -= not plain and text[start - 1 : start] == " "
            parted = text[end : end + 2]
            yield start, end, plain + " " * text[end - 1 : end].endswith(("'", "’")), form.stays
            if parted[:1] == "-" and parted[1:].isalpha():
                yield end, end + 1, " ", False
        elif nouns and before in _COUNTED and text[start].isupper():
            yield start, end, text[start:end].lower(), False
        before = form.plain if form is not None else ""
        at += length


def _longest(text: str, words: list[re.Match[str]], reader: _Reader, *, nouns: bool) -> tuple[int, _Form | None]:
    """How many of the words say something together, and what."""
    gaps = [text[one.end() : other.start()] in _GAPS for one, other in pairwise(words)]
    most = next((at for at, joined in enumerate(gaps, 1) if not joined), len(words))
    first = words[0]
    named = first[0][0].isupper() and not _begins(text, first.start())
    for length in range(most, 0, -1):
        key = " ".join(word[0].lower().replace("’", "'") for word in words[:length])
        ends = _CLAUSE_ENDS.match(text, words[length - 1].end()) is not None
        forms = reader.forms.get(key) or ([begun] if length == 1 and (begun := reader.begun(key)) else [])
        form = next((one for one in sorted(forms, key=lambda one: not one.is_last) if ends or not one.is_last), None)
        if form is not None and (not named or form.plain[:1].isupper() or (nouns and not form.names_nothing)):
            return length, form
    return 1, None


# -- the tongues


def _rows(text: str) -> Iterator[tuple[str, list[list[str]]]]:
    for line in filter(None, text.splitlines()):
        plain, _, told = line.partition(":")
        yield plain, [[form.strip() for form in column.split(",") if form.strip()] for column in told.split("|")]


def _bare(word: str) -> str:
    """Without accents."""
    return "".join(sign for sign in normalize("NFD", word) if not combining(sign))


@lru_cache(maxsize=len(NAMES))
def _reader(name: str) -> _Reader:
    at = NAMES.index(name)
    tongue = TONGUES[at]
    forms: dict[str, list[_Form]] = {}
    begins: dict[str, _Form] = {}
    for rows, stays in ((KEPT, True), (ROWS + THINGS + TALK, False)):
        for plain, columns in _rows(rows):
            for said in columns[at]:
                form = _Form(plain, stays, said.endswith("$"))
                if said.endswith("*"):
                    begins.setdefault(said[:-1], form)
                forms.setdefault(said.rstrip("*$"), []).append(form)
    for said in [*forms] if tongue.accents_fade else ():
        forms.setdefault(_bare(said), forms[said])
    for said in [*begins] if tongue.accents_fade else ():
        begins.setdefault(_bare(said), begins[said])
    months = dict(zip(tongue.months.split(), _MONTHS, strict=True))
    numbers = {word: count for count, word in enumerate(tongue.numbers.split(), 1)}
    named = [*zip(numbers, _NUMBERS, strict=True), *months.items(), *zip(tongue.days.split(), _DAYS, strict=True)]
    for word, plain in named:
        forms.setdefault(word.replace("-", " "), []).append(_Form(plain, True, False))
    hour = rf"(?P<h>\d{{1,2}}(?!\d)|(?:{'|'.join(list(numbers)[11::-1])})\b)"
    late = rf"(?: (?:(?P<late>{tongue.late})|(?:{tongue.early}))\b)?"
    times = (
        (form.replace("<h>", hour).replace("<m>", r"(?P<m>[0-5]\d)") + rf"(?!\w){late}", minutes)
        for form, minutes in tongue.times.items()
    )
    dates = (
        rf"{_ON}(?P<d>\d{{1,2}})(?:\.|er|º|°)?(?: de| di)? "
        rf"(?P<month>{'|'.join(months)})\b(?:(?: de| del|,)? (?P<y>\d{{4}})\b)?"
    )
    return _Reader(
        forms,
        begins,
        frozenset(word for form in forms for word in form.split() if len(word) > 1 or word in forms),
        frozenset(word for word, held in forms.items() if held[0].names_nothing) - _english(),
        re.compile(dates, re.IGNORECASE),
        tuple((re.compile(rf"(?<!\w){form}", re.IGNORECASE), minutes) for form, minutes in times),
        tuple((re.compile(form, re.IGNORECASE), plain) for form, plain in tongue.turns.items()),
        numbers,
        months,
    )
