"""Questions for a search of the web or of Wikipedia: who, what, when and where, of anything but the speaker and the model."""

from __future__ import annotations

import re

import msgspec

from toolglot.pipeline.held import properties_of
from toolglot.pipeline.own_words import only
from toolglot.pipeline.ranked_tools import Ranked

_SEARCHES = re.compile(
    r"\b(?:web|internet|online|google|bing|duckduckgo) ?search|search engine"
    r"|search(?:es)? (?:on |in )?(?:the )?(?:web|internet|online|google)|wikipedia",
    re.IGNORECASE,
)
_OTHER_THAN_PAGES = re.compile(r"\b(?:pictures?|images?|photos?|videos?|products?|shop|news)\b", re.IGNORECASE)
_FACT = re.compile(
    r"^\W*(?:who(?:'s| is| was| were| won| wrote| invented| discovered| founded| painted| composed)|whose|when|where"
    r"|what(?:'s| is| are| was| were) the|which|in (?:which|what)"
    r"|how (?:many|much|old|tall|high|big|large|long|far|deep|fast|heavy|hot|cold))\b[^?.!]{8,}\??$",
    re.IGNORECASE,
)
_WIKIPEDIA = re.compile(r"wikipedia", re.IGNORECASE)
# what is to be looked up, where that is said; the last of them only of what has a name
_LOOKED_UP = re.compile(
    r"^\W*(?:(?:please|can you|could you)\W+)*"
    r"(?:google|look up|search(?: (?:on )?(?:the )?(?:web|internet|online|google|wikipedia))?(?: for)?"
    r"|find out|what does wikipedia say about|(?:tell me|find (?:some )?information) about(?= (?:the )?(?-i:[A-Z])))"
    r" (?:the |some |for )*"
    r"(?P<what>(?:(?! and (?:then )?(?:email|mail|send|save|write|text|tell|summarize|translate|add)\b)[^?.!,;\n]){3,})"
    r"[?.!]?$",
    re.IGNORECASE,
)
_TITLED = re.compile(r"^\W*(?:who|what)(?:'s| is| was| are| were) (?:the |an? )?(?P<what>[^?.!\n]+)\??$", re.IGNORECASE)
_WHERE = re.compile(r"\s+(?:on|in|using|with) (?:the )?(?:web|internet|google|wikipedia)\s*$|\s+online\s*$", re.IGNORECASE)
_OF_US = re.compile(
    r"\b(?:i|me|my|mine|we|us|our|you|your|yours|this|that|these|it|the (?:meaning|plural|opposite|word))\b", re.IGNORECASE
)


def to_search(ranked: tuple[Ranked, ...], asked: str) -> Ranked | None:
    """The search, held to the question, where that asks for a fact, or to what it says is to be looked up."""
    told = _LOOKED_UP.match(asked)
    found = next((one for one in ranked if _is_search(one)), None)
    if (
        found is None
        or not (told or _FACT.match(asked))
        or _OF_US.search(told["what"] if told else asked)
        or (ranked[0].is_due and ranked[0] != found)
    ):
        return None
    if told is None and _WIKIPEDIA.search(found.tool.name):
        told = _TITLED.match(asked)
    if told is None and found.is_due:
        return None
    what = _WHERE.sub("", told["what"]) if told is not None else asked
    query = next(iter(properties_of(found.filled)))
    return msgspec.structs.replace(found, filled=only(found.filled, query, what.strip(" ?\"'\n")))


def _is_search(one: Ranked) -> bool:
    """It needs words and nothing else."""
    told = f"{one.tool.name.replace('_', ' ')}. {one.tool.description or ''}"
    offered = list(properties_of(one.filled).values())
    words_alone = len(offered) == 1 and offered[0].get("type") == "string"
    return words_alone and _SEARCHES.search(told) is not None and _OTHER_THAN_PAGES.search(told) is None
