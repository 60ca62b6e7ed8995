"""Texts whose form tells where they begin and end: what someone is to be told or reminded of, what is looked for, a query.

Each row of the table below is what a parameter asks for, and the forms in which people say it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from toolglot.pipeline.said import Find, Said
from toolglot.pipeline.said_numbers import NUMBER_WORDS

_WHOM = r"(?P<whom>(?:my |our |the )?(?!me\b|us\b|you\b|the\b|to\b|saying\b)[\w'+-]+(?:\.\w+)?(?: (?-i:[A-Z])[\w'-]+){0,2})"
_TOLD = r"(?P<told>[^\n]+?)[.!]?$"
_NOTE = r"(?: text| message| note| mail| email| sms| line)?"
_ENDING = (
    r"by|under|below|above|over|between|for|in|from|with|without|that|which|who|whose|on|off|near|at|of|cheaper|less|more|rated|sorted"
    r"|made|costing|priced|around|within|to|and|or|please|paying|where|using|as|before|after|since|due|do|does|are|is|have|has|can"
)
_THING = rf"\w[\w'-]*(?: (?!(?:{_ENDING})\b)[\w'-]+)*"
_TREATING = (
    r"quiz|questions?|courses?|lessons?|papers?|articles?|books?|essays?|reports?|presentations?|talks?|lectures?|class(?:es)?"
    r"|tutorials?|news|research|facts|information|videos?|studies|exam|test|flashcards"
)
_SHOWING = r"pictures?|images?|photos?|photographs?|videos?|clips|gifs?"
_PLACE = r"(?-i:[A-Z])[\w'-]*(?: (?-i:[A-Z])[\w'-]*)*"
_ROOM_OF = r"master|guest|spare|main|upstairs|downstairs|front|back|home|(?:kid|child|children|baby|boy|girl)(?:'?s'?)?"
_ROOMS = (
    r"(?:living|dining|laundry|utility|guest|sitting|play|meeting|conference) ?room|bedroom|bathroom|kitchen|nursery"
    r"|study|office|hallway|hall|corridor|garage|basement|attic|cellar|lounge|den|pantry|conservatory|porch|loft|playroom|sauna"
)
_ANY = r"(?:some |an? |the |any |all |all the )?"
_SAID = (
    rf"\b(?:tell|text|message|email|mail|notify|inform|ping|warn|dm)(?: to)? {_WHOM}"
    rf"(?::|,? that\b|,? saying(?: that)?\b) {_TOLD}",
    rf"\blet {_WHOM} know(?: that|:)? {_TOLD}",
    rf"\b(?:send|write|shoot|drop)\b(?: an?| the)?{_NOTE}(?: to)? {_WHOM}(?: an?)?{_NOTE},?"
    rf" (?:saying|that says|to say)(?: that)? {_TOLD}",
    rf"\btell {_WHOM} (?P<told>(?:I|I'm|I'll|I've|we|we're|we'll|he|she|it|it's|they|the|my|our)\b[^\n]+?)[.!]?$",
)


class _Form(msgspec.Struct, frozen=True):
    """What a parameter asks for, by its name and description, and how people say it."""

    asked: re.Pattern[str]
    forms: tuple[re.Pattern[str], ...]
    group: str = "told"
    apart: bool = False  # from the day and the time
    rows: bool = False  # there may be several, one after another


def _form(asked: str, *forms: str, group: str = "told", apart: bool = False, rows: bool = False) -> _Form:
    held = tuple(re.compile(form, re.IGNORECASE) for form in forms)
    return _Form(re.compile(asked, re.IGNORECASE), held, group, apart, rows)


_ASKED_NICELY = r"^(?:(?:please|can you|could you)\W+)*"
_TONGUES = "english|french|german|spanish|italian|portuguese|dutch|japanese|chinese|korean|russian|arabic|hindi|polish"
_TONGUE = rf"(?-i:[A-Z][a-z]+)|{_TONGUES}"
_PLAIN_TEXT = r"^(?:input )?(?:text|string|word|phrase|sentence|input|s)\b"
_WAY = (  # in small letters: flights london to rome
    rf"\b(?:flights?|trains?|bus(?:es)?|directions|route|distance) (?:from )?(?:the )?(?P<told>(?-i:[a-z]){_THING})"
    rf" to (?:the )?(?P<whom>(?-i:[a-z]){_THING})"
)
_LETTERS = r"\bhow many (?:letter )?['\"]?(?P<told>[a-z])['\"]?(?:'?s)?"
_SENT = r"^(?:\w+ )?(?:message|text|body|content|msg)\b"
_FORMS = (
    _form(_SENT, *_SAID),
    _form(r"^(?:contact|recipient|to|person|receiver|name|friend)\b", *_SAID, group="whom"),
    _form(
        rf"{_SENT}.*translat",
        r"\b(?:say|translate|what's|what is) (?P<told>(?!it\b|this\b|that\b)[^\n?]+?) (?:in|to|into) (?-i:[A-Z])[a-z]+",
    ),
    _form(
        r"^(?:text|phrase|sentence|word)\b",
        rf"\bhow (?:do|would|can) (?:you|i|we) say (?P<told>(?!it\b|this\b|that\b)[^\n?]+?) in (?:{_TONGUE})\b",
        rf"{_ASKED_NICELY}translate (?:the (?:word|phrase|sentence|text) )?"
        rf"(?P<told>(?!(?:it|this|that|the|to|into)\b)[^\n?:]+?) (?:in|to|into) (?:{_TONGUE})\b",
    ),
    _form(r"^(?:target |to |destination )?lang(?:uage)?\b", rf"\b(?:in|to|into) (?P<told>{_TONGUES})\b"),
    _form(  # what is to be done with a text in plain words
        _PLAIN_TEXT,
        r"\bwhat(?:'s| is) (?P<told>[\w' -]+?) (?:spelled |written )?backwards?\b",
        rf"{_ASKED_NICELY}(?:reverse|uppercase|lowercase|capitalize) (?:the )?(?:(?:string|word|text|phrase|sentence) )?"
        r"(?P<told>[^\n:]+?)[.?!]?$",
        r"\b(?:convert|turn|make|change|put) (?:the (?:string|word|text|phrase) )?(?P<told>[^\n:?]+?)"
        r" (?:(?:in)?to |in )?(?:upper|lower|title)[ -]?case\b",
        r"\bis (?:the word |the phrase )?(?P<told>[\w' -]+?) an? palindrome\b",
    ),
    _form(  # Summarize: ...; Take a note: ...
        rf"{_PLAIN_TEXT}|^(?:paragraph|content|note|body|message|document|article|review|code|question)\b",
        r"^[^:.!?\n]{2,60}:\s+(?P<told>\S[\s\S]*)$",
    ),
    _form(
        r"^(?:text|message|content|title|what|note|body|description)\b",
        r"\b(?:remind (?:me|us)|reminder)\b[^.!?\n]{0,40}?\b(?:to|about|that) (?P<told>[^.!?;\n]+)",
        apart=True,
    ),
    _form(
        r"^(?:text|message|content|note|body)\b",
        rf"\b(?:make|take|write|add|save|leave) a (?:quick )?note (?:to|that|saying)(?: that)? {_TOLD}",
        rf"{_ASKED_NICELY}note(?: down)?(?: that)? {_TOLD}",
    ),
    _form(r"^(?:message|text)\b", rf"{_ASKED_NICELY}echo {_TOLD}"),
    _form(
        r"^(?:task|item|to-?do|title|text|product|entry|product name|item name)\b",
        rf"\b(?:add|put)(?: an?| some| the)?(?: \d+| {'| '.join(NUMBER_WORDS)})? "
        r"(?P<told>(?!(?:it|this|that|them|these|those|an?)\b)[^.!?;,\n]+?)"
        r" (?:to|on|in|into) (?:my|the|our) (?:[\w-]+ )?(?:list|to-?dos|tasks|cart|basket|bag)\b",
    ),
    _form(
        r"^(?:title|task|name|description|text|summary)\b",
        r"\b(?:task|to-?do)(?: to|:) (?P<told>[^.!?;\n]+)",
        apart=True,
    ),
    _form(
        r"^(?:command|cmd|shell command)\b",
        r"\b(?:run|execute)(?: the| this)?(?: shell| bash)?(?: command)?:? "
        r"(?P<told>(?!(?:the|my|an?|all|this|some|it|shell|command)\b)\S[^\n]*?)"
        r"(?: (?:in|on) (?:the|a|my) (?:shell|terminal))?[.]?$",
    ),
    _form(  # save hello to out.txt; with the body See you soon
        r"^(?:content|contents|text|body|message)\b",
        r"\b(?:write|save|append) (?P<told>(?!(?:the|it|this|that|an?|to)\b)[^\n]+?)"
        r" (?:to|into|in) (?:the )?(?:file )?\S+\.\w+[.]?$",
        rf"(?:,|\band|\bwith)(?: an?| the)? (?:body|message|content|text)(?: saying)? {_TOLD}",
    ),
    _form(
        r"^(?:title|song|track|song title|song name|track name)\b(?! id)",
        r"\b(?:play|put on|listen to)(?: the song)? (?P<told>(?-i:[A-Z])[^\n,.?!]+?) by \w",
    ),
    _form(r"^(?:origin|from|source|start|departure)\b(?! date| time)", _WAY, apart=True),
    _form(r"^(?:destination|to|target|end|arrival)\b(?! date| time)", _WAY, group="whom", apart=True),
    _form(
        r"^prompt\b",
        r"\b(?:draw|paint|sketch)(?: me)? (?P<told>[^\n]+?)[.!?]?$",
        r"\b(?:image|picture|drawing|photo|painting|illustration)s? of (?P<told>[^\n]+?)[.!?]?$",
    ),
    _form(
        r"^(?:dish|recipe|meal)\b(?! id)",
        rf"\b(?:how (?:do|can|would) (?:i|you|we) (?:make|cook|bake)|recipes? for|cook|bake) {_ANY}(?P<told>{_THING})",
    ),
    _form(r"^ingredient\b", rf"\b(?:with|using|containing) {_ANY}(?P<told>{_THING})"),
    _form(r"^(?:letter|character|char)\b", rf"{_LETTERS} (?:are|is|does|do|occur)\b"),
    _form(r"^(?:word|text|string)\b", rf"{_LETTERS} [\w ]{{2,30}}?\bin (?:the word )?['\"]?(?P<word>[\w-]+)", group="word"),
    _form(
        r"^(?:word|term)\b",
        r"\bwhat does (?:the word )?(?P<told>[\w-]+) mean\b",
        r"\b(?:define|(?:definition|meaning) of|synonyms? (?:for|of)|(?:an)?other words? for|spell) (?:the word )?"
        r"(?P<told>[\w-]+)",
    ),
    _form(
        r"^(?:device|appliance|lamp|light|machine|blinds?)\b",
        rf"\b(?:turn|switch|dim|start|stop|open|close|pause|power)\b(?: on| off| up| down)? (?:the|my|our) (?P<told>{_THING})",
    ),
    _form(
        r"^(?:topic|subject|theme)\b|^(?:query|q|search)\b.*\b(?:topic|subject|keywords?)\b",
        rf"\b(?:about|regarding|concerning) (?:the )?(?P<told>{_THING}(?: (?:of|and) {_THING})?)",
        rf"\b(?:{_TREATING}) on (?:the )?(?P<told>{_THING}(?: (?:of|and) {_THING})?)",
    ),
    _form(
        r"^room\b|^(?:zone|area) .*\broom\b",
        rf"\b(?P<told>(?:(?:{_ROOM_OF}) )?(?:{_ROOMS}))\b(?! (?:temperature|service|number))",
        rows=True,
    ),
    _form(
        r"^(?:query|q|search|search query|search term)\b",
        rf"\b(?:notes?|e?mails?|documents?|messages) (?:about|mentioning|regarding|on) (?:the |my )?(?P<told>{_THING})",
        rf"\b(?:search|look|looking|hunt|browse)\b(?: \w+){{0,4}}? for (?:me )?{_ANY}(?P<told>{_THING}(?: in {_PLACE})?)",
        rf"\b(?:{_SHOWING}) (?:of|about|for) {_ANY}(?P<told>{_THING}(?: (?:in|at) {_PLACE})?)",
        rf"^(?:(?:please|can you|could you)\W+)*(?:find|show|get|search|list)(?: me)? {_ANY}(?P<told>(?!me\b|out\b){_THING})",
        rf"^which (?P<told>{_THING}) (?:do|does|are|have)\b",
    ),
    _form(  # three chairs; 6 hours of copy editing
        r"^name name of the (?:dish|item|product|food|drink)\b|^(?:dish|item|food|drink|food name|item name|dish name)\b"
        r"|what (?:is|was) (?:billed|sold|delivered|ordered|bought)\b|work done",
        rf"\b(?:\d+(?:\.\d+)?|{'|'.join(NUMBER_WORDS)})(?: ?x)? (?:[a-z]+ of )?"
        rf"(?!(?:minutes?|hours?|days?|weeks?|months?|years?|percent|dollars?|euros?|pounds?|people|stars?|km|kg|[ap]m|{_ENDING})\b)"
        rf"(?P<told>[^\W\d]{_THING[2:]})",
    ),
    _form(
        r"remind|remember|task\b(?! id)|to-?do|purpose",
        r"\b(?:forget|remember|remind(?:er|ing|ers)?|nudge|ping|alert|alarm|tell|ask)\b[^.!?\n]{0,60}?"
        r"\b(?:(?:me|us|him|her|them)\b[^.!?\n]{0,60}?\bto|to|about) (?P<told>[^.!?;\n]+)",
        apart=True,
    ),
    _form(
        r"\breasons?\b|^\w+ why\b",
        r"\b(?:because(?: of)?|due to|on account of|the reason is(?: that)?) (?P<told>[^.!?;\n]+)",
        apart=True,
    ),
    _form(
        r"^label\b|what (?:it|the timer|the alarm) is for",
        r"\b(?:timer|countdown|alarm|stopwatch)\b[^.!?\n]{0,60}? for (?:the |my |our )?"
        r"(?P<told>(?!\d|an? |half|one|two|three|five|ten)[a-z][^.!?;,\n]*)",
        apart=True,
    ),
)
_SQL = re.compile(
    r"\b(?:SELECT\b.+?\bFROM|INSERT INTO|UPDATE\b.+?\bSET|DELETE FROM|CREATE TABLE|ALTER TABLE|DROP TABLE|WITH\b.+?\bAS)\b"
    r"[^\n]*?(?:;|(?=$|[.?!](?:\s|$)|,? (?:on|in|against) (?:the|our|my) \w+ (?:database|db|schema)\b|['\"`](?:\s|$)))",
)
_SMALL_SQL = re.compile(r"^\s*(?P<told>select\b[^\n]+\bfrom \w[^\n?]*?);?\s*$", re.IGNORECASE)
_QUERIES = frozenset({"query", "statement"})
_STRUCTURED = re.compile(r"\bSQL\b", re.IGNORECASE)
_POSSESSED = re.compile(r"^(?:my|our|the) ", re.IGNORECASE)
_GOES_ON = re.compile(r"(?:,|,? (?:and|or)|,? as well as)(?: (?:in|the|my|our))* ")
_BEFORE_MOMENTS = re.compile(r"(?:,|\s|\b(?:on|at|by|before|from|next|this|every|in|around|please|for)\b){1,20}$")


def told_text(name: str, about: str, said: Said) -> list[Find]:
    """The text that a parameter asks for, where the question's own form tells where it begins and ends."""
    what = f"{name} {about}".replace("_", " ")
    structured = _STRUCTURED.search(what)
    if structured or name.lower() in _QUERIES:
        asked = [Find(match[0].strip(), match.start(), match.end()) for match in _SQL.finditer(said.text)]
        whole = _SMALL_SQL.match(said.text)
        if asked or structured or whole:
            return asked or ([Find(whole["told"], whole.start("told"), whole.end("told"))] if whole else [])
    if said.quoted:
        return []
    named = re.search(rf"\b{re.escape(name)}:\s+(?P<told>[^\n]+?)[.]?$", said.text, re.IGNORECASE)  # Note: ...
    if named is not None:
        return [_found(named, "told", said)]
    for row in _FORMS:
        match = (
            next((match for form in row.forms if (match := form.search(said.text))), None) if row.asked.search(what) else None
        )
        if match is not None:
            found = _found(match, row.group, said, apart=row.apart)
            return [found, *(_others(match, row, said) if row.rows else ())] if found.value else []
    return []


def _others(match: re.Match[str], row: _Form, said: Said) -> Iterator[Find]:
    """The kitchen, the office and the hall: those that follow the first."""
    for other in match.re.finditer(said.text, match.end()):
        if not _GOES_ON.fullmatch(said.text, match.end(), other.start()):
            return
        yield _found(other, row.group, said)
        match = other


def _found(match: re.Match[str], group: str, said: Said, *, apart: bool = False) -> Find:
    """Not my sister, but sister. What is kept `apart` from the day and the time ends before them."""
    start, end = match.span(group)
    if group == "whom":
        start += len(match[group]) - len(_POSSESSED.sub("", match[group]))
    if not apart:
        return Find(said.text[start:end], start, end)
    moments = [one.start for one in [*said.written_dates, *said.written_times] if start < one.start < end]
    text = _BEFORE_MOMENTS.sub("", said.text[start : min([end, *moments])])
    return Find(text, start, start + len(text))
