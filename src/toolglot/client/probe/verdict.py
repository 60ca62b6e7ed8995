"""The verdict: how well each way did, which is to be taken, and how that is written down. Pure."""

from __future__ import annotations

from typing import Literal

import msgspec

from toolglot.catalog.bare_names import bare_name
from toolglot.client.probe.findings import findings
from toolglot.client.probe.seen import Finding, Heard, Seen
from toolglot.core.reply import Reply
from toolglot.errors import ArgumentsError
from toolglot.evaluation.score import Outcome, says, score
from toolglot.text.json_text import dumps

_WELL, _SOME = 0.8, 0.5  # shares of questions from which on a way works well, and works
_CHANCE = 1  # so many more right answers of a few are no proof
Mark = Literal["works well", "works", "fails", "refused"]


class WayResult(msgspec.Struct, frozen=True):
    """Counts. The three in the middle are of the questions where a call was due."""

    way: str
    asked: int
    right: int  # the right calls with the right arguments, or rightly none
    due: int
    valid: int
    right_tool: int
    right_arguments: int
    no_call_due: int
    false_calls: int
    tokens: int | None  # read and written
    seconds: float
    mark: Mark

    @property
    def works(self) -> bool:
        return self.mark in ("works well", "works")


class Verdict(msgspec.Struct, frozen=True):
    model: str
    server: str
    base_url: str
    works: bool
    recommended: str | None
    chosen: str | None  # what toolglot takes by itself
    ways: tuple[WayResult, ...]
    findings: tuple[Finding, ...]
    said: str  # the verdict in a sentence
    toml: str | None  # for ./toolglot.toml, where the recommendation is not what is taken anyway
    notes: tuple[str, ...] = ()
    source: str = ""


def outcome(one: Heard) -> Outcome:
    """How good an answer was, as it left."""
    scored = score(one.question, _calls(one.left), one.left.text)
    if one.question.no_call and one.question.loop is not None:
        return msgspec.structs.replace(scored, final=says(one.left.text, one.question.loop.final))
    return scored


def _calls(reply: Reply) -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for call in reply.calls:
        try:
            found.append((call.full_name, call.arguments))
        except ArgumentsError:
            found.append((call.full_name, None))
    return found


def right(scored: Outcome) -> bool:
    return scored.right and scored.final is not False


def result(way: str, heard: list[Heard]) -> WayResult:
    """Of the whole answers; those that were asked again to be compared with a stream count once."""
    asked = list({one.question.id: one for one in reversed(heard)}.values())[::-1]
    scored = [outcome(one) for one in asked if one.error is None]
    due = [one for one in scored if one.valid is not None]
    counted = [one.left.usage for one in asked if one.left.usage is not None]
    found = WayResult(
        way,
        asked=len(asked),
        right=sum(map(right, scored)),
        due=len(due),
        valid=sum(one.valid is True for one in due),
        right_tool=sum(one.right_tool is True for one in due),
        right_arguments=sum(one.right_arguments is True for one in due),
        no_call_due=len(scored) - len(due),
        false_calls=sum(one.false_call is True for one in scored),
        tokens=sum((usage.input or 0) + (usage.output or 0) for usage in counted) if counted else None,
        seconds=round(sum(one.seconds for one in asked), 2),
        mark="fails",
    )
    return msgspec.structs.replace(found, mark=_mark(found))


def _mark(found: WayResult) -> Mark:
    if not found.due:
        return "refused"
    if found.right_tool < _SOME * found.due or not found.right_arguments:
        return "fails"
    return "works well" if found.right >= _WELL * found.asked else "works"


def verdict(seen: Seen, chosen: str | None = None) -> Verdict:
    ways = tuple(result(way, seen.way(way)) for way in seen.ways)
    found = findings(seen)
    broken = {finding.way for finding in found if finding.code == "stream_differs"}
    best = _best(ways, chosen, broken)
    if best is not None and best.false_calls:
        found += (_false_call(best),)
    known = {way.way for way in ways}
    differs = best is not None and best.way != chosen and chosen in known  # what was not asked may be better still
    return Verdict(
        model=f"{seen.row.name}/{seen.model}",
        server=seen.kind,
        base_url=seen.row.base_url,
        works=best is not None,
        recommended=best.way if best else None,
        chosen=chosen,
        ways=ways,
        findings=found,
        said=_sentence(best, chosen, found, known),
        toml=f"[[model]]\nname = {dumps(bare_name(seen.model))}\nask = {dumps(best.way)}" if best and differs else None,
        notes=seen.profile.notes,
        source=seen.profile.source,
    )


def _best(ways: tuple[WayResult, ...], chosen: str | None, broken: set[str]) -> WayResult | None:
    """The most right answers; then a stream to be trusted, and the order of asking (native first).

    What is taken anyway stays, if it works and streams, unless another is better by more than chance would have it.
    """
    working = [way for way in ways if way.works]
    best = max(working, key=lambda way: (way.right, way.way not in broken, way.right_tool, -way.false_calls), default=None)
    usual = next((way for way in working if way.way == chosen and way.way not in broken), None)
    return usual if usual is not None and best is not None and best.right - usual.right <= _CHANCE else best


def _false_call(best: WayResult) -> Finding:
    return Finding(
        "false_call",
        f"it called in {best.false_calls} of {best.no_call_due} questions where no call was due",
        'offer tools only where a call is wanted, or say tool_choice "none" where none is',
        best.way,
        grave=False,
    )


def _sentence(best: WayResult | None, chosen: str | None, found: tuple[Finding, ...], known: set[str]) -> str:
    if best is None:
        codes = ", ".join(dict.fromkeys(finding.code for finding in found if finding.grave))
        return f"Nothing works: {codes}." if codes else "Nothing works: the model gave no right call in any way."
    well = "well " if best.mark == "works well" else ""
    took = "toolglot takes it by itself" if best.way == chosen else f"toolglot would ask {chosen} by itself"
    untried = "" if chosen in known else ", which was not tried here"
    return f"It works {well}asked {best.way}: {best.right} of {best.asked} right; {took}{untried}."
