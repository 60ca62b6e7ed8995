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
_STRUCTURED = re.compile(r"\bSQL\b", re.IGNORECASE)
_REMINDS = re.compile(r"remind|remember|task\b(?! id)|to-?do|purpose", re.IGNORECASE)


def told_text(name: str, about: str, said: Said) -> list[Find]:
    """The text that a parameter asks for, where the question's own form tells where it begins and ends."""
    what = f"{name} {about}".replace("_", " ")
    if _STRUCTURED.search(what):
        return [Find(match[0].strip(), match.start(), match.end()) for match in _SQL.finditer(said.text)]
    if said.quoted:
        return []
    if _REMINDS.search(what):
        return _ended(_TASK.search(said.text), said)
    if _GROUNDS.search(what):
        return _ended(_BECAUSE.search(said.text), said)
    if _TIMED.search(what):
        return _ended(_TIMER.search(said.text), said)
    return []


def _ended(match: re.Match[str] | None, said: Said) -> list[Find]:
    """Without the day and the time behind it."""
    if match is None:
        return []
    start, end = match.span("told")
    moments = [one.start for one in [*said.written_dates, *said.written_times] if start < one.start < end]
    text = said.text[start : min([end, *moments])]
    text = re.sub(r"(?:,|\s|\b(?:on|at|by|before|from|next|this|every|in|around|please|for)\b)+$", "", text)
    return [Find(text, start, start + len(text))] if text else []
