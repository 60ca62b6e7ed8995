"""Whether a call is due, and of which tools, for models that can't tell: by words and values, transparently.

A tool is in reach of a question by the words that they share (rare ones count more) and by what the question gives of what the
tool needs: a path, a date, a number, a name behind the right word. No tool in reach: no call is due, and the model is asked in
plain words. The same request always gives the same answer, and a note says why.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from datetime import date

import msgspec

from toolglot.core.messages import Message, Text, ToolCall, ToolResult
from toolglot.core.tools import Tool, as_function
from toolglot.pipeline.held import Filled
from toolglot.pipeline.own_words import held_to, in_words, inherited, only
from toolglot.pipeline.related_words import related
from toolglot.pipeline.relevance import words_of
from toolglot.pipeline.said import FUNCTION_WORDS, Said, Value
from toolglot.pipeline.said_parts import parts
from toolglot.pipeline.said_times import dates
from toolglot.pipeline.slots import begins_alike
from toolglot.text.json_text import dumps, loads_object

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_DUE = 1.0  # the score that a tool must have to be called
_NAMED = 0.6  # the worth of shared words from which a question is about a tool
_MOSTLY, _ALL_ABOUT = 1.6, 2.5  # the same, for a tool that lacks one value of several, and for one that has none
_REACH = 0.85  # a tool is offered beside the best if it has this share of its score
_NO_CHANCE = 3  # so many values of the right kinds are no chance
_MOST_TEXT = 4000  # characters of a question, and of each result, that are looked at
_SHORT = 6  # words of a question that may go on from the one before
_RELATED = 0.6  # what a word is worth that only speaks of the same thing
_MOST_CALLS = 6
_TODAY = re.compile(r"\b(?:today|date|now)\b", re.IGNORECASE)
# what is said to be answered in words
_GREETING = re.compile(
    r"^\W*(?:hi|hello|hey|thanks?|thank you|good (?:morning|evening|night|afternoon)|bye|how are you)\b[^.?!]{0,40}\W*$",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"^\W*(?:what (?:is|are|does|do) (?:an? |the )?[\w\s-]*(?:mean|in plain|difference)|what(?:'s| is) an? |explain\b"
    r"|why (?:is|are|do|does)\b|define\b|who (?:are|made|built) you|tell me (?:a joke|about yourself)"
    r"|write (?:me )?a (?:poem|haiku|story|joke|song))",
    re.IGNORECASE,
)
_AS_BEFORE = re.compile(r"\b(?:same|another|instead|again)\b", re.IGNORECASE)  # what a part does not say is as before
_DOING = FUNCTION_WORDS | {
    *("create", "add", "make", "set", "find", "list", "search", "update", "new", "calculate", "compute", "fetch", "retrieve"),
    *("lookup", "check", "info", "information", "details", "data", "api", "function", "tool"),
}
_MUSING = re.compile(r"^[^?]*\bI (?:loved|lived|used to|remember|hated?|enjoyed|adored?)\b[^?]*$")
_TELLERS = re.compile(r"(?:^|[._])(?:get|find|look|lookup|search|list|fetch|read|who|where|whoami|current)", re.IGNORECASE)


class Ranked(msgspec.Struct, frozen=True):
    """A tool for a text: how near it is, and its schema held to what the text says."""

    tool: Tool
    score: float
    overlap: float
    shared: tuple[str, ...]
    filled: Filled
    named: float = 0.0  # the share of its name's words that the text has

    @property
    def is_near(self) -> bool:
        """It lacks little, and the text speaks of little else."""
        if self.is_full and self.named == 1.0:
            return True
        mostly = self.filled.found and (self.named > 0.5 or self.overlap >= _MOSTLY)
        return len(self.filled.missing) < 2 and (bool(mostly) or self.overlap >= _ALL_ABOUT)

    @property
    def is_due(self) -> bool:
        return self.is_near or (self.is_full and self.score >= _DUE and not self.is_chance)

    @property
    def is_full(self) -> bool:
        """The text has what the tool needs, or enough of it that the rest may be implied."""
        return not self.filled.missing and len(self.filled.implied) <= len(self.filled.found)

    @property
    def answers(self) -> bool:
        """It looks up what is asked about, or has values enough of its own."""
        looks_up = _TELLERS.search(self.tool.name) is not None and self.overlap >= _NAMED
        return self.is_full and (looks_up or len(self.filled.found) > 1)

    @property
    def is_chance(self) -> bool:
        """Nothing but a name or a number that any question may have speaks for the tool."""
        return not self.overlap and not self.filled.sharp and len(self.filled.found) < _NO_CHANCE


class Verdict(msgspec.Struct, frozen=True):
    """`calls` has for each call that is due the tools that it may be of, the best first. None is due: it is empty."""

    calls: tuple[tuple[Ranked, ...], ...]
    why: str


def gate(tools: tuple[Tool, ...], messages: tuple[Message, ...], *, must: bool = False, several: bool = True) -> Verdict:
    """`must`: a call is required, whatever the question says."""
    asked, results, called = _lately(messages)
    asked, results = asked[-_MOST_TEXT:], [result[:_MOST_TEXT] for result in results]
    today, weights = _today(messages), _weights(tools)
    said = Said("\n".join([asked, *results]), today, earlier=_earlier(asked, messages))
    if results and not must:
        return _further(tools, Said(asked, today), said, called, weights)
    ranked = rank(tools, said, weights)
    best = ranked[0]
    if not must:
        if _GREETING.match(asked) or _MUSING.search(asked) or (_ABOUT.search(asked) and not best.answers):
            return Verdict((), "gate: no call is due: the question asks for words, not for something to be done")
        first = _first_step(ranked)
        if first is not None:
            return first
        if not best.is_due:
            return Verdict((), f"gate: no tool fits the question: {_lacking(best)}")
    near = _near(ranked)
    if several:
        told = parts(said, lambda part: _stands_alone(near, tools, part, weights))
        if 1 < len(told) <= _MOST_CALLS:
            whole = {one.tool.full_name: one.filled for one in ranked}
            found = (_of_part(tools, near, part, weights) for part in told)
            calls = tuple((_inherits(one, whole[one.tool.full_name], part),) for one, part in zip(found, told, strict=True))
            return Verdict(calls, f"gate: {len(calls)} calls are due: {_told(near)}")
        each = near[0].filled.each
        if each is not None and 1 < len(each[1]) <= _MOST_CALLS:
            calls = tuple((_with(near[0], each[0], value),) for value in each[1])
            return Verdict(calls, f"gate: {len(calls)} calls are due, one for each {each[0]}: {_told(near[:1])}")
    return Verdict((near,), f"gate: a call is due: {_told(near)}")


def _first_step(ranked: tuple[Ranked, ...]) -> Verdict | None:
    """A tool that the question names lacks something that another tool, which lacks nothing, tells of itself."""
    wanted = max(ranked, key=lambda one: (one.overlap, one.score))
    if wanted.is_full or wanted.overlap < _NAMED:
        return None
    lacking = {word for name in wanted.filled.missing + wanted.filled.implied for word in words_of(_CAMEL.sub(" ", name))}
    for one in ranked:
        if (
            one.is_full
            and _TELLERS.search(one.tool.name)
            and lacking & set(words_of(f"{one.tool.name} {one.tool.description or ''}".replace("_", " ")))
        ):
            lacks = ", ".join(wanted.filled.missing + wanted.filled.implied)
            why = f"{wanted.tool.full_name} lacks {lacks}, which {one.tool.full_name} may tell"
            return Verdict(((one,),), f"gate: a call is due: {why}")
    return None


def _further(
    tools: tuple[Tool, ...], asked: Said, said: Said, called: set[str], weights: dict[str, dict[str, float]]
) -> Verdict:
    """With results at hand: a tool that the question names and that lacked something before, and lacks nothing now."""
    before = {one.tool.full_name: one for one in rank(tools, asked, weights)}
    for one in rank(tools, said, weights):
        was = before[one.tool.full_name]
        if one.tool.full_name not in called and not was.is_full and _names(asked, one.tool) and one.is_full:
            return Verdict(((one,),), f"gate: a further call is due: the results have what {one.tool.full_name} lacked")
    return Verdict((), "gate: no further call is due: the results are there")


def _names(said: Said, tool: Tool) -> bool:
    """Whether the text has a word of the tool's name itself."""
    own = _own_words(tool)
    return any(own & set(words_of(word.text)) for word in said.words if word.low not in FUNCTION_WORDS)


