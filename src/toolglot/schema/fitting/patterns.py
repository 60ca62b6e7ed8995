"""Which regular expressions a target can take."""

from __future__ import annotations

import re
from typing import Any

_BEYOND = re.compile(r"\(\?(?!:)|\\[1-9bBkpPAZzG]")  # looking around, names, flags, what was matched before, word edges
_SET = r"\[(?:[A-Za-z0-9_ ,;:!#%&@~'=<>/.*+?(){}|$](?:-[A-Za-z0-9])?|\\[\]\[])++-?\]"
_ATOM = rf"(?:[A-Za-z0-9_ ,;:!#%&@~'=<>/-]|\\[.^$*+?()\[\]{{}}|]|{_SET})"
_TIMES = r"(?:[*+?]|\{\d{1,2}(?:,\d{1,2})?\})?+"
_RUN = rf"(?:{_ATOM}{_TIMES})++"
_GROUP = rf"\((?:\?:)?{_RUN}(?:\|{_RUN})*+\){_TIMES}"
_WHOLE = re.compile(rf"\^(?:{_RUN}|{_GROUP})++\$\Z")


def accepted(pattern: Any, rule: str) -> bool:
    """`plain`: nothing that needs backtracking. `whole`: from ^ to $, made of characters, sets, groups and counts.

    llama.cpp turns a pattern into a grammar by itself: `.`, negated sets and `\\d` come out wrong or not at all there.
    """
    if not isinstance(pattern, str):
        return False
    if rule == "any":
        return True
    if rule == "plain":
        return _BEYOND.search(pattern) is None
    return len(pattern) <= 200 and _WHOLE.match(pattern) is not None
