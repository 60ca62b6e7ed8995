"""Which tools to leave out where a model can't take them all: the most relevant to the conversation are kept.

Relevance is counted in words, no more: what the conversation says lately and a tool's name and description have in common,
rare words before common ones. Tools that the caller names, or that were called before, stay in any case.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable

from toolglot.core.messages import Message, Text, ToolCall
from toolglot.core.tools import Choice, Tool, Toolset

_WORD = re.compile(r"[^\W\d_]{2,}")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ENDINGS = ("ings", "ing", "ies", "es", "ed", "s")  # weather and weathers are one word
_LATELY = 8  # messages
_MOST_TEXT = 8000  # characters of each that are looked at
_FADING = 0.8  # what was said one message earlier counts so much less


def most_relevant(
    tools: tuple[Tool, ...], most: int, messages: tuple[Message, ...], choice: Choice | None
) -> tuple[tuple[Tool, ...], tuple[Tool, ...]]:
    """Those to keep, in their order, and those to leave out."""
    if len(tools) <= most:
        return tools, ()
    wanted = set(choice.names) if choice is not None else set()
    called = {part.full_name for message in messages for part in message.parts if isinstance(part, ToolCall)}
    said = _said(messages)
    words = [set(_words(f"{_CAMEL.sub(' ', tool.full_name)} {tool.description or ''}")) for tool in tools]
    rarity = _rarity(words)

    def rank(at: int) -> tuple[bool, bool, float, int]:
        names = {tools[at].name, tools[at].full_name}
        shared = sum(said[word] * rarity[word] for word in words[at] if word in said)
        return (not names & wanted, not names & called, -shared, at)

    kept = set(sorted(range(len(tools)), key=rank)[:most])
    inside = Toolset(tool for at, tool in enumerate(tools) if at in kept)
    return inside, tuple(tool for at, tool in enumerate(tools) if at not in kept)


def _said(messages: tuple[Message, ...]) -> dict[str, float]:
    """The words of late, and how much each weighs."""
    found: dict[str, float] = {}
    weight = 1.0
    for message in reversed([one for one in messages if one.role in ("user", "assistant")][-_LATELY:]):
        for part in message.parts:
            for word in set(_words(part.text[:_MOST_TEXT])) if isinstance(part, Text) else ():
                found[word] = max(found.get(word, 0.0), weight)
        weight *= _FADING
    return found


def _words(text: str) -> Iterable[str]:
    for word in _WORD.findall(text.lower()):
        ending = next((end for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= 3), "")
        yield word.removesuffix(ending)


def _rarity(tools: list[set[str]]) -> dict[str, float]:
    counts = Counter(word for words in tools for word in words)
    return {word: math.log(1 + len(tools) / count) for word, count in counts.items()}