def _own_words(tool: Tool) -> set[str]:
    """The stems of its name, without those that any tool may have."""
    words = re.split(r"[\W_]+", _CAMEL.sub(" ", tool.name))
    return {stem for word in words if word.lower() not in _DOING for stem in words_of(word)}


def rank(tools: tuple[Tool, ...], said: Said, weights: dict[str, dict[str, float]]) -> tuple[Ranked, ...]:
    """The best first."""
    return tuple(sorted((_ranked(tool, said, weights[tool.full_name]) for tool in tools), key=_order))


def _order(one: Ranked) -> tuple[bool, bool, float]:
    return not one.is_due, not one.is_full, -one.score


def _ranked(tool: Tool, said: Said, weights: dict[str, float]) -> Ranked:
    filled = held_to(as_function(tool).schema or {"type": "object", "properties": {}}, said, _named_by(tool))
    shared = _shared(said, weights)
    if filled.wordable and _spare(said, filled, weights) >= len(filled.wordable):
        filled = in_words(filled)
    overlap = sum(shared.values())
    lacking = len(filled.missing) + 0.5 * len(filled.implied)
    score = overlap + filled.evidence + 0.25 * min(filled.pointed, 4.0) - lacking
    told = tuple(sorted(shared, key=lambda word: -shared[word]))
    return Ranked(tool, round(score, 4), round(overlap, 4), told, filled, _share_named(tool, said))


