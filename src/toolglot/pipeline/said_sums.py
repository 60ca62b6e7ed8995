"""Sums that a text writes out, in signs or in words: 17 * 23, 3 plus 4, (2 + 3) times 4, 15 % of 200, the square root of 2."""

from __future__ import annotations

import re

from toolglot.pipeline.said import Find, Said
from toolglot.pipeline.slot_kinds import Slot

# what stands between two numbers, and the sign for it; a minus or a slash without spaces may be a date or a range
_SIGNS = {
    r" ?\+ ?| plus | added to ": "+",
    r" [-−] | minus ": "-",
    r" ?\*\* ?| (?:raised )?to the power (?:of )?": "**",
    r" ?\^ ?": "^",
    r" ?[*×] ?| x | times | multiplied by ": "*",
    r" / | ?÷ ?| divided by ": "/",
    r" ?% of | percent of ": "/ 100 *",
}
_BETWEEN = "|".join(_SIGNS)
_NUMBER = r"\(?(?<![\w.])\d[\d,]{0,20}(?:\.\d{1,20})?\)?"
_SUM = re.compile(rf"{_NUMBER}(?:(?:{_BETWEEN}){_NUMBER}){{1,20}}(?!\w)", re.IGNORECASE)
_ROOT = re.compile(r"\b(?:square root of|sqrt(?: of)?)\s?\(?(?P<number>\d[\d.]{0,20}\d|\d)\)?", re.IGNORECASE)
_READ = re.compile("|".join(f"({told})" for told in _SIGNS), re.IGNORECASE)
_SIGN = tuple(_SIGNS.values())
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ASKED = re.compile(r"\b(?:expression|expr|equation|calculation|arithmetic)\b", re.IGNORECASE)


def summed(this: Slot, said: Said) -> list[Find]:
    """In signs, for a parameter that takes an expression."""
    if not _ASKED.search(f"{this.name} {this.about}".replace("_", " ")):
        return []
    sums = [Find(_in_signs(match[0]), match.start(), match.end()) for match in _SUM.finditer(said.text)]
    roots = [Find(f"sqrt({match['number']})", match.start(), match.end()) for match in _ROOT.finditer(said.text)]
    return sums or roots


def _in_signs(told: str) -> str:
    return _GROUPED.sub("", _READ.sub(lambda match: f" {_SIGN[(match.lastindex or 1) - 1]} ", told))
