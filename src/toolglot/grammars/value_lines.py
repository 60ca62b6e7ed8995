"""The line breaks between a value and its tags: only those that the dialect's own template writes are not part of the value."""

from __future__ import annotations

from typing import Literal

Lines = Literal["", "both", "pair"]  # none; each on its own; only if there is one after the opening tag


def trimmed(raw: str, lines: Lines, *, implied: bool = False) -> str:
    """The value between two tags. `implied`: its closing tag is missing, so the line break belongs to what follows."""
    lead = leading_break(raw, lines)
    inner = raw[len(lead) :]
    return inner.removesuffix(closing_break(inner, lead, lines, implied=implied))


def leading_break(raw: str, lines: Lines) -> str:
    return next((end for end in ("\n", "\r\n") if lines and raw.startswith(end)), "")


def closing_break(inner: str, lead: str, lines: Lines, *, implied: bool = False) -> str:
    """The line break to remove, if `inner` ends with it. `lead`: the one after the opening tag."""
    if implied:
        return "\r\n" if inner.endswith("\r\n") else "\n"
    if not lines or (lines == "pair" and not lead):
        return ""
    return lead if lead and inner.endswith(lead) else "\n"
