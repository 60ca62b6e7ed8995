"""Which tools to leave out where a model can't take them all: the most relevant to the conversation are kept.

Relevance is counted in words, no more: what the conversation says lately and a tool's name and description have in common,
rare words before common ones. Tools that the caller names, or that were called before, stay in any case.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from toolglot.core.messages import Message, Text, ToolCall
from toolglot.core.tools import Choice, Tool, Toolset, made_once

_WORD = re.compile(r"[^\W\d_]{2,}")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ENDINGS = ("ings", "ing", "es", "ed", "s")  # city and cities, file and files are one word
_NO_PLURALS = frozenset({"news"})  # what is new is no news
_LATELY = 8  # messages
_MOST_TEXT = 8000  # characters of each that are looked at
_SHORT = 30  # characters of a text whose stems are kept
_FADING = 0.8  # what was said one message earlier counts so much less


def most_relevant(
    tools: tuple[Tool, ...], most: int, messages: tuple[Message, ...], choice: Choice | None
) -> tuple[tuple[Tool, ...], tuple[Tool, ...]]:
    """Those to keep, in their order, and those to leave out. A vendor's own tools stay, and are not counted."""
    ours = [at for at, tool in enumerate(tools) if tool.kind != "server"]
    if len(ours) <= most:
        return tools, ()
    wanted = set(choice.names) if choice is not None else set()
    called = {part.full_name for message in messages for part in message.parts if isinstance(part, ToolCall)}
    said = _said(messages)
    weights = made_once(tools, "words and how rare they are", _weights)

    def rank(at: int) -> tuple[bool, bool, float, int]:
        names = {tools[at].name, tools[at].full_name}
        shared = sum(said[word] * rarity for word, rarity in weights[at].items() if word in said)
        return (not names & wanted, not names & called, -shared, at)

    left = set(sorted(ours, key=rank)[most:])
    inside = Toolset(tool for at, tool in enumerate(tools) if at not in left)
    return inside, tuple(tool for at, tool in enumerate(tools) if at in left)


def _weights(tools: tuple[Tool, ...], _: str) -> list[dict[str, float]]:
    """Of each tool its words, and what each is worth: one that all tools share tells nothing."""
    words = [set(words_of(f"{spaced(tool.full_name)} {tool.description or ''}")) for tool in tools]
    counts = Counter(word for held in words for word in held)
    return [{word: math.log((1 + len(tools)) / counts[word]) for word in sorted(held)} for held in words]


def _said(messages: tuple[Message, ...]) -> dict[str, float]:
    """The words of late, and how much each weighs."""
    found: dict[str, float] = {}
    weight = 1.0
    for message in reversed([one for one in messages if one.role in ("user", "assistant")][-_LATELY:]):
        for part in message.parts:
            for word in set(words_of(part.text[:_MOST_TEXT])) if isinstance(part, Text) else ():
                found[word] = max(found.get(word, 0.0), weight)
        weight *= _FADING
    return found


def spaced(name: str) -> str:
    """getWeather as get Weather."""
    return _CAMEL.sub(" ", name)


def as_words(name: str) -> str:
    """getWeather and get_weather as get Weather and get weather."""
    return spaced(name).replace("_", " ")


def words_of(text: str) -> tuple[str, ...]:
    """Its words as stems. Those of single words are asked for again and again."""
    return _kept_stems(text) if len(text) < _SHORT else tuple(_stems(text))


def _stems(text: str) -> Iterable[str]:
    for word in _WORD.findall(text.lower()):
        ends = () if word in _NO_PLURALS else _ENDINGS
        ending = next((end for end in ends if word.endswith(end) and len(word) - len(end) >= 3), "")
        stem = word.removesuffix(ending)
        yield f"{stem[:-1]}i" if stem.endswith("y") else stem.removesuffix("e") if len(stem) > 3 else stem


@lru_cache(maxsize=8192)
def _kept_stems(text: str) -> tuple[str, ...]:
    return tuple(_stems(text))
