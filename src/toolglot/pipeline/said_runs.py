"""What a text says in plain words or as a list: what a small model may choose from where no form tells the value.

A model of a hundred million parameters can't be trusted to spell a value, but knows well which of a question's own words are a
genre, and which a town. So the runs here leave out only what can hardly be a value: half a quotation, a verb that begins a
sentence, an end without a noun.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise

from toolglot.pipeline.plain_words import ASKING, FUNCTION_WORDS
from toolglot.pipeline.relevance import words_of
from toolglot.pipeline.said import Find, Said, Value
from toolglot.pipeline.said_numbers import NUMBER_WORDS, numbers
from toolglot.pipeline.said_units import unit_of
from toolglot.pipeline.said_words import Word
from toolglot.pipeline.spans import Spans

_STOPPING = FUNCTION_WORDS | {
    "under",
    "below",
    "between",
    "above",
    "during",
    "through",
    "near",
    "around",
    "since",
    "until",
    "only",
}
_MOST_RUNS = 1000  # of a text
_LONGEST = 6  # words of a run that is no name
_WHOLE = 6  # words of a quotation that is one thing: no part of it is a value of its own
_LONG_NAME = 4  # words: a name of so many may be made of several
_INNER = frozenset({"of", "the", "and", "&", "a", "an", "to", "in", "for", "on", "at", "with", "by", "per", "your"})
_ENDING = _STOPPING - _INNER
_BRACKETED = re.compile(r"\[([^\[\]]*)\]|(?<=[\s\w=:])\(([^()]*)\)")
_LEADS = re.compile(r"(?P<word>[a-z]+) (?:of|for|in|with)\b")
_BETWEEN = re.compile(r"(?:st|nd|rd|th)?\s*(?:,|;|,?\s*(?:and|or|&))\s*")
_COUNTED = re.compile(r"(?: [a-z]+){1,4}(?:,|,? and)(?: [a-z]+)? ", re.IGNORECASE)  # 3 apples and 2 pears
_COUNT = re.compile(rf"^(?:(?:{'|'.join(NUMBER_WORDS)}|dozen|\d+|also)\s+)+", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[.,;?!]|$")
_SPAN = re.compile(r"\s*(?:to|and|until|through|[-–])\s*(?:[a-z]\s?=\s?)?", re.IGNORECASE)


_BEFORE_ROWS = (FUNCTION_WORDS | ASKING | {"including", "selling", "using", "containing", "having", "offering"}) - {"of", "per"}
_OPENING = frozenset({"the", "a", "an", "some", "of", "with", "for", "on", "from", "my", "our", "any", "both", "got", "have"})


def runs(said: Said, about: frozenset[str] = frozenset()) -> list[Find]:
    """Runs of words within a clause, in the order of the text. What only says which tool is meant (`about`) is no value."""
    found = said.runs = _all(said) if said.runs is None else said.runs
    apart = [one for one in found if not set(words_of(str(one.value))) or not set(words_of(str(one.value))) <= about]
    return [one for one in apart if not _only_leads(str(one.value), about)] or apart or found


def _only_leads(value: str, about: frozenset[str]) -> bool:
    """The price of Bitcoin, where prices are what the tool is about: Bitcoin is the value."""
    match = _LEADS.match(value)
    return match is not None and bool(set(words_of(match["word"])) & about)


def _all(said: Said) -> list[Find]:
    found: dict[str, Find] = {}
    whole = [one for one in said.quoted if len(str(one.value).split()) <= _WHOLE]
    for one in _sorted([*islice(_plain(said, whole), _MOST_RUNS), *said.quoted, *said.places]):
        found.setdefault(str(one.value), one)
    return list(found.values())


def _sorted(found: list[Find]) -> list[Find]:
    return sorted(found, key=lambda one: (one.start, one.end))


def _plain(said: Said, whole: list[Find]) -> Iterator[Find]:
    words = said.words
    verbs = {word.start for word in words if word.first}  # a name behind one is found with it, too
    places = set(said.places)
    names = Spans(one for one in said.names if one not in places and one.start not in verbs)
    quotes = Spans(whole)
    for at, word in enumerate(words):
        if not _begins(word) or (word.first and word.low in ASKING and at + 1 < len(words)) or _measures(at, words):
            continue
        for run in (words[at : at + length] for length in range(1, min(_LONGEST, len(words) - at) + 1)):
            if said.is_broken(run):
                break
            if any(word.low in _ENDING for word in run[1:-1]):
                break
            if run[-1].low in _STOPPING or (run[0].first and len(run) > 1 and run[1].text[0].islower()):
                continue  # what begins a sentence is a verb, as long as no capitals follow
            one = said.span(run)
            if not quotes.meet(one) and not any(_cuts(one, name) for name in names.near(one)):
                yield one


def _measures(at: int, words: list[Word]) -> bool:
    """150 grams of tofu: the thing is tofu."""
    counted = at > 0 and (words[at - 1].text[0].isdigit() or words[at - 1].low in NUMBER_WORDS)
    return counted and unit_of(words[at].low) is not None


def _overlaps(one: Find, other: Find) -> bool:
    return other.start < one.end and one.start < other.end


def _cuts(one: Find, name: Find) -> bool:
    """Angeles cuts Los Angeles, which is one thing."""
    around = one.start <= name.start and name.end <= one.end
    return _overlaps(one, name) and not around and len(str(name.value).split()) < _LONG_NAME


def _begins(word: Word) -> bool:
    """Not with a word that names nothing, unless it is written as a name: The Weeknd."""
    return word.low not in _STOPPING or (word.text[0].isupper() and not word.first and word.low != "i")


def bracketed(said: Said) -> list[tuple[list[Value], int, int]]:
    """The lists of numbers in brackets, and where they stand."""
    found = [(_numbers_in(_inside(match)), match.start(), match.end()) for match in _BRACKETED.finditer(said.text)]
    return [one for one in found if one[0]]


def number_rows(said: Said) -> list[list[Value]]:
    """The lists of numbers: those in brackets, and those with nothing but commas between them; or else what else is a list."""
    if bracketed(said):
        return [row for row, _, _ in bracketed(said)]
    found = [[one.value for one in row] for row in rows(_firsts(said.numbers), said)]
    return found if any(len(row) > 1 for row in found) else [*_spans(said), *found]


def _spans(said: Said) -> list[list[Value]]:
    """From 2015 to 2021; 3 apples and 2 pears."""
    pairs = list(pairwise(_firsts(said.numbers)))
    gaps = [said.text[one.end : other.start] for one, other in pairs]
    spans: list[list[Value]] = [
        [one.value, other.value] for (one, other), gap in zip(pairs, gaps, strict=True) if _SPAN.fullmatch(gap)
    ]
    counted = [_COUNTED.fullmatch(gap) for gap in gaps]
    return spans or ([[one.value for one in _firsts(said.numbers)]] if gaps and all(counted) else [])


def _numbers_in(text: str) -> list[Value]:
    """All of a list, or nothing if one of its items is no number."""
    read = [numbers(item.strip()) for item in text.split(",")]
    return [one[0].forms[0] for one in read] if all(len(one) == 1 for one in read) else []


def _firsts(found: list[Find]) -> list[Find]:
    """Of a number that can be written in several forms the first."""
    return list({one.start: one for one in reversed(found)}.values())[::-1]


def rows(found: list[Find], said: Said) -> list[list[Find]]:
    """Values that stand in a row, nothing but commas and "and" between them."""
    groups: list[list[Find]] = []
    for one in _sorted(found):
        if groups and _BETWEEN.fullmatch(said.text[groups[-1][-1].end : one.start]):
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def word_rows(said: Said) -> list[list[Value]]:
    """Lists of words, in brackets, in quotes, or with commas and "and" between them."""
    found: list[list[Value]] = []
    for match in _BRACKETED.finditer(said.text):
        items: list[Value] = [item.strip().strip("\"'“”‘’") for item in _inside(match).split(",")]
        if match[0].startswith("[") or len(items) > 1:
            found.append(items)
    found += [[one.value for one in row] for row in rows(said.quoted, said) if len(row) > 1]
    found += [[*row] for held in said.rows for row in trimmed(held, said)]
    return [row for row in found if all(row)]


def trimmed(row: list[Find], said: Said) -> Iterator[list[str]]:
    """Where the first item of a row begins, and where the last one ends: at capitals, a known verb, the end of a clause.

    Else only the sense tells.
    """
    items = [_COUNT.sub("", str(one.value)) for one in row]
    first, last = items[0].split(), items[-1].split()
    begins = next((at for at in reversed(range(len(first))) if first[at].lower() in _BEFORE_ROWS), -1) + 1
    heads = [" ".join(first[at:]) for at in range(begins, len(first)) if first[at].lower() not in FUNCTION_WORDS] or [items[0]]
    heads = list(dict.fromkeys(_COUNT.sub("", head) for head in heads))
    tails = [" ".join(last[:end]) for end in range(len(last), 0, -1) if last[end - 1].lower() not in FUNCTION_WORDS]
    if all(item.split()[-1][:1].isupper() for item in items[:-1]):
        heads = [head for head in heads if _capital(head)][:1]
        tails = [tail for tail in tails if _capital(tail)][:1] or tails
    before = [word.low for word in said.before(row[0].start, 1)]
    if before and before[0] in _OPENING and " of " not in heads[0]:
        heads = heads[:1]
    if _CLAUSE_END.match(said.text, row[-1].end):
        tails = tails[:1]
    for head in heads:
        yield from ([head, *items[1:-1], tail] for tail in tails)


def _capital(item: str) -> bool:
    return all(word[0].isupper() or word.lower() in FUNCTION_WORDS for word in item.split())


def _inside(match: re.Match[str]) -> str:
    return match[1] if match[1] is not None else match[2] or ""
