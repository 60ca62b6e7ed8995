"""How near each tool is to a text: by the words that they share, and by what the text gives of what the tool needs."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import lru_cache

import msgspec

from toolglot.core.tools import Tool, as_function
from toolglot.pipeline.held import Filled
from toolglot.pipeline.own_words import held_to, in_words
from toolglot.pipeline.plain_words import ASKING, FUNCTION_WORDS
from toolglot.pipeline.related_words import meant, related
from toolglot.pipeline.relevance import as_words, spaced, words_of
from toolglot.pipeline.said import Find, Said
from toolglot.pipeline.said_words import Word
from toolglot.pipeline.slot_kinds import begins_alike
from toolglot.pipeline.spans import Spans

Weights = dict[str, dict[str, float]]  # of each tool its words, and what each is worth

_DUE = 1.0  # the score that a tool must have to be called
_BARE = 0.9  # the same of one that has no parameters
NAMED = 0.6  # the worth of shared words from which a question is about a tool
_MOSTLY, ALL_ABOUT = 1.6, 2.5  # the same, for a tool that lacks one value of several, and for one that has none
_REACH = 0.95  # a tool is offered beside the best if it has this share of its nearness
_NO_CHANCE = 3  # so many values of the right kinds are no chance
_SEVERAL = 2  # nor are so many where something is to be done
_NUMBERS = {"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}  # tell of nothing by themselves
_TELEGRAM = 3  # words of a text that has no verb: berlin weather
_RELATED = 0.6  # what a word is worth that only speaks of the same thing
_DOING = FUNCTION_WORDS | {
    *("create", "add", "make", "set", "find", "list", "search", "update", "new", "calculate", "compute", "fetch", "retrieve"),
    *("lookup", "check", "info", "information", "details", "data", "api", "function", "tool"),
}
# what is not meant: "the law itself, not court cases"; "close it without merging"
_DENIED = re.compile(
    r"(?:(?:^|[,;:(.–—]\s*|\bbut )not|\b(?:instead of|rather than|without|nobody wants))\s[^,.;:!?()]{1,40}", re.IGNORECASE
)
# the words of a name that tell it from its opposite's
_SWITCHED = {
    "on": re.compile(r"\b(?:turn|switch|put|power)(?:ed|ing)?\b(?! off)[^.!?;]{0,40}? on\b", re.IGNORECASE),
    "off": re.compile(r"\boff\b", re.IGNORECASE),
}
_TELLS = re.compile(
    r"^\W*(?:looks? up|gets?|finds?|fetch(?:es)?|returns?|tells?|gives?|recommends?|suggests?)\b", re.IGNORECASE
)
TELLERS = re.compile(r"(?:^|[._])(?:get|find|look|lookup|search|list|fetch|read|who|where|whoami|current)", re.IGNORECASE)


class Ranked(msgspec.Struct, frozen=True):
    """A tool for a text: how near it is, and its schema held to what the text says."""

    tool: Tool
    score: float
    overlap: float
    shared: tuple[str, ...]
    filled: Filled
    named: float = 0.0  # the share of its name's words that the text has
    worth: dict[str, float] = {}  # what each of the shared words is worth

    @property
    def nearness(self) -> float:
        """To tell tools apart, the words of their names say more, and values that any may have less, than for what is due."""
        return self.score + 0.75 * self.named - 0.25 * self.filled.evidence

    @property
    def is_near(self) -> bool:
        """It lacks little, and the text speaks of little else."""
        if self.is_full and self.named == 1.0:
            return True
        mostly = self.filled.found and (self.named > 0.5 or self.overlap >= _MOSTLY)
        return len(self.filled.missing) < 2 and (bool(mostly) or self.overlap >= ALL_ABOUT)

    @property
    def is_due(self) -> bool:
        enough = _BARE if self.is_bare else _DUE
        return self.is_near or (self.is_full and self.score >= enough and not self.is_chance)

    @property
    def is_full(self) -> bool:
        """The text has what the tool needs, or enough of it that the rest may be implied."""
        return not self.filled.missing and len(self.filled.implied) <= len(self.filled.found)

    @property
    def is_bare(self) -> bool:
        """It has no parameters."""
        return not (as_function(self.tool).schema or {}).get("properties")

    @property
    def is_asked_for(self) -> bool:
        """It needs nothing, and the text has its name: a joke is told by what gets jokes."""
        return not (as_function(self.tool).schema or {}).get("required") and self.named == 1.0

    @property
    def answers(self) -> bool:
        """It looks up what is asked about, or has values enough of its own."""
        tells = TELLERS.search(self.tool.name) or _TELLS.match(self.tool.description or "")
        looks_up = tells is not None and (self.overlap >= NAMED or self.named == 1.0)
        return self.is_full and (looks_up or self.is_asked_for or (len(self.filled.found) > 1 and self.overlap > 0))

    @property
    def is_chance(self) -> bool:
        """Nothing but a name or a number that any question may have speaks for the tool."""
        return not self.overlap and not self.filled.sharp and len(self.filled.found) < _NO_CHANCE

    @property
    def may_be_told(self) -> bool:
        """Enough for a text that tells what to do: all values and no word, or words and all values but one."""
        if self.filled.missing:
            lacks_one = len(self.filled.missing + self.filled.implied) == 1
            return lacks_one and bool(self.filled.found) and self.overlap >= NAMED
        return self.is_full and self.score >= _DUE and len(self.filled.found) >= _SEVERAL


def own_words_of(tool: Tool) -> set[str]:
    """The stems of its name, without those that any tool may have."""
    words = re.split(r"[\W_]+", spaced(tool.name))
    return {stem for word in words if word.lower() not in _DOING for stem in words_of(word)}


def rank(tools: tuple[Tool, ...], said: Said, weights: Weights) -> tuple[Ranked, ...]:
    """The best first."""
    return tuple(sorted((_ranked(tool, said, weights[tool.full_name]) for tool in tools), key=_order))


def _order(one: Ranked) -> tuple[bool, float]:
    return not one.is_due, -one.nearness


def _ranked(tool: Tool, said: Said, weights: dict[str, float]) -> Ranked:
    filled = held_to(as_function(tool).schema or {"type": "object", "properties": {}}, said, _named_by(tool))
    shared = _shared(said, weights)
    if filled.wordable and _spare(said, filled, weights) >= len(filled.wordable):
        filled = in_words(filled)
    overlap = sum(shared.values())
    lacking = len(filled.missing) + 0.5 * len(filled.implied)
    score = overlap + filled.evidence + 0.25 * min(filled.pointed, 4.0) - lacking
    told = tuple(sorted(shared, key=lambda word: (-shared[word], word)))
    return Ranked(tool, round(score, 4), round(overlap, 4), told, filled, _share_named(tool, said), shared)


def _spare(said: Said, filled: Filled, weights: dict[str, float]) -> int:
    """How many things the text speaks of that are neither the tool's own words nor values already."""
    taken = Spans(Find("", *place) for place in filled.places)
    count, before = 0, -2
    for at, word in enumerate(said.words):
        opens = said.text.startswith(",", word.end)  # Lastly, ...
        verb = word.first and (word.low in ASKING or opens or len(said.words) > _TELEGRAM)
        known = word.low in FUNCTION_WORDS or verb or not word.text[0].isalpha()
        if known or taken.reach(word.start):
            continue
        if not any(related(stem) & weights.keys() for stem in words_of(word.text)):
            count += before != at - 1  # words side by side are one thing
            before = at
    return count


