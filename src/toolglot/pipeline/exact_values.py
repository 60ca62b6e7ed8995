"""Values that are one parameter's and no other's, by what it asks for: a code, a part of a name, what to be reminded of."""

from __future__ import annotations

import re

from toolglot.pipeline.said import Find, Said
from toolglot.pipeline.said_choices import interval, times_a_year
from toolglot.pipeline.said_codes import codes_said
from toolglot.pipeline.said_texts import told_text
from toolglot.pipeline.slot_kinds import Slot

_REPEATED = re.compile(r"compound|times a year|times .*per year|interest is (?:added|paid)", re.IGNORECASE)
_ADDRESSED = frozenset({"to", "cc", "bcc", "recipient", "recipients", "attendee", "attendees", "invitees", "participants"})
_FULL_NAME = re.compile(r"\bnames?\b", re.IGNORECASE)
_PARTS = {
    "first": frozenset({"first", "given", "forename", "firstname"}),
    "last": frozenset({"last", "surname", "family", "lastname"}),
}
_LONG_NAME = 3  # words


def exact(this: Slot, said: Said) -> list[Find]:
    """The values that are this parameter's and no other's, by what it asks for."""
    about = str(this.schema.get("description") or "")
    if this.kind == "number" and "interval" in this.own:
        return interval(said)
    if this.kind == "number" and _REPEATED.search(f"{this.name} {about}"):
        return times_a_year(said)
    if this.own & _ADDRESSED and said.emails and not _FULL_NAME.search(about):
        return said.emails
    if this.kind in ("name", "words") and (part := next((part for part in _PARTS if this.own & _PARTS[part]), None)):
        return _part_of_names(part, said)
    if this.kind in ("name", "words", "free", "code"):
        return codes_said(this.name, about, said) or told_text(this.name, about, said)
    return []


def _part_of_names(part: str, said: Said) -> list[Find]:
    """Tomasz Zielinski is Tomasz first and Zielinski last."""
    people = [one for one in said.names if 1 < len(str(one.value).split()) <= _LONG_NAME and "," not in str(one.value)]
    if not people:
        return []
    name, (first, last) = people[0], str(people[0].value).split(" ", 1)
    return [Find(last, name.end - len(last), name.end) if part == "last" else Find(first, name.start, name.start + len(first))]
