"""Longer texts whose form tells where they begin and end: what someone is to be reminded of, and queries in SQL."""

from __future__ import annotations

import re

from toolglot.pipeline.said import Find, Said

_TASK = re.compile(
    r"\b(?:forget|remember|remind(?:er|ing|ers)?|nudge|ping|alert|alarm|tell|ask)\b[^.!?\n]*?"
    r"\b(?:(?:me|us|him|her|them)\b[^.!?\n]*?\bto|to|about) (?P<told>[^.!?;\n]+)",
    re.IGNORECASE,
)
_SQL = re.compile(
    r"\b(?:SELECT\b.+?\bFROM|INSERT INTO|UPDATE\b.+?\bSET|DELETE FROM|CREATE TABLE|ALTER TABLE|DROP TABLE|WITH\b.+?\bAS)\b"
    r"[^\n]*?(?:;|(?=$|[.?!](?:\s|$)|,? (?:on|in|against) (?:the|our|my) \w+ (?:database|db|schema)\b|['\"`](?:\s|$)))",
)
_BECAUSE = re.compile(
    r"\b(?:because(?: of)?|due to|on account of|the reason is(?: that)?|as the reason) (?P<told>[^.!?;\n]+)", re.IGNORECASE
)
_TIMER = re.compile(
    r"\b(?:timer|countdown|alarm|stopwatch)\b[^.!?\n]*? for (?:the |my |our )?"
    r"(?P<told>(?!\d|an? |half|one|two|three|five|ten)[a-z][^.!?;,\n]*)",
    re.IGNORECASE,
)
_GROUNDS = re.compile(r"\breasons?\b|^\w+ why\b", re.IGNORECASE)
_TIMED = re.compile(r"^label\b|what (?:it|the timer|the alarm) is for", re.IGNORECASE)
# to whom something is said, and what
_WHOM = r"(?P<whom>(?:my |our |the )?(?!me\b|us\b|you\b|the\b)[\w'+-]+(?: [A-Z][\w'-]+)*)"
_TOLD = r"(?P<told>[^\n]+?)[.!]?$"
_SAID = tuple(
    re.compile(form, re.IGNORECASE if "(?-i:" not in form else 0)
    for form in (
        rf"\b(?:tell|text|message|email|mail|notify|inform|ping|warn) {_WHOM}(?::|,? that\b|,? saying(?: that)?\b) {_TOLD}",
        rf"\blet {_WHOM} know(?: that|:)? {_TOLD}",
        rf"\b(?:send|write|shoot|drop)\b(?: an?| the)?(?: text| message| note| mail| email| sms| line)?(?: to)? {_WHOM}"
        rf"(?: an?)?(?: text| message| note| mail| email| sms| line)?,? (?:saying|that says|to say)(?: that)? {_TOLD}",
        rf"\btell {_WHOM} (?P<told>(?:I|I'm|I'll|I've|we|we're|we'll|he|she|it|it's|they|the|my|our)\b[^\n]+?)[.!]?$",
    )
)
_SENDS = re.compile(r"^(?:\w+ )?(?:message|text|body|content|msg)\b", re.IGNORECASE)
_GETS = re.compile(r"^(?:contact|recipient|to|person|receiver|name|friend)\b", re.IGNORECASE)
_IN_OTHER = re.compile(
    r"\b(?:say|translate|(?i:what's|what is)) (?P<told>(?!it\b|this\b|that\b)[^\n?]+?) (?:in|to|into) [A-Z][a-z]+"
)
_MEANING = re.compile(
    r"\bwhat does (?:the word )?(?P<a>[\w-]+) mean\b"
    r"|\b(?:define|definition of|meaning of|synonyms? (?:for|of)|spell) (?:the word )?(?P<b>[\w-]+)",
    re.IGNORECASE,
)
_POSSESSED = re.compile(r"^(?:my|our|the) ", re.IGNORECASE)
_ENDING = (
    r"by|under|below|above|over|between|for|in|from|with|without|that|which|who|whose|on|near|at|of|cheaper|less|more|rated|sorted"
    r"|made|costing|priced|around|within|to|and|or|please|paying|where|using|as|before|after|since|due|do|does|are|is|have|has|can"
)
_THING = rf"\w[\w'-]*(?: (?!(?:{_ENDING})\b)[\w'-]+)*"
_ANY = r"(?:some |an? |the |any |all |all the )?"
_SOUGHT = re.compile(
    rf"\b(?:search|look|looking|hunt|browse)\b(?: \w+)?? for (?:me )?{_ANY}(?P<a>{_THING})"
    rf"|^(?:(?:please|can you|could you|hi|hey)\W+)*(?:find|show|get|search|list)(?: me)? {_ANY}(?P<b>(?!me\b|out\b){_THING})"
    rf"|^which (?P<c>{_THING}) (?:do|does|are|have)\b",
    re.IGNORECASE,
)
_TOPIC = re.compile(
    rf"\b(?:about|regarding|concerning|on the (?:topic|subject) of) (?:the )?(?P<told>{_THING}(?: (?:of|and) {_THING})?)",
    re.IGNORECASE,
)
_SEEKS = re.compile(r"^(?:query|q|search|search query|search term)\b", re.IGNORECASE)
_SWITCHED = re.compile(
    rf"\b(?:turn|switch|dim|start|stop|open|close|pause|power)\b(?: on| off| up| down)? (?:the|my|our) (?P<told>{_THING})",
    re.IGNORECASE,
)
_SWITCHES = re.compile(r"^(?:device|appliance|lamp|light|machine|blinds?)\b", re.IGNORECASE)
_TREATS = re.compile(r"^(?:topic|subject|theme)\b", re.IGNORECASE)
_STRUCTURED = re.compile(r"\bSQL\b", re.IGNORECASE)
_REMINDS = re.compile(r"remind|remember|task\b(?! id)|to-?do|purpose", re.IGNORECASE)


