"""What a text names by a word that says what it is: the shop database, my workout playlist; and what is written as no word is.

Those who name services, branches and tables write them small, with signs that no plain word has: order_items, checkout-web.
"""

from __future__ import annotations

import re
from itertools import takewhile

from toolglot.pipeline.said import FUNCTION_WORDS, Find, Said, Word

# things that have names in plain words, which stand before them
_BEARERS = frozenset(
    "database db table branch service channel project repo repository folder directory bucket queue topic cluster namespace list"
    " playlist calendar category group team board label column field collection server department section queue scene album"
    " environment dataset schema index job pipeline".split()
)
# things that are named by those who write software
_TECHNICAL = frozenset(
    "service branch table database db repo repository package module library image container cluster job queue namespace bucket"
    " column field function variable class app application host component pipeline deployment dataset schema base head ref"
    " revision source target stack project workspace model".split()
)
_SAME = {"db": "database", "repo": "repository"}
_OPENING = frozenset({"the", "my", "our", "your", "a", "an", "this", "that", "his", "her", "their", "on", "in", "from", "to", "of"})
_QUALIFYING = frozenset(
    "new same whole entire current first last old other right next wrong different existing empty full big small own best top good"
    " great specific certain particular following production staging test default remote local public private shared common single"
    " second third previous latest recent favorite favourite main".split()
) - {"main", "shared", "favorite"}
_MOST = 3  # words of such a name
_STRONG = re.compile(r"[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*|[\w.-]+/[\w./-]+|v\d+(?:\.\d+)+")
_WEAK = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")
_WORDY = re.compile(  # plain words that have a hyphen
    r"^(?:non|pre|self|well|high|low|long|short|full|part|half|check|follow|sign|log|up|so|e|x|re|anti|mid|co|ex|all|one|two|three"
    r"|four|five|six|seven|eight|nine|ten|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|first|second|third|real|in|on|to)-"
    r"|-(?:[a-z]+ed|[a-z]+ing|free|friendly|time|old|day|days|term|level|up|off|in|out|on|down|to|by|wide|based|like|made|class|star"
    r"|way|trip|minute|hour|week|month|year|mile|person|page|size|half|date|only|law|end|back|fi|style)$"
)


def named_before(own: frozenset[str], said: Said) -> list[Find]:
    """The names that stand before a parameter's own word: the road trip playlist."""
    labels = {_SAME.get(word, word) for word in own} & _BEARERS
    found = []
    for at, word in enumerate(said.words):
        if labels and {_SAME.get(word.low, word.low), _SAME.get(word.low.removesuffix("s"), "")} & labels:
            before = list(takewhile(lambda one: one.low not in FUNCTION_WORDS, reversed(said.words[max(0, at - _MOST - 1) : at])))
            run = [*reversed(before)]
            opened = at > len(run) and said.words[at - len(run) - 1].low in _OPENING
            if run and opened and len(run) <= _MOST and not _is_plain(run) and not said.is_broken([*run, word]):
                found.append(said.span(run))
    return found


def _is_plain(run: list[Word]) -> bool:
    return any(word.low in _QUALIFYING or word.first or word.low.endswith(("'s", "’s")) for word in run)


def marked(own: frozenset[str], said: Said) -> list[Find]:
    """What is written as no plain word is, for a parameter whose values are written so."""
    if not own & _TECHNICAL:
        return []
    quoted = [word for word in said.words if not any(one.start <= word.start < one.end for one in [*said.quoted, *said.urls, *said.emails])]
    strong = [word for word in quoted if _STRONG.fullmatch(word.text) and word not in said.paths]
    weak = [word for word in quoted if _WEAK.fullmatch(word.text) and not _WORDY.search(word.text)]
    return [Find(word.text, word.start, word.end) for word in said.words if word in strong or word in weak]
