"""A text cut into parts that each say enough for themselves: "5 miles in km and 3 feet in cm" are two."""

from __future__ import annotations

import re
from collections.abc import Callable

from toolglot.pipeline.said import Find, Said
from toolglot.pipeline.spans import Spans

Fills = Callable[[Said], bool]  # whether a part says enough
GoesOn = Callable[[list[Said], Said], bool]  # and whether it does so beside the parts before it

MOST_CALLS = 8
_LOOK_BACK = 60  # characters
_CUT = re.compile(
    r"(?:,\s+|;\s*|(?<!\s)\s++)(?:(?:and|but)(?:\s+(?:also|then|finally|lastly))?"
    r"|as well as|then|plus|or|followed by|versus|vs\.?|finally|lastly)\s+"
    r"|,\s+(?=\S)|;\s+|[.!?]\s+(?=\S)|\n+"
)
# where a text that goes step by step begins another: First, ... Then ... Lastly, ...
_STEP = re.compile(
    r"(?:[.!?;,]+\s+|\n+)(?:and\s+)?(?=(?:first|second|third|fourth|last|final|additional)(?:ly)?,"
    r"|(?:and )?(?:then|next|after (?:that|this)|also|additionally|lastly|finally)\b"
    r"|(?:(?:for|in|on) )?the (?:first|second|third|fourth|fifth)\b)",
    re.IGNORECASE,
)
_FIRST = re.compile(r"(?:(?:for|in|on) )?(?:the )?first(?:ly)?\b", re.IGNORECASE)  # what stands before it is of all steps
_BETWEEN = re.compile(r"\bbetween\s+[^,.;]{1,40}$", re.IGNORECASE)
_APPOSED = re.compile(  # Naples, Florida? but neither Oslo, Rome and Cairo nor Ana is here, Ben is there
    r"[A-Z][\w.-]*+(?: [A-Z][\w-]*+)*+(?!,? (?:and|or) [A-Z]|, [A-Z])"
    r"(?=$|[.,;?!]| (?:in|on|at|for|with|from|to|by|of|using|and)\b)"
)


def pieces_of(said: Said) -> list[tuple[int, int]]:
    """Where the pieces stand that a text is cut into where it goes on to another thing."""
    return _pieces(said, _cuts(said))


def _cuts(said: Said) -> list[re.Match[str]]:
    whole = Spans(said.quoted, said.written_dates, said.written_times, said.places)
    return [match for match in _CUT.finditer(said.text) if not _inside(match, whole, said)]


def _pieces(said: Said, cuts: list[re.Match[str]]) -> list[tuple[int, int]]:
    starts, ends = [0, *(cut.end() for cut in cuts)], [*(cut.start() for cut in cuts), len(said.text)]
    return [(start, end) for start, end in zip(starts, ends, strict=True) if said.text[start:end].strip()]


def parts(said: Said, fills: Fills, goes_on: GoesOn | None = None) -> list[Said]:
    """The text, cut where it goes on to another thing, so that each part fills on its own.

    Where two pieces do, what does not belongs to the one before. Else pieces are put together until they do.
    """
    return _from_heads(said, _cuts(said), fills, goes_on)


def _from_heads(
    said: Said,
    cuts: list[re.Match[str]],
    fills: Fills,
    goes_on: GoesOn | None = None,
) -> list[Said]:
    pieces = _pieces(said, cuts)
    heads = [
        (at, at)
        for at, (start, end) in enumerate(pieces)
        if not (at + 1 < len(pieces) and _FIRST.match(said.text, pieces[at + 1][0])) and _says_enough(said, start, end, fills)
    ]
    if len(heads) < 2:
        heads = _joined(said, pieces, fills)
    if said.is_spent:  # what is too much to be cut is one
        return []
    if goes_on is not None:
        heads = _going_on(said, pieces, heads, goes_on)
    if len(heads) < 2:
        return [said] if heads else []
    starts = [first for first, _ in heads]
    froms = [0, *starts[1:]]
    untils = [*(at - 1 for at in starts[1:]), len(pieces) - 1]
    return [said.part(pieces[first][0], pieces[last][1]) for first, last in zip(froms, untils, strict=True)]


def _says_enough(said: Said, start: int, end: int, fills: Fills) -> bool:
    return not said.is_spent and fills(said.part(start, end))


def _going_on(
    said: Said, pieces: list[tuple[int, int]], heads: list[tuple[int, int]], goes_on: GoesOn
) -> list[tuple[int, int]]:
    """The first, and those that go on from the ones before; no more than may be calls, and one."""
    kept: list[tuple[int, int]] = []
    held: list[Said] = []
    for first, last in heads:
        part = said.part(pieces[first][0], pieces[last][1])
        if len(kept) <= MOST_CALLS and (not held or goes_on(held, part)):
            kept.append((first, last))
            held.append(part)
    return kept


def steps(said: Said, fills: Fills) -> list[Said]:
    """The text, cut where it says that another step begins; what does not fill belongs to the step before."""
    return _from_heads(said, list(_STEP.finditer(said.text)), fills)


def _joined(said: Said, pieces: list[tuple[int, int]], fills: Fills) -> list[tuple[int, int]]:
    """The first and the last piece of each part that is put together of pieces."""
    found: list[tuple[int, int]] = []
    first = 0
    for at, (_, end) in enumerate(pieces):
        if _says_enough(said, pieces[first][0], end, fills):
            found.append((first, at))
            first = at + 1
    return found


def _inside(cut: re.Match[str], whole: Spans[Find], said: Said) -> bool:
    """Quotes, dates and times are not cut; nor "between 2 and 4", nor "Naples, Florida" where no list goes on."""
    if whole.meet(Find("", cut.start(), cut.end())):
        return True
    if "and" in cut[0]:
        return is_between(said, cut.start())
    before = said.text[max(0, cut.start() - 1) : cut.start()]
    return cut[0].strip() == "," and _APPOSED.match(said.text, cut.end()) is not None and before.isalpha()


def is_between(said: Said, end: int) -> bool:
    """Whether what ends here is the first of two: between 2 and 4."""
    return _BETWEEN.search(said.text[max(0, end - _LOOK_BACK) : end]) is not None
