"""What a text names by a word that says what it is: the shop database, my workout playlist; and what is written as no word is.

Those who name services, branches and tables write them small, with signs that no plain word has: order_items, checkout-web.
"""

from __future__ import annotations

import re
from itertools import takewhile

from toolglot.pipeline.plain_words import FUNCTION_WORDS
from toolglot.pipeline.pointers import POINTED
from toolglot.pipeline.relevance import words_of
from toolglot.pipeline.said import Find, Said
from toolglot.pipeline.said_runs import trimmed
from toolglot.pipeline.said_words import Word
from toolglot.pipeline.slot_kinds import Slot
from toolglot.pipeline.spans import Spans

# things that have names in plain words, which stand before them
_NAMED = """
database db table branch service channel project repo repository folder directory bucket queue topic cluster namespace list
playlist calendar category group team board label column field collection server department section scene album environment
dataset schema index job pipeline speaker warehouse store shop office
"""
_BEARERS = frozenset(_NAMED.split())
_PLAIN_BEARERS = frozenset({"speaker", "warehouse", "store", "shop", "office", "playlist", "list"})  # by a description, too
# things that are named by those who write software
_WRITTEN = """
service branch table database db repo repository package module library image container cluster job queue namespace
bucket column field function variable class app application host component pipeline deployment dataset schema base head ref
revision source target stack project workspace model
"""
_TECHNICAL = frozenset(_WRITTEN.split())
_SAME = {"db": "database", "repo": "repository"}
_OPENING = frozenset({"the", "my", "our", "your", "a", "an", "this", "that", "his", "her", "their", "on", "in", "from", "to"})
_TELLING = """
new same whole entire current first last old other right next wrong different existing empty full big small own best top good
great specific certain particular following production staging test default remote local public private common single second
third previous latest recent favourite
"""
_QUALIFYING = frozenset(_TELLING.split())  # what such a word says of a thing is not its name
_MOST = 3  # words of such a name
_STRONG = re.compile(r"[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*|[\w.-]+/[\w./-]+|v\d+(?:\.\d+)+")
_WEAK = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")
_LEFT_OUT = frozenset({"without", "except", "exclud", "avoid"})
_USERS = frozenset({"user", "username", "handle", "login", "assignee", "nickname"})
_USER = re.compile(r"@?[a-z]+[._-]?[a-z]*\d+|@[a-z][\w.-]+|[a-z]+_[a-z_]+|[a-z]+\.[a-z]+")
_BEHIND = re.compile(r" ([a-z]+)")
_WORDY = re.compile(  # plain words that have a hyphen
    r"^(?:non|pre|self|well|high|low|long|short|full|part|half|check|follow|sign|log|up|so|e|x|re|anti|mid|co|ex|all|one|two|three"
    r"|four|five|six|seven|eight|nine|ten|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|first|second|third|real|in|on|to)-"
    r"|-(?:[a-z]+ed|[a-z]+ing|free|friendly|time|old|day|days|term|level|up|off|in|out|on|down|to|by|wide|based|like|made|class|star"
    r"|way|trip|minute|hour|week|month|year|mile|person|page|size|half|date|only|law|end|back|fi|style)$"
)


def named_before(this: Slot, said: Said) -> list[Find]:
    """The names that stand before a parameter's own word: the road trip playlist."""
    about = re.findall(r"[a-z]+", this.about.lower())
    told = {*this.own, *(_PLAIN_BEARERS & {*about[:2]})} if this.own - _GENERIC else about
    labels = {_SAME.get(word, word) for word in told} & _BEARERS
    found = []
    for at, word in enumerate(said.words):
        if labels and {_SAME.get(word.low, word.low), _SAME.get(word.low.removesuffix("s"), "")} & labels:
            before = list(
                takewhile(lambda one: one.low not in FUNCTION_WORDS, reversed(said.words[max(0, at - _MOST - 1) : at]))
            )
            run = [*reversed(before)]
            opened = at > len(run) and said.words[at - len(run) - 1].low in _OPENING
            if run and opened and len(run) <= _MOST and not _is_plain(run) and not said.is_broken([*run, word]):
                found.append(said.span(run))
    return found


def _is_plain(run: list[Word]) -> bool:
    return any(word.low in _QUALIFYING or word.first or word.low.endswith(("'s", "’s")) for word in run)


