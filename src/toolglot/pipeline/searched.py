"""Questions for a search of the web: who, what, when and where, of anything but the speaker and the model."""

from __future__ import annotations

import re

import msgspec

from toolglot.pipeline.held import properties_of
from toolglot.pipeline.own_words import only
from toolglot.pipeline.ranked_tools import Ranked

_SEARCHES = re.compile(
    r"\b(?:web|internet|online|google|bing|duckduckgo) ?search|search engine"
    r"|search(?:es)? (?:on |in )?(?:the )?(?:web|internet|online|google)",
    re.IGNORECASE,
)
_OTHER_THAN_PAGES = re.compile(r"\b(?:pictures?|images?|photos?|videos?|products?|shop|news)\b", re.IGNORECASE)
_FACT = re.compile(
    r"^\W*(?:who(?:'s| is| was| were| won| wrote| invented| discovered| founded| painted| composed)|whose|when|where"
    r"|what(?:'s| is| are| was| were) the|which|in (?:which|what)"
    r"|how (?:many|much|old|tall|high|big|large|long|far|deep|fast|heavy|hot|cold))\b[^?.!]{8,}\??$",
    re.IGNORECASE,
)
_OF_US = re.compile(
    r"\b(?:i|me|my|mine|we|us|our|you|your|yours|this|that|these|it|the (?:meaning|plural|opposite|word))\b", re.IGNORECASE
)


def to_search(ranked: tuple[Ranked, ...], asked: str) -> Ranked | None:
    """The search of the web, held to the question, where that asks for a fact."""
    if not _FACT.match(asked) or _OF_US.search(asked):
        return None
    found = next((one for one in ranked if _is_search(one)), None)
    if found is None:
        return None
    query = next(iter(properties_of(found.filled)))
    return msgspec.structs.replace(found, filled=only(found.filled, query, asked.strip(" ?\n")))


def _is_search(one: Ranked) -> bool:
    """It needs words and nothing else."""
    told = f"{one.tool.name.replace('_', ' ')}. {one.tool.description or ''}"
    offered = list(properties_of(one.filled).values())
    words_alone = len(offered) == 1 and offered[0].get("type") == "string"
    return words_alone and _SEARCHES.search(told) is not None and _OTHER_THAN_PAGES.search(told) is None
