"""Whether an answer is borne out by what tools gave; and what they gave, in few words.

A model of a hundred million parameters has the result before it and says something else all the same: another number, a name
out of nowhere, or the question again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from toolglot.core.messages import Text, ToolResult
from toolglot.pipeline.conversation import squeezed
from toolglot.pipeline.lately import Lately
from toolglot.pipeline.relevance import as_words, words_of
from toolglot.text.json_text import BadJson, decode, dumps

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NAME = re.compile(r"(?<=[a-z0-9,] )[^\W\d_a-z]\w*")  # a capital that begins no sentence
_WORD = re.compile(r"[^\W_]+")
_TELLING = 4  # letters of a word that says something
# how a question asks, and what answers it: a value of this form, or one under such a key
_WANTED = (
    (re.compile(r"\bwho(?:se|m)?\b", re.IGNORECASE), re.compile(r"(?:[^\W\d_a-z][\w'-]+ ){1,3}[^\W\d_a-z][\w'-]+"), None),
    (
        re.compile(r"\bwhen\b|\bwhat time\b", re.IGNORECASE),
        re.compile(r"\d{1,2}:\d\d.*|\d{4}-\d\d-\d\d.*|(?:mon|tues|wednes|thurs|fri|satur|sun)day.*", re.IGNORECASE),
        None,
    ),
    (re.compile(r"\bwhere\b", re.IGNORECASE), None, re.compile(r"location|place|city|address|station|position", re.IGNORECASE)),
)
_ASKS = re.compile(r"\?|\b(?:tell me|let me know|give me|show me|what|which|how)\b", re.IGNORECASE)
_OWN = frozenset({"i", "celsius", "fahrenheit", "usd", "eur", "gbp"})  # what anybody may add
_Leaf = tuple[str, str]  # the key that a value stands under, and the value as text
_MOST_SAID, _MOST_ITEMS, _DEEPEST = 600, 8, 32


def is_borne_out(text: str, last: Lately) -> bool:
    """It has something of the results that the question has not and asks for, and no name or number that neither has."""
    told = _told_by(last)
    if _lacking([told, *_wanted(last.asked, told)], text, last):
        return False
    known = " ".join([last.asked, *last.given])
    names = {name.casefold() for name in _NAME.findall(text)} - _OWN
    return _numbers(text) <= _numbers(known) and names <= _words(known)


def untold(text: str, last: Lately) -> list[str]:
    """What the question asks for and the results have, where the answer has not: a name, a place, a time, or by their key."""
    return _lacking(_wanted(last.asked, _told_by(last)), text, last)


def _told_by(last: Lately) -> list[_Leaf]:
    return [leaf for result in last.results if not result.is_error for leaf in _leaves(_value(result))]


def _lacking(groups: Iterable[list[_Leaf]], text: str, last: Lately) -> list[str]:
    """The first of these values that are new to the question, and of which the text has nothing."""
    asked, said = _tokens(last.asked), _tokens(text)
    for leaves in groups:
        new = [(leaf, tokens) for _, leaf in leaves if (tokens := _tokens(leaf) - asked)]
        if new and all(tokens.isdisjoint(said) for _, tokens in new):
            return [leaf for leaf, _ in new]
    return []


def what_was_given(last: Lately) -> str:
    """Of each result what the question does not say already: From get_ticket: assigned to: Fiona Becker; status: open."""
    good = [result for result in last.results if not result.is_error]
    told = [(result.name, _told(_value(result), squeezed(last.asked))) for result in good]
    return " ".join(f"From {name or 'the tool'}: {_cut(text)}." for name, text in told if text)


def _value(result: ToolResult) -> Any:
    text = "".join(part.text for part in result.parts if isinstance(part, Text))
    try:
        return decode(text)
    except BadJson:
        return text


def _wanted(asked: str, told: list[_Leaf]) -> Iterator[list[_Leaf]]:
    """For each way in which the question asks, the values that may answer it."""
    for asks, form, under in _WANTED:
        if asks.search(asked):
            yield [
                (key, leaf)
                for key, leaf in told
                if (form is not None and form.fullmatch(leaf)) or (under is not None and under.search(key))
            ]
    words = set(words_of(asked)) if _ASKS.search(asked) else set[str]()
    for key, leaf in told:  # and let me know the room
        named = set(words_of(as_words(key)))
        if named and named <= words:
            yield [(key, leaf)]


def _leaves(value: Any) -> Iterator[_Leaf]:
    """In their order. Without calling itself: results may be nested deeply."""
    left = [("", value)]
    while left:
        key, one = left.pop()
        if isinstance(one, dict):
            left += reversed(one.items())
        elif isinstance(one, list):
            left += ((key, inner) for inner in reversed(one))
        elif one is not None:
            yield key, _as_text(one)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value)


def _tokens(text: str) -> set[str]:
    """Numbers, and words that say something."""
    return {word for word in _words(text) if len(word) >= _TELLING or not word.isalpha()} | _numbers(text)


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def _numbers(text: str) -> set[str]:
    return {_plain(number) for number in _NUMBER.findall(text)}


def _plain(number: str) -> str:
    """2,317.46 as 2317.46, 09:40 as 9:40, 8.50 as 8.5."""
    number = re.sub(r",(?=\d{3}(?:\D|$))", "", number).lstrip("0") or "0"
    return number.rstrip("0").rstrip(".") if "." in number else number


def _told(value: Any, asked: str, depth: int = 0) -> str:
    if isinstance(value, dict) and depth < _DEEPEST:
        facts = {key: _told(inner, "", depth + 1) for key, inner in value.items()}
        new = {key: fact for key, fact in facts.items() if fact and squeezed(fact) not in asked} or facts
        return "; ".join(f"{as_words(key).lower()}: {fact}" for key, fact in new.items() if fact)
    if isinstance(value, dict | list):
        items = value if isinstance(value, list) else [value]
        shown = [", ".join(leaf for _, leaf in _leaves(one)) for one in items[:_MOST_ITEMS]]
        return "; ".join(shown) + ("; ..." if len(items) > _MOST_ITEMS else "")
    return "" if value is None else _as_text(value).strip().rstrip(".")


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_SAID else f"{text[:_MOST_SAID].rstrip()} ..."