def _spare(said: Said, filled: Filled, weights: dict[str, float]) -> int:
    """How many things the text speaks of that are neither the tool's own words nor values already."""
    count, before = 0, -1
    for at, word in enumerate(said.words):
        known = word.low in FUNCTION_WORDS or word.first or not word.text[0].isalpha()
        if known or any(start <= word.start < end for start, end in filled.places):
            continue
        if not any(related(stem) & weights.keys() for stem in words_of(word.text)):
            count += before != at - 1  # words side by side are one thing
            before = at
    return count


def _share_named(tool: Tool, said: Said) -> float:
    own = _own_words(tool)
    text = {stem for word in said.about if word.low not in FUNCTION_WORDS for stem in words_of(word.text)}
    return sum(any(begins_alike(stem, name) for stem in text) for name in own) / len(own) if own else 0.0


def _named_by(tool: Tool) -> frozenset[str]:
    return frozenset(words_of(_CAMEL.sub(" ", tool.name).replace("_", " ").replace(".", " ")))


def _shared(said: Said, weights: dict[str, float]) -> dict[str, float]:
    """The tool's words that the text has, and what each is worth; what is only related is worth less."""
    found: dict[str, float] = {}
    for word in said.about:
        if word.low in FUNCTION_WORDS and word.low != "where":
            continue
        for stem in words_of(word.text):
            for own in related(stem) & weights.keys():
                worth = weights[own] * (1.0 if own == stem else _RELATED)
                found[own] = max(found.get(own, 0.0), worth)
    return found


def _weights(tools: tuple[Tool, ...]) -> dict[str, dict[str, float]]:
    """Of each tool its words: those of its name count most, those of its parameters least; what many tools say, less."""
    held = {}
    for tool in tools:
        found: dict[str, float] = {}
        for text, weight in ((_params(tool), 0.4), (tool.description or "", 0.8), (_CAMEL.sub(" ", tool.name), 1.0)):
            for plain in re.findall(r"[^\W\d_]{2,}", text):
                if plain.lower() not in FUNCTION_WORDS:
                    found |= dict.fromkeys(words_of(plain), weight)
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
        f"{_CAMEL.sub(' ', name)} {inner.get('description') or ''}"
        for name, inner in properties.items()
        if isinstance(inner, dict)
    )


def _near(ranked: tuple[Ranked, ...]) -> tuple[Ranked, ...]:
    best = ranked[0]
    return tuple(one for one in ranked if one is best or (one.score >= _REACH * best.score and one.is_full == best.is_full))


