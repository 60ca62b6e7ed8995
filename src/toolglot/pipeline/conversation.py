"""What a conversation says, for those who ask whether a call or a value was spoken of: text, words, what they stand for.

It is what the system and the user said and what tools gave, not what the model said, nor what it was told of its mistakes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cached_property

from toolglot.core.messages import Message, Text, ToolResult
from toolglot.pipeline.plain_words import FUNCTION_WORDS
from toolglot.pipeline.refusals import is_ours
from toolglot.pipeline.related_words import related
from toolglot.pipeline.relevance import words_of
from toolglot.pipeline.said_forms import EMAIL
from toolglot.pipeline.said_numbers import LARGEST, NUMBER_WORDS, Number, numbers
from toolglot.pipeline.said_times import dates, times
from toolglot.pipeline.said_units import TIME, in_any_unit, unit_after

WORD = re.compile(r"[^\W\d_]+")
DATE = re.compile(r"\d{4}-\d\d-\d\d(?!\d)")
_CODE = re.compile(r"[A-Z]{1,5}")
_SHORT = 2  # letters of a word that tells nothing
_UNIT = 20  # characters behind a number in which its unit stands
_MOST_TEXT = 200_000  # characters, the last ones
_NAMED = re.compile(r"(?<![.!?:\n])(?<![.!?:\n] )(?<!^)\b[^\W\d_a-z][\w'-]+|\b[A-Z]{2,}\b|(?<!\w)[\"'“‘][^\W\d_]")
_DATED = re.compile(r"(?<!\d)\d{4}(?!\d)|\d(?:st|nd|rd|th)\b|\d[/.-]\d")
_SHORTENED = re.compile(r"[$€£¥]?([\d,.]*\d) (?:thousand|million|billion)$", re.IGNORECASE)
_OTHER_SCRIPT = re.compile(r"[^\W\d_\u0000-\u024f]")
_SQUEEZED = re.compile(r"[\W_]+")
# what one may be told in: the upcoming month is 30 days
_SPANS = {"weekend": (2,), "week": (7,), "fortnight": (14,), "month": (4, 30, 31), "quarter": (3, 90), "year": (12, 52, 365)}


class Conversation:
    """Each is looked for when it is first asked for, and then once."""

    def __init__(self, messages: tuple[Message, ...]) -> None:
        self._messages = messages

    def holds(self, value: str) -> bool:
        """Letters and digits are compared, no more."""
        return squeezed(value) in self._squeezed

    def traces(self, name: str) -> bool:
        """Whether a word begins like one of the name's, or has its first letters: nyc for New York City."""
        words = WORD.findall(_plain(name))
        if any(len(word) < 3 or word[:4] in self._beginnings for word in words):
            return True
        return "".join(word[0] for word in words[:2]) in {word[:2] for word in self.words}

    def speaks_of(self, words: str) -> bool:
        """Whether one of these words, or a related one, was said."""
        return not self._stems.isdisjoint(stems_of(words))

    def counts(self, value: float) -> bool:
        """Whether the number was said, in whatever form."""
        if abs(value) > LARGEST:
            return False
        return float(value) in self._numbers or re.search(rf"(?<!\d){re.escape(f'{value:g}')}(?!\d)", self.text) is not None

    def says(self, value: object) -> bool:
        if isinstance(value, list):
            return all(self.says(one) for one in value)
        if isinstance(value, str):
            return self.holds(value) or (DATE.match(value) is not None and self.dates_something)
        return isinstance(value, int | float) and self.counts(value)

    def hints_at(self, value: str) -> bool:
        """In doubt it does: what has digits may be a date or a measure in another form, and a code stands for a name."""
        if any(map(str.isdigit, value)) or _CODE.fullmatch(value) or self.holds(value):
            return True
        words = [word for word in WORD.findall(value) if len(word) > _SHORT]
        return not words or self.traces(" ".join(words))

    @cached_property
    def text(self) -> str:
        return "\n".join(_said(self._messages))[-_MOST_TEXT:]

    @cached_property
    def _squeezed(self) -> str:
        return squeezed(self.text)

    @cached_property
    def digits(self) -> str:
        return "".join(filter(str.isdigit, self.text))

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(WORD.findall(_plain(self.text)))

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(word[:4] for word in self.words if len(word) > 2)

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(other for stem in stems_of(self.text) for other in related(stem))

    @cached_property
    def _said_numbers(self) -> list[Number]:
        return numbers(self.text)

    @cached_property
    def _numbers(self) -> frozenset[float]:
        """In digits, in words, in percent, in other units of the same kind; each word for one, whatever it means; and spans."""
        told = [
            float(value)
            for number in self._said_numbers
            for form in number.forms
            for value in in_any_unit(form, self.text[number.end : number.end + _UNIT])
        ]
        words = [NUMBER_WORDS[word] for word in self.words if word in NUMBER_WORDS]
        words += [number for word in self.words for number in _SPANS.get(word, ())]
        return frozenset([*told, *map(float, words)])

    @cached_property
    def dates(self) -> frozenset[str]:
        """As they are said."""
        return frozenset(one.value for one in dates(self.text))

    @cached_property
    def percents(self) -> dict[float, float]:
        """And the shares that they are."""
        told = (
            number
            for number in self._said_numbers
            if "%" in (said := self.text[number.start : number.end]) or "percent" in said
        )
        return {number.forms[0]: number.forms[1] for number in told if len(number.forms) > 1}

    @cached_property
    def shortened(self) -> dict[float, float]:
        """50 of 50 million, where 50 was not said of anything else, and what it stands for."""
        told = ((_SHORTENED.match(self.text[number.start : number.end]), number.forms[0]) for number in self._said_numbers)
        bare = {float(match[1].replace(",", "")): whole for match, whole in told if match}
        return {short: whole for short, whole in bare.items() if short not in self._numbers}

    @cached_property
    def times(self) -> frozenset[int]:
        """Of day, in minutes."""
        return frozenset(int(one.value[:2]) * 60 + int(one.value[3:]) for one in times(self.text))

    @cached_property
    def durations(self) -> frozenset[float]:
        """In seconds."""
        told = ((number.forms[0], unit_after(self.text[number.end : number.end + _UNIT])) for number in self._said_numbers)
        return frozenset(value * unit[1] for value, unit in told if unit is not None and unit[0] == TIME)

    @cached_property
    def mails(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(EMAIL.findall(self.text)))

    @cached_property
    def names_something(self) -> bool:
        return self.in_other_script or _NAMED.search(self.text) is not None

    @cached_property
    def dates_something(self) -> bool:
        """A date, a year, a day of a month: from any of them other dates may be told."""
        return self.in_other_script or _DATED.search(self.text) is not None or bool(self.dates)

    @cached_property
    def in_other_script(self) -> bool:
        return _OTHER_SCRIPT.search(self.text) is not None

    @cached_property
    def is_english(self) -> bool:
        return not self.in_other_script and not self.words.isdisjoint(FUNCTION_WORDS)


def stems_of(text: str) -> frozenset[str]:
    words = {word for word in WORD.findall(text.lower().replace("_", " ")) if word not in FUNCTION_WORDS}
    return frozenset(stem for word in words for stem in words_of(word))


def _plain(text: str) -> str:
    """In small letters, without accents."""
    return "".join(letter for letter in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(letter))


def squeezed(text: str) -> str:
    """Its letters and digits."""
    return _SQUEEZED.sub("", _plain(text))


def _said(messages: tuple[Message, ...]) -> Iterator[str]:
    for message in messages:
        if message.role == "assistant" or is_ours(message):
            continue
        for part in message.parts:
            if isinstance(part, Text) or (isinstance(part, ToolResult) and not part.is_error):
                yield part.text