def told_text(name: str, about: str, said: Said) -> list[Find]:
    """The text that a parameter asks for, where the question's own form tells where it begins and ends."""
    what = f"{name} {about}".replace("_", " ")
    if _STRUCTURED.search(what):
        return [Find(match[0].strip(), match.start(), match.end()) for match in _SQL.finditer(said.text)]
    if said.quoted:
        return []
    if _SENDS.search(what) or _GETS.search(what):
        said_so = next((match for form in _SAID if (match := form.search(said.text))), None)
        if said_so:
            return [_group(said_so, "told" if _SENDS.search(what) else "whom")]
    if "translat" in about and _SENDS.search(what) and (other := _IN_OTHER.search(said.text)):
        return [_group(other, "told")]
    if re.match(r"word\b|term\b", what) and (word := _MEANING.search(said.text)):
        return [_group(word, "a" if word["a"] else "b")]
    if labelled := re.search(rf"\b{re.escape(name)}:\s+(?P<told>[^\n]+?)[.]?$", said.text, re.IGNORECASE):
        return [_group(labelled, "told")]
    if _SWITCHES.search(what) and (device := _SWITCHED.search(said.text)):
        return [_group(device, "told")]
    if _TREATS.search(what) and (about_it := _TOPIC.search(said.text)):
        return [_group(about_it, "told")]
    if _SEEKS.search(what) and (sought := _SOUGHT.search(said.text)):
        return [_group(sought, sought.lastgroup or "a")]
    if _REMINDS.search(what):
        return _ended(_TASK.search(said.text), said)
    if _GROUNDS.search(what):
        return _ended(_BECAUSE.search(said.text), said)
    if _TIMED.search(what):
        return _ended(_TIMER.search(said.text), said)
    return []


def _group(match: re.Match[str], name: str) -> Find:
    start = match.start(name) + (len(match[name]) - len(_POSSESSED.sub("", match[name])) if name == "whom" else 0)
    return Find(match.string[start : match.end(name)], start, match.end(name))


def _ended(match: re.Match[str] | None, said: Said) -> list[Find]:
    """Without the day and the time behind it."""
    if match is None:
        return []
    start, end = match.span("told")
    moments = [one.start for one in [*said.written_dates, *said.written_times] if start < one.start < end]
    text = said.text[start : min([end, *moments])]
    text = re.sub(r"(?:,|\s|\b(?:on|at|by|before|from|next|this|every|in|around|please|for)\b)+$", "", text)
    return [Find(text, start, start + len(text))] if text else []