# -- several calls


def _stands_alone(near: tuple[Ranked, ...], tools: tuple[Tool, ...], part: Said, weights: dict[str, dict[str, float]]) -> bool:
    """Whether a part of the question has all that a call needs: of the tool that it names, if it names one."""
    ranked = rank(tools, part, weights)
    named = max(ranked, key=lambda one: one.overlap)
    if named.overlap >= _NAMED:
        return _complete(named) or (bool(named.filled.found) and _AS_BEFORE.search(part.text) is not None)
    names = {one.tool.full_name for one in near}
    if _AS_BEFORE.search(part.text) and any(one.filled.found for one in ranked if one.tool.full_name in names):
        return True
    return any(_complete(one) for one in ranked if one.tool.full_name in names)


def _inherits(one: Ranked, whole: Filled, part: Said) -> Ranked:
    """What a part does not say of itself, the whole question does."""
    same = _AS_BEFORE.search(part.text) is not None
    return msgspec.structs.replace(one, filled=inherited(one.filled, whole, same=same))


def _with(one: Ranked, name: str, value: Value) -> Ranked:
    return msgspec.structs.replace(one, filled=only(one.filled, name, value))


def _complete(one: Ranked) -> bool:
    return bool(one.filled.found) and one.filled.whole


def _of_part(tools: tuple[Tool, ...], near: tuple[Ranked, ...], part: Said, weights: dict[str, dict[str, float]]) -> Ranked:
    """The tool for a part: the best of the whole, unless its own words are nearer to another."""
    ranked = rank(tools, part, weights)
    named = max(ranked, key=lambda one: one.overlap)
    if named.overlap >= _NAMED and _complete(named):
        return named
    by_name = {one.tool.full_name: one for one in ranked}
    own = [by_name[one.tool.full_name] for one in near]
    return next((one for one in own if _complete(one)), own[0])


# -- what is said


def _lately(messages: tuple[Message, ...]) -> tuple[str, list[str], set[str]]:
    """The question, the results that came since, and the names of what was called since."""
    at = max((at for at, message in enumerate(messages) if message.role == "user"), default=len(messages))
    asked = " ".join(part.text for message in messages[at : at + 1] for part in message.parts if isinstance(part, Text))
    results = [
        _flat(inner.text)
        for message in messages[at + 1 :]
        for part in message.parts
        if isinstance(part, ToolResult)
        for inner in part.parts
        if isinstance(inner, Text)
    ]
    called = {part.full_name for message in messages[at + 1 :] for part in message.parts if isinstance(part, ToolCall)}
    return asked, results, called


def _earlier(asked: str, messages: tuple[Message, ...]) -> str:
    """What a short question goes on from, such as: And in Naples?"""
    if len(asked.split()) >= _SHORT:
        return ""
    told = [part.text for message in messages if message.role == "user" for part in message.parts if isinstance(part, Text)]
    return " ".join(told[-2:-1])


def _flat(result: str) -> str:
    """A result in JSON as lines of words: `city Ghent`."""
    held = loads_object(result)
    if held is None:
        return result
    return "\n".join(f"{key} {value if isinstance(value, str) else dumps(value)}" for key, value in held.items())


def _today(messages: tuple[Message, ...]) -> date | None:
    """As the conversation tells it."""
    for message in messages:
        for part in message.parts:
            if isinstance(part, Text) and _TODAY.search(part.text):
                for one in dates(part.text):
                    if one.value:
                        return date.fromisoformat(one.value)
    return None


# -- why


def _told(near: tuple[Ranked, ...]) -> str:
    return ", ".join(f"{one.tool.full_name} ({_reasons(one)})" for one in near[:3]) + (", ..." if len(near) > 3 else "")


def _reasons(one: Ranked) -> str:
    shared = f"shares {', '.join(one.shared[:4])}" if one.shared else "shares no word"
    return f"{shared}; {len(one.filled.found)} values found; {one.score:.1f}"


def _lacking(best: Ranked) -> str:
    lacks = best.filled.missing + best.filled.implied
    about = f"lacks {', '.join(lacks)}" if lacks else _reasons(best)
    return f"the nearest, {best.tool.full_name}, {about}"
