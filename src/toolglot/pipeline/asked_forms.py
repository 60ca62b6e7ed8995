"""Values that are written as nothing else is, and are asked for by the name of that form: a CIDR range, a chemical formula."""

from __future__ import annotations

import re

from toolglot.pipeline.said import Find, Said
from toolglot.pipeline.slot_kinds import Slot

# what a description may ask for by its name, and how that is written
_WRITTEN = tuple(
    (re.compile(named, re.IGNORECASE), re.compile(form))
    for named, form in {
        r"\bowner/(?:name|repo)|^repo(?:sitory)? $": r"(?<![\w/.:-])[\w.-]+/[\w.-]*\w(?![\w/])",
        r"\bCIDR\b": r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}/\d{1,2}\b",
        r"\bUUID\b": r"\b[\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12}\b",
        r"\bMAC address\b": r"\b[\da-fA-F]{2}(?:[:-][\da-fA-F]{2}){5}\b",
        r"\bhex(?:adecimal)? colou?r|\bcolou?r.*\bhex\b": r"#[\da-fA-F]{6}\b|#[\da-fA-F]{3}\b",
        r"\bFEN\b|Forsyth": r"(?<!\S)[\dpnbrqkPNBRQK]+(?:/[\dpnbrqkPNBRQK]+){7}"
        r"(?: [wb] (?:[KQkq]{1,4}|-) (?:[a-h][36]|-)(?: \d+ \d+)?)?",
        r"\b(?:DNA|RNA|nucleotide)\b": r"\b[ACGTUN]{5,}\b",
        r"\bchemical formula\b|\bformula of (?:the|a) compound": r"\b(?:[A-Z][a-z]?\d*|\((?:[A-Z][a-z]?\d*)+\)\d*){2,}+(?!\w)",
        r"\bcron\b": r"(?<!\S)[\d*/,-]+(?: [\d*/,-]+){4}(?!\S)",
    }.items()
)
_GLOB = re.compile(r"\bglob\b|\bwildcard", re.IGNORECASE)
_GLOBBED = re.compile(r"(?<!\S)(?P<glob>[\w./-]*\*[\w.*/-]*\w)|(?<!\S)(?P<ending>\.[a-z]\w{0,7})(?= files?\b)")
_MACHINE = re.compile(r"(?<![\w./@#-])[a-z]{2,}(?:-[a-z]+)*-?\d{1,3}(?![\w/@-]|\.\w)")
_AXES = ((frozenset({"latitude", "lat"}), "ns"), (frozenset({"longitude", "lon", "lng", "long"}), "ew"))
_SIDE = re.compile(r"\s?°?\s?(?:degrees? )?(?P<side>(?:north|south|east|west)\b|[NSEW]\b)")


def _asked(this: Slot) -> str:
    return f"{this.name} {this.about}".replace("_", " ")


def formed(this: Slot, said: Said) -> list[Find]:
    """What is written in the form that the description names."""
    asked = _asked(this)
    form = next((form for named, form in _WRITTEN if named.search(asked)), None)
    found = form.finditer(said.text) if form is not None else ()
    return [Find(match[0], match.start(), match.end()) for match in found]


def globbed(this: Slot, said: Said) -> list[Find]:
    """All .proto files are *.proto."""
    if not _GLOB.search(_asked(this)):
        return []
    return [Find(match["glob"] or f"*{match['ending']}", match.start(), match.end()) for match in _GLOBBED.finditer(said.text)]


def hosted(this: Slot, said: Said) -> list[Find]:
    """Machines are named with a number: web-03, print01."""
    if said.hosts or said.urls:
        return []
    return [Find(match[0], match.start(), match.end()) for match in _MACHINE.finditer(said.text)]


def compass(this: Slot, said: Said) -> list[Find]:
    """46.85° N, 121.76° W: degrees south and west are below zero."""
    sides = next((sides for words, sides in _AXES if this.own & words), "")
    if not sides:
        return []
    found = []
    for one in said.numbers:
        match = _SIDE.match(said.text, one.end)
        side = match["side"][0].lower() if match else ""
        if match and side in sides:
            size = abs(one.value) if not isinstance(one.value, str) else 0
            found.append(Find(-size if side in "sw" else size, one.start, match.end()))
    return found