def _share_named(tool: Tool, said: Said) -> float:
    own = own_words_of(tool)
    words, phrases = {stem for word in _meaning(said) for stem in words_of(word.text)}, meant(said.text)
    whole = {name for name in own if name in phrases or any(begins_alike(stem, name) for stem in words)}
    worth = [1.0 if name in whole else 0.5 * bool(related(name) & (words | phrases)) for name in own]
    worth += [float(_SWITCHED[way].search(said.text) is not None) for way in re.split(r"[\W_]+", tool.name) if way in _SWITCHED]
    return sum(worth) / len(worth) if worth else 0.0


def _named_by(tool: Tool) -> frozenset[str]:
    return frozenset(words_of(as_words(tool.name).replace(".", " ")))


def _shared(said: Said, weights: dict[str, float]) -> dict[str, float]:
    """The tool's words that the text has, and what each is worth; what is only related is worth less."""
    found: dict[str, float] = {}
    for word in _meaning(said):
        for stem in words_of(word.text):
            for own in related(stem) & weights.keys():
                worth = weights[own] * (1.0 if own == stem else _RELATED)
                found[own] = max(found.get(own, 0.0), worth)
    for own in meant(said.text) & weights.keys():
        found[own] = max(found.get(own, 0.0), weights[own] * _RELATED)
    return found


def _meaning(said: Said) -> list[Word]:
    """The words that say what it is about, without those that say what is not meant."""
    denied = _denied(said.text)
    earlier = said.about[len(said.words) :]
    plain = [word for word in said.words if not denied.reach(word.start)]
    return [word for word in plain + earlier if word.low not in FUNCTION_WORDS | _NUMBERS or word.low == "where"]


@lru_cache(maxsize=64)
def _denied(text: str) -> Spans[Find]:
    return Spans(Find("", *match.span()) for match in _DENIED.finditer(text))


def weights_of(tools: tuple[Tool, ...]) -> Weights:
    """Of each tool its words: those of its name count most, those of its parameters least; what many tools say, less."""
    held = {}
    for tool in tools:
        found: dict[str, float] = {}
        for text, weight in ((_params(tool), 0.4), (_DENIED.sub(" ", tool.description or ""), 0.8), (spaced(tool.name), 1.0)):
            for plain in re.findall(r"[^\W\d_]{2,}", text):
                if plain.lower() not in FUNCTION_WORDS:
                    found |= dict.fromkeys(
                        words_of(plain), weight if weight == 1.0 or plain.lower() not in _DOING else 0.4 * weight
                    )
        held[tool.full_name] = found
    counts = Counter(word for found in held.values() for word in found)
    return {
        name: {word: weight * _rarity(counts[word], len(tools)) for word, weight in found.items()}
        for name, found in held.items()
    }


def _rarity(count: int, of: int) -> float:
    """One that a single tool has counts whole, one that all have counts half."""
    return 1.0 if of == 1 else 0.4 + 0.6 * math.log((1 + of) / count) / math.log(1 + of)


def _params(tool: Tool) -> str:
    properties = (as_function(tool).schema or {}).get("properties") or {}
    return " ".join(
        f"{spaced(name)} {inner.get('description') or ''}" for name, inner in properties.items() if isinstance(inner, dict)
    )


def nearest(ranked: tuple[Ranked, ...]) -> tuple[Ranked, ...]:
    best = ranked[0]
    return tuple(
        one for one in ranked if one is best or (one.nearness >= _REACH * best.nearness and one.is_full == best.is_full)
    )