def marked(own: frozenset[str], said: Said) -> list[Find]:
    """What is written as no plain word is, for a parameter whose values are written so."""
    if not own & (_TECHNICAL | _USERS):
        return []
    others = Spans(said.quoted, said.urls, said.emails, [] if own & _USERS else said.paths)
    plain = [word for word in said.words if not others.reach(word.start)]
    if own & _USERS:
        return [Find(word.text, word.start, word.end) for word in plain if _USER.fullmatch(word.text)]
    return [Find(word.text, word.start, word.end) for word in plain if _is_marked(word, said)]


def _is_marked(word: Word, said: Said) -> bool:
    if _STRONG.fullmatch(word.text):
        return True
    behind = _BEHIND.match(said.text, word.end)  # a blue-green deployment has no name
    noun = behind is not None and behind[1].lower() not in FUNCTION_WORDS and not behind[1].endswith("s")
    return bool(_WEAK.fullmatch(word.text)) and not _WORDY.search(word.text) and not noun


_CALLED = frozenset({"called", "named"})
_LEADING = frozenset({"from", "off", "into"})
_GENERIC = frozenset({"name", "id", "title", "number", "code"})
_BETWEEN = frozenset(
    {"called", "named", "is", "titled", "number", "numbered", "no", "id", "uuid", "of", "as", "to", "be", "with"}
    | {"name", "set", "should", "will", "must"}
)
_FURTHER = 4  # words from a name to its value


def labelled(this: Slot, said: Said) -> list[Find]:
    """What follows the parameter's own name: the table customers, the branch called develop, the key with the id A17."""
    found = []
    own = this.own - POINTED.keys()
    plain, titled = len(own - _GENERIC) <= 1, bool(own & {"name", "title"})
    ends = {name.end for name in said.names}
    for at, word in enumerate(said.words[:-1]):
        rest = said.words[at + 1 : at + 1 + _FURTHER]
        leads = word.low in _LEADING and bool(this.own & POINTED[word.low])
        if word.low not in own and not leads and not (titled and any(one.low in _CALLED for one in rest)):
            continue
        skipped = list(takewhile(lambda one: one.low in _BETWEEN or set(words_of(one.low)) & (this.words | this.named), rest))
        if len(skipped) == len(rest):
            skipped = skipped[:-1]
        value = rest[len(skipped)]
        called = any(one.low in _CALLED for one in skipped)
        twice = at > 0 and said.words[at - 1].low in own
        labels = ((plain or twice) and word.low in own) or (called and titled)
        apart = re.search(r"[,.;?!]", said.text[word.end : value.start])
        if value.text[0].islower() and word.start - 1 in ends:  # our Hamburg store still has it
            continue
        quoted = any(quote.start <= value.start < quote.end for quote in said.quoted)
        if this.kind == "code" and not quoted and not any(map(str.isdigit, value.text)):
            continue
        quote = next((quote for quote in said.quoted if word.end <= quote.start <= rest[-1].start), None)
        if labels and quote is not None and not re.search(r"[,.;?!]", said.text[word.end : quote.start]):
            found.append(quote)
        elif (labels or leads) and value.low not in FUNCTION_WORDS and not apart:
            one = Find(value.text.lstrip("#") if this.kind == "code" else value.text, value.start, value.end)
            found.append(next((whole for whole in [*said.quoted, *said.streets] if around(whole, one)), one))
    wholes = Spans(said.names, said.quoted, said.called) if found else Spans()
    return [one for one in found if not any(around(name, one) and name != one for name in wholes.near(one))]


def labelled_row(this: Slot, said: Said) -> list[Find]:
    """The list that follows a parameter's own name: with the labels docs and website."""
    own = this.named - {"list", "item"} | (_LEFT_OUT if this.own & {"exclude", "avoid", "excluded", "without"} else frozenset())
    for row in said.rows:
        first = str(row[0].value).split()
        label = next((at for at, word in enumerate(first[:-1]) if set(words_of(word)) & own), None)
        before = [word.low for word in said.before(row[0].start, 1)]
        if label is not None:
            head = re.sub(r"^(?:of|the|a|an) ", "", " ".join(first[label + 1 :]))
            row = [Find(head, row[0].end - len(head), row[0].end), *row[1:]]
        elif not before or not set(words_of(before[0])) & own:
            continue
        items = next(trimmed(row, said), [])
        return [Find(item, find.start, find.end) for item, find in zip(items, row, strict=False)]
    return []


def around(name: Find, one: Find) -> bool:
    return name.start <= one.start and one.end <= name.end
