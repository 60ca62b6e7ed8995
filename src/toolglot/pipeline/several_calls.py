"""The calls of a question that asks for several: step by step, in parts that each say enough, or one for each of a row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Set
from functools import cache
from itertools import product

import msgspec

from toolglot.core.tools import Tool, as_function
from toolglot.pipeline.held import Filled, Schema, properties_of
from toolglot.pipeline.own_words import inherited, only, with_more
from toolglot.pipeline.ranked_tools import NAMED, Ranked, Weights, nearest, own_words_of, rank
from toolglot.pipeline.related_words import related
from toolglot.pipeline.relevance import words_of
from toolglot.pipeline.said import Said, Value
from toolglot.pipeline.said_parts import MOST_CALLS, parts, pieces_of, steps
from toolglot.pipeline.value_forms import same_form, same_frame

Calls = tuple[tuple[Ranked, ...], ...]  # for each call the tools that it may be of

_JOINED = re.compile(r"\b(?:and|plus|both|as well as|along with)\b", re.IGNORECASE)
_ALONE = 0.8  # what the words are worth, at least, that no other call speaks of
_NEARER = 0.5  # than the best tool for the whole, the best one for a part
_SENTENCE = re.compile(r"[.!?]\s+(?=\S)")
# what a part does not say is as before; but what is "the same price of $50" is said
_AS_BEFORE = re.compile(r"\b(?:same(?! \w+(?: \w+)? of \W?\d)|another|instead|again)\b", re.IGNORECASE)
_PAIRED = re.compile(r"\brespectively\b", re.IGNORECASE)


def of_steps(tools: tuple[Tool, ...], said: Said, weights: Weights) -> Calls:
    """The calls of a question that tells step by step what to do; none, if it does not."""
    told = steps(said, lambda step: any(one.is_due and one.overlap >= NAMED for one in rank(tools, step, weights)))
    calls: list[tuple[Ranked, ...]] = []
    for step in told if 1 < len(told) <= MOST_CALLS else ():
        near = nearest(rank(tools, step, weights))
        own = of_parts(tools, near, step, weights)
        calls += own or [(one,) for one in for_each(near[0], step)]
    return tuple((one,) for one in _shared([options[0] for options in calls]))


def of_parts(tools: tuple[Tool, ...], near: tuple[Ranked, ...], said: Said, weights: Weights) -> Calls:
    """The calls of the parts that each have all that a call needs; none, if there are no two."""
    tool_of = cache(lambda part: _of_part(tools, near, part, weights))
    told = parts(
        said,
        lambda part: _stands_alone(near, tools, part, weights),
        lambda before, part: _goes_on(tool_of, before, part),
    )
    if not 1 < len(told) <= MOST_CALLS:
        return ()
    whole = {one.tool.full_name: one.filled for one in rank(tools, said, weights)}
    found = [tool_of(part) for part in told]
    names = {one.tool.full_name for one in found}
    if (
        len(names) == 1
        and not any(whole[name].spare for name in names)
        and not any(_AS_BEFORE.search(part.text) for part in told[1:])
    ):
        return ()
    heirs = _shared([_inherits(one, whole[one.tool.full_name], part) for one, part in zip(found, told, strict=True)])
    return tuple((call,) for one, part in zip(heirs, told, strict=True) for call in for_each(one, part))


def of_alike(one: Ranked, said: Said, weights: Weights) -> list[Ranked]:
    """The calls of a tool that has no place for all that is said, where parts say some of it alike; none, if there is one."""
    if not one.filled.spare or any(inner.get("type") == "array" for inner in properties_of(one.filled).values()):
        return []

    options = {name for name in one.filled.first if "enum" in (as_function(one.tool).schema or {})["properties"][name]}

    @cache
    def held(part: Said) -> Ranked:
        return rank((one.tool,), part, weights)[0]

    def goes_on(before: list[Said], part: Said) -> bool:
        this = held(part).filled.first
        for text in before:
            other = held(text).filled.first
            both = this.keys() & other.keys()
            same = same_frame if len(both) == 1 and not both & options else same_form
            if both and all(same(part, this[name], text, other[name]) for name in both):
                return True
        return False

    told = parts(said, lambda part: bool(held(part).filled.first), goes_on)
    if not 1 < len(told) <= MOST_CALLS:
        return []
    found = [held(part) for part in told]
    if any(part.filled.spare for part in found):
        return []
    return _shared([_inherits(part, one.filled, text) for part, text in zip(found, told, strict=True)])


def _goes_on(tool_of: Callable[[Said], Ranked], before: list[Said], part: Said) -> bool:
    """Whether a part may be a call of its own beside those before: one of the same tool has values of the same forms."""
    if _AS_BEFORE.search(part.text):
        return True
    this = tool_of(part)
    alike = [(tool_of(other), other) for other in before if tool_of(other).tool.full_name == this.tool.full_name]
    return not alike or any(_alike(this, part, one, other) for one, other in alike)


def _alike(this: Ranked, part: Said, one: Ranked, other: Said) -> bool:
    both = this.filled.first.keys() & one.filled.first.keys()
    same = [same_form(part, this.filled.first[name], other, one.filled.first[name]) for name in both]
    return 2 * sum(same) > len(same) or not same


def _stands_alone(near: tuple[Ranked, ...], tools: tuple[Tool, ...], part: Said, weights: Weights) -> bool:
    """Whether a part of the question has all that a call needs: of the tool that it names, if it names one."""
    ranked = rank(tools, part, weights)
    named = max(ranked, key=lambda one: one.overlap)
    if named.overlap >= NAMED:
        return _complete(named) or (bool(named.filled.found) and _AS_BEFORE.search(part.text) is not None)
    names = {one.tool.full_name for one in near}
    if _AS_BEFORE.search(part.text) and any(one.filled.found for one in ranked if one.tool.full_name in names):
        return True
    return any(_complete(one) and (one.tool.full_name in names or (one.is_due and one.overlap)) for one in ranked)


def _inherits(one: Ranked, whole: Filled, part: Said) -> Ranked:
    """What a part does not say of itself, the whole question does."""
    same = _AS_BEFORE.search(part.text) is not None
    return msgspec.structs.replace(one, filled=inherited(one.filled, whole, same=same))


def _shared(parts_: list[Ranked]) -> list[Ranked]:
    """What need not be said, and a single one of several calls of a tool says, is said of all of them."""
    found = []
    for one in parts_:
        alike = [other.filled for other in parts_ if other.tool.full_name == one.tool.full_name]
        told = Counter(name for filled in alike for name in properties_of(filled))
        more = {
            name: schema
            for filled in alike
            for name, schema in properties_of(filled).items()
            if told[name] == 1 and name not in properties_of(one.filled)
        }
        found.append(msgspec.structs.replace(one, filled=with_more(one.filled, more)))
    return _as_others_say(found)


def _as_others_say(calls: list[Ranked]) -> list[Ranked]:
    """What must be said, and a call does not say, is as in the nearest call before it that does, or else after it."""
    found = []
    for at, one in enumerate(calls):
        others = [other.filled for other in [*calls[:at][::-1], *calls[at + 1 :]] if other.tool.full_name == one.tool.full_name]
        told = {
            name: [properties_of(other)[name] for other in others if name in other.first]
            for name in properties_of(one.filled).keys() - one.filled.first.keys()
        }
        held = {name: [schema for schema in schemas if _is_told(schema)] for name, schemas in told.items()}
        lent = {name: schemas[0] for name, schemas in held.items() if schemas}
        found.append(msgspec.structs.replace(one, filled=with_more(one.filled, lent)))
    return found


def _is_told(schema: Schema) -> bool:
    """Whether it is held to one value, or to a few numbers."""
    values = schema.get("enum") or []
    return len(values) == 1 or (len(values) > 1 and not isinstance(values[0], str))


def for_each(one: Ranked, said: Said) -> list[Ranked]:
    """A call for each value of a row; of two rows for each pair, or for those that stand at the same place, "respectively"."""
    rows = [[(name, value) for value in values] for name, values in one.filled.each]
    paired = _PAIRED.search(said.text) and len({len(row) for row in rows}) == 1
    return [_with(one, pairs) for pairs in (zip(*rows, strict=True) if paired else product(*rows))]


def also_named(tools: tuple[Tool, ...], calls: Calls, said: Said, weights: Weights) -> Calls:
    """And those of tools that lack nothing and that no call is of yet, though the text has a word of their names alone.

    What is as near as the best is another choice, unless the text joins them: the time and the weather in Sydney.
    """
    called = {one.tool.full_name for options in calls for one in (options[:1] if _JOINED.search(said.text) else options)}
    known = {word for name in called for word in weights[name]}
    found = []
    for one in rank(tools, said, weights):
        alone = {word: worth for word, worth in one.worth.items() if word not in known}
        named = alone.keys() & own_words_of(one.tool)
        if one.is_full and one.tool.full_name not in called and named and sum(alone.values()) >= _ALONE:
            part = _sentence_with(named, said)
            own = next(other for other in rank(tools, part, weights) if other.tool.full_name == one.tool.full_name)
            if own.is_due:
                found.append((_inherits(own, one.filled, part),))
    if found and len(calls) == 1:  # what is due beside the best is no choice instead of it
        calls = (calls[0][:1],)
        return _by_clauses([calls[0][0], *(one for (one,) in found)], said, weights) or (*calls, *found)
    return (*calls, *found)


def _by_clauses(calls: list[Ranked], said: Said, weights: Weights) -> Calls:
    """A call of each tool, by the clauses that speak of it; none, if one of them has no clause of its own."""
    tools = tuple(one.tool for one in calls)
    starts: list[tuple[int, Ranked]] = []
    for start, end in pieces_of(said):
        if said.is_spent:
            return ()
        by_worth = sorted(rank(tools, said.part(start, end), weights), key=lambda one: -one.overlap)
        if by_worth[0].overlap > by_worth[1].overlap and (not starts or starts[-1][1].tool is not by_worth[0].tool):
            starts.append((start, by_worth[0]))
    if len(starts) != len(calls) or len({one.tool.full_name for _, one in starts}) != len(calls):
        return ()
    ends = [*(start for start, _ in starts[1:]), len(said.text)]
    clauses = [said.part(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    whole = {one.tool.full_name: one.filled for one in rank(tools, said, weights)}
    return tuple(
        (_in_clause(rank((one.tool,), clause, weights)[0], clause, whole[one.tool.full_name], said),)
        for (_, one), clause in zip(starts, clauses, strict=True)
    )


def _in_clause(one: Ranked, clause: Said, whole: Filled, said: Said) -> Ranked:
    """What a clause says of itself, and of what it does not say, or not as the whole does, what the whole says."""
    places, elsewhere = one.filled.first, whole.first
    odd = {name for name in places.keys() & elsewhere if not same_form(clause, places[name], said, elsewhere[name])}
    filled = inherited(one.filled, whole, same=True)
    return msgspec.structs.replace(one, filled=with_more(filled, {name: properties_of(whole)[name] for name in odd}))


def _sentence_with(stems: Set[str], said: Said) -> Said:
    ends = [*(match.end() for match in _SENTENCE.finditer(said.text)), len(said.text)]
    start = 0
    for end in ends:
        if stems & {near for word in words_of(said.text[start:end]) for near in related(word)}:
            return said.part(start, end)
        start = end
    return said


def _with(one: Ranked, values: tuple[tuple[str, Value], ...]) -> Ranked:
    filled = one.filled
    for name, value in values:
        filled = only(filled, name, value)
    return msgspec.structs.replace(one, filled=filled)


def _complete(one: Ranked) -> bool:
    return bool(one.filled.found) and one.filled.whole


def _of_part(tools: tuple[Tool, ...], near: tuple[Ranked, ...], part: Said, weights: Weights) -> Ranked:
    """The tool for a part: the best of the whole, unless its own words are nearer to another."""
    by_name = {one.tool.full_name: one for one in rank(tools, part, weights)}
    own = [by_name[one.tool.full_name] for one in near]
    fits = next((one for one in own if _complete(one)), None)
    spoken_of = [one for one in by_name.values() if one.is_due and one.overlap and _complete(one)]
    best = max(spoken_of, key=lambda one: one.nearness, default=None)
    if best is None or (fits and best.nearness < fits.nearness + (0.0 if best.overlap >= NAMED else _NEARER)):
        return fits or own[0]
    return best
