"""Whether a call is due, and of which tools, for models that can't tell: by words and values, transparently.

A tool is in reach of a question by the words that they share (rare ones count more) and by what the question gives of what the
tool needs: a path, a date, a number, a name behind the right word. No tool in reach: no call is due, and the model is asked in
plain words. The same request always gives the same answer, and a note says why.
"""

from __future__ import annotations

import re
from datetime import date

import msgspec

from toolglot.core.messages import Message, Text
from toolglot.core.tools import Tool, as_function
from toolglot.pipeline.held import properties_of
from toolglot.pipeline.lately import lately
from toolglot.pipeline.plain_words import FUNCTION_WORDS
from toolglot.pipeline.ranked_tools import NAMED, TELLERS, Ranked, Weights, nearest, rank, weights_of
from toolglot.pipeline.related_words import related
from toolglot.pipeline.relevance import as_words, spaced, words_of
from toolglot.pipeline.said import Said
from toolglot.pipeline.said_parts import MOST_CALLS
from toolglot.pipeline.said_times import dates
from toolglot.pipeline.searched import to_search
from toolglot.pipeline.several_calls import Calls, also_named, for_each, of_alike, of_parts, of_steps
from toolglot.pipeline.small_talk import is_small_talk
from toolglot.pipeline.spoken_tongue import Spoken, in_english

_MOST_TEXT = 4000  # characters of a question, and of each result, that are looked at
_SHORT = 6  # words of a question that may go on from the one before
_FEW = 2  # values that another tool may tell first
_TODAY = re.compile(r"\b(?:today|date|now)\b", re.IGNORECASE)
# what is said to be answered in words
_ABOUT = re.compile(
    r"^\W*(?:what (?:is|are|does|do) (?:an? |the )?[\w\s-]*(?:mean|in plain|difference)|what(?:'s| is) an? |explain\b"
    r"|(?:can|could|would) you explain\b|why (?:is|are|do|does|did|was|were)\b|define\b|who (?:are|made|built) you"
    r"|tell me (?:an? (?:joke|story|riddle|fun fact)|about yourself)|what(?:'s| is) the (?:meaning|plural|opposite) of\b"
    r"|how (?:do|would|can) (?:you|i|we) (?:say|spell|pronounce)\b|what(?:'s| is) another word for\b"
    r"|who (?:wrote|painted|composed|invented|discovered|founded|won|first)\b"
    r"|(?:in )?(?:which|what) (?:year|century)\b(?! is it)"
    r"|(?:write|compose|make up) (?:me )?an? (?:[\w-]+ )?(?:[\w-]+ )?(?:poem|haiku|limerick|rhyme|story|joke|song|essay"
    r"|riddle|function|program|script|speech|letter)\b)",
    re.IGNORECASE,
)
# deeds that only a tool does that speaks of them; what is sent, played or opened may be told in many words
_DEED = re.compile(
    r"^\W*(?:please |(?:can|could|would|will) you (?:please )?)?(?P<verb>book|reserve|buy|cancel|delete)\b", re.IGNORECASE
)
_ASKS = re.compile(  # it asks something, rather than telling what to do
    r"(?:^|[.!?,:]\s+)(?:and |so )?"
    r"(?:who|whose|what|which|when|why|where|how|is|are|was|were|do|does|did|will|has|have|should)\b",
    re.IGNORECASE,
)


class Verdict(msgspec.Struct, frozen=True):
    """`calls` has for each call that is due the tools that it may be of, the best first. None is due: it is empty."""

    calls: tuple[tuple[Ranked, ...], ...]
    why: str


def gate(tools: tuple[Tool, ...], messages: tuple[Message, ...], *, must: bool = False, several: bool = True) -> Verdict:
    """`must`: a call is required, whatever the question says."""
    if not tools:
        return Verdict((), "gate: no call is due: there are no tools")
    spoken = in_english(messages)
    if spoken is None:
        return _gate(tools, messages, must=must, several=several)
    found = _gate(tools, spoken.messages, must=must, several=several)
    calls = tuple(tuple(_as_said(one, spoken) for one in options) for options in found.calls)
    return Verdict(calls, f"{found.why}; read from {spoken.tongue}: {spoken.asked}")


def _as_said(one: Ranked, spoken: Spoken) -> Ranked:
    """Its values in the words that were said, not in those that they were read as."""
    schema = spoken.back(one.filled.schema, as_function(one.tool).schema or {})
    return msgspec.structs.replace(one, filled=msgspec.structs.replace(one.filled, schema=schema))


