"""The verdict: the results of each tool mode, the recommended mode, and the configuration for it. Pure."""

from __future__ import annotations

from typing import Literal

import msgspec

from toolglot.catalog.model_names import bare_name
from toolglot.catalog.profile import Profile
from toolglot.client.probe.findings import findings
from toolglot.client.probe.observations import Finding, Observation, Observations
from toolglot.core.reply import Reply
from toolglot.errors import ArgumentsError
from toolglot.evaluation.score import Outcome, mentions, score
from toolglot.io.json_codec import dumps

_WELL, _SOME = 0.8, 0.5  # shares of right replies from which a mode works well, and works
_CHANCE = 1  # a lead of so few right replies is not significant
Mark = Literal["works well", "works", "fails", "refused"]


class ToolModeResult(msgspec.Struct, frozen=True):
    """Counts. `valid`, `right_tool` and `right_arguments` are of the questions that need a call (`due`)."""

    tool_mode: str
    asked: int
    right: int  # the right calls with right arguments, or rightly no call
    due: int
    valid: int
    right_tool: int
    right_arguments: int
    no_call_due: int
    false_calls: int
    tokens: int | None  # input and output
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
    chosen: str | None  # what `ask = "auto"` uses
    tool_modes: tuple[ToolModeResult, ...]
    findings: tuple[Finding, ...]
    summary: str  # the verdict in a sentence
    toml: str | None  # for ./toolglot.toml, where the recommendation differs from `chosen`
    notes: tuple[str, ...] = ()
    source: str = ""


def identity(known: Profile) -> tuple[str, ...]:
    """Which evidence led to the profile, where the server was asked."""
    evidence = known.facts.get("family")
    return (f"identified as {known.family} by {evidence}",) if evidence else ()


def outcome(one: Observation) -> Outcome:
    """The score of a reply after validation."""
    scored = score(one.question, _calls(one.validated), one.validated.text)
    if one.question.no_call and one.question.loop is not None:
        return msgspec.structs.replace(scored, final=mentions(one.validated.text, one.question.loop.final))
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


def result(tool_mode: str, replies: list[Observation]) -> ToolModeResult:
    """From the whole replies; a question that was repeated to compare it with a stream counts once."""
    asked = list({one.question.id: one for one in reversed(replies)}.values())[::-1]
    scored = [outcome(one) for one in asked if one.error is None]
    due = [one for one in scored if one.valid is not None]
    counted = [one.validated.usage for one in asked if one.validated.usage is not None]
    found = ToolModeResult(
        tool_mode,
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


def _mark(found: ToolModeResult) -> Mark:
    if not found.due:
        return "refused"
    if found.right_tool < _SOME * found.due or not found.right_arguments:
        return "fails"
    return "works well" if found.right >= _WELL * found.asked else "works"


def verdict(seen: Observations, chosen: str | None = None) -> Verdict:
    tool_modes = tuple(result(tool_mode, seen.tool_mode(tool_mode)) for tool_mode in seen.tool_modes)
    found = findings(seen)
    broken = {finding.tool_mode for finding in found if finding.code == "stream_differs"}
    best = _best(tool_modes, chosen, broken)
    if best is not None and best.false_calls:
        found += (_false_call(best),)
    known = {tool_mode.tool_mode for tool_mode in tool_modes}
    differs = best is not None and best.tool_mode != chosen and chosen in known  # an untested mode may be better still
    return Verdict(
        model=f"{seen.row.name}/{seen.model}",
        server=seen.kind,
        base_url=seen.row.base_url,
        works=best is not None,
        recommended=best.tool_mode if best else None,
        chosen=chosen,
        tool_modes=tool_modes,
        findings=found,
        summary=_sentence(best, chosen, found, known),
        toml=f"[[model]]\nname = {dumps(bare_name(seen.model))}\nask = {dumps(best.tool_mode)}" if best and differs else None,
        notes=(*identity(seen.profile), *seen.profile.notes),
        source=seen.profile.source,
    )


def _best(tool_modes: tuple[ToolModeResult, ...], chosen: str | None, broken: set[str]) -> ToolModeResult | None:
    """The most right replies; then reliable streams, and the order of testing (native first).

    The mode that `auto` uses stays, if it works and streams, unless another is significantly better.
    """
    working = [tool_mode for tool_mode in tool_modes if tool_mode.works]
    best = max(
        working,
        key=lambda tool_mode: (
            tool_mode.right,
            tool_mode.tool_mode not in broken,
            tool_mode.right_tool,
            -tool_mode.false_calls,
        ),
        default=None,
    )
    usual = next(
        (tool_mode for tool_mode in working if tool_mode.tool_mode == chosen and tool_mode.tool_mode not in broken), None
    )
    return usual if usual is not None and best is not None and best.right - usual.right <= _CHANCE else best


def _false_call(best: ToolModeResult) -> Finding:
    return Finding(
        "false_call",
        f"it called in {best.false_calls} of {best.no_call_due} questions that need no call",
        'send tools only where a call is wanted, or set tool_choice to "none"',
        best.tool_mode,
        grave=False,
    )


def _sentence(best: ToolModeResult | None, chosen: str | None, found: tuple[Finding, ...], known: set[str]) -> str:
    if best is None:
        codes = ", ".join(dict.fromkeys(finding.code for finding in found if finding.grave))
        return f"Nothing works: {codes}." if codes else "Nothing works: the model made no right call in any tool mode."
    well = "well " if best.mark == "works well" else ""
    default = "toolglot uses it by default" if best.tool_mode == chosen else f"toolglot uses {chosen} by default"
    untried = "" if chosen in known else ", which was not tested"
    return f"It works {well}in mode {best.tool_mode}: {best.right} of {best.asked} right; {default}{untried}."