def _gate(tools: tuple[Tool, ...], messages: tuple[Message, ...], *, must: bool, several: bool) -> Verdict:
    last = lately(messages)
    asked, results = last.asked[-_MOST_TEXT:], [result[:_MOST_TEXT] for result in last.given]
    today, weights = _today(messages), weights_of(tools)
    said = Said("\n".join([asked, *results]), today, earlier=_earlier(asked, messages))
    if results and not must:
        return _further(tools, Said(asked, today), said, last.called, weights)
    ranked = rank(tools, said, weights)
    best = ranked[0]
    if not must:
        search = to_search(ranked, asked)
        if search is not None:
            return Verdict(((search,),), f"gate: a call is due: {search.tool.full_name} may find what is asked")
        if (is_small_talk(asked) and not best.is_asked_for) or (_ABOUT.search(asked) and not best.answers):
            return Verdict((), "gate: no call is due: the question asks for words, not for something to be done")
        deed = _undone(asked, weights)
        if deed is not None:
            return Verdict((), f"gate: no tool fits the question: none is there to {deed}")
        first = _first_step(ranked)
        if first is not None:
            return first
        if not best.is_due and (_ASKS.search(asked) or not best.may_be_told):
            return Verdict((), f"gate: no tool fits the question: {_lacking(best)}")
    near = nearest(ranked)
    calls, why = _several(tools, near, said, weights) if several else ((near,), "")
    return Verdict(calls, why or f"gate: a call is due: {_told(near)}")


def _several(tools: tuple[Tool, ...], near: tuple[Ranked, ...], said: Said, weights: Weights) -> tuple[Calls, str]:
    """The calls that are due, and why they are so many."""
    calls = of_steps(tools, said, weights) or of_parts(tools, near, said, weights)
    names = ""
    if not 1 < len(calls) <= MOST_CALLS:
        each = for_each(near[0], said)
        is_row = 1 < len(each) <= MOST_CALLS
        alike = [] if is_row else of_alike(near[0], said, weights)
        names = ", one for each " + " and ".join(name for name, _ in near[0].filled.each) if is_row else ""
        calls = tuple((one,) for one in each if is_row) or tuple((one,) for one in alike) or (near,)
    all_ = also_named(tools, calls, said, weights)
    calls = all_ if len(all_) <= MOST_CALLS else calls
    shown = near[:1] if names else near
    return calls, f"gate: {len(calls)} calls are due{names}: {_told(shown)}" if len(calls) > 1 else ""


def _undone(asked: str, weights: Weights) -> str | None:
    """What is to be done, where no tool speaks of it: a hotel room is not booked by its light."""
    match = _DEED.match(asked)
    stems = {stem for word in words_of(match["verb"]) for stem in related(word)} if match else set()
    return match["verb"].lower() if match and all(stems.isdisjoint(words) for words in weights.values()) else None


def _first_step(ranked: tuple[Ranked, ...]) -> Verdict | None:
    """A tool that the question names lacks something that another tool, which lacks nothing, tells of itself."""
    wanted = max(ranked, key=lambda one: (one.overlap, one.score))
    if wanted.is_full or wanted.overlap < NAMED or len(wanted.filled.missing) > _FEW:
        return None
    properties = properties_of(wanted.filled)
    plain = [name for name in wanted.filled.missing + wanted.filled.implied if properties[name].get("type") != "array"]
    lacking = {word for name in plain for word in words_of(spaced(name))}
    for one in ranked:
        told = set(words_of(f"{one.tool.name} {one.tool.description or ''}".replace("_", " ")))
        if one.is_full and TELLERS.search(one.tool.name) and lacking & told - _needs(one):
            lacks = ", ".join(wanted.filled.missing + wanted.filled.implied)
            why = f"{wanted.tool.full_name} lacks {lacks}, which {one.tool.full_name} may tell"
            return Verdict(((one,),), f"gate: a call is due: {why}")
    return None


def _needs(one: Ranked) -> set[str]:
    """The words of what a tool must be told itself: that it does not tell."""
    properties = properties_of(one.filled)
    return {
        word
        for name in one.filled.found
        for text in (name, properties[name].get("description") or "")
        for word in words_of(spaced(text))
    }


def _further(tools: tuple[Tool, ...], asked: Said, said: Said, called: frozenset[str], weights: Weights) -> Verdict:
    """With results at hand: a tool that the question names and that lacked something before, and lacks nothing now."""
    before = {one.tool.full_name: one for one in rank(tools, asked, weights)}
    known = {word for name in called for word in words_of(as_words(name))}
    for one in rank(tools, said, weights):
        was = before[one.tool.full_name]
        if one.tool.full_name not in called and not was.is_full and _names(asked, one.tool, known) and one.is_full:
            return Verdict(((one,),), f"gate: a further call is due: the results have what {one.tool.full_name} lacked")
    return Verdict((), "gate: no further call is due: the results are there")


def _names(said: Said, tool: Tool, known: set[str]) -> bool:
    """Whether the text has a word of the tool's name itself that those of the tools called before have not."""
    own = set(words_of(as_words(tool.name))) - known
    return any(own & set(words_of(word.text)) for word in said.words if word.low not in FUNCTION_WORDS)


# -- what is said


def _earlier(asked: str, messages: tuple[Message, ...]) -> str:
    """What a short question goes on from, such as: And in Naples?"""
    if len(asked.split()) >= _SHORT:
        return ""
    told = [part.text for message in messages if message.role == "user" for part in message.parts if isinstance(part, Text)]
    return " ".join(told[-2:-1])


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
