"""An evaluation, told: as text for people, and as an object for machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from toolglot.evaluation.figures import Figures, Judged, Quantile, figures
from toolglot.evaluation.intervals import Rate
from toolglot.evaluation.kept import Setting
from toolglot.evaluation.score import Outcome
from toolglot.text.json_text import shown

TITLES = {
    "valid": "valid",
    "right_tool": "right tool",
    "right_arguments": "right arguments",
    "final": "final text of loops",
    "false_calls": "false calls",
    "right": "all right",
}
WRITTEN, LEFT = "AS THE MODEL WROTE IT", "AS IT LEFT"
_OF_A_TAG = ("right_tool", "right_arguments", "false_calls", "right")
_LONG = 100
# what a way of asking adds to a model, which is the layer's merit in both columns
_ASKED = {
    "native": "with the server's own tools",
    "dialect": "by a prompt of the layer's that shows how to write a call",
    "constrained": "under a schema of the layer's: that calls are valid is not the model's merit",
}


def kinds(judged: Iterable[Judged]) -> list[str]:
    """The first tag of a question says what kind it is."""
    return list(dict.fromkeys(one.question.tags[0] for one in judged if one.question.tags))


# -- for people


def as_text(setting: Setting, judged: Sequence[Judged], *, all_tags: bool = False, wrong: bool = False) -> str:
    found = figures(judged)
    parts = [_head(setting, judged, found), _overall(found), _by_tag(judged, found, all_tags=all_tags), _spent(setting, found)]
    if found.unanswered:
        lines = [f"  {row.question}: {shown(row.error, _LONG)}" for row in found.unanswered]
        parts.append("\n".join([f"Without an answer, and so never right: {len(lines)}", *lines]))
    if wrong:
        lines = [line for one in judged if not one.left.right and one.kept.error is None for line in _wrong(one)]
        parts.append("\n".join(["Not right as it left:", *lines]) if lines else "Every answer is right as it left.")
    return "\n\n".join(part for part in parts if part)


def _head(setting: Setting, judged: Sequence[Judged], found: Figures) -> str:
    chosen = "" if setting.ask == setting.way else f" ({setting.ask})"
    cut = f", {found.cut} cut short at the limit of tokens" if found.cut else ""
    return f"{setting.model}, asked {setting.way}{chosen}, policy {setting.policy}: {len(judged)} questions{cut}"


def _overall(found: Figures) -> str:
    rows = [("", WRITTEN, LEFT, "BY THE LAYER", "OF")]
    for name, title in TITLES.items():
        written, left = found.written.overall[name], found.left.overall[name]
        if left.of:
            rows.append((title, str(written), str(left), _gain(written, left), str(left.of)))
    return table(rows)


def _gain(written: Rate, left: Rate) -> str:
    points = 100 * ((left.share or 0.0) - (written.share or 0.0))
    return f"{points:+.0f} points" if round(points) else "-"


def _by_tag(judged: Sequence[Judged], found: Figures, *, all_tags: bool) -> str:
    first = kinds(judged)
    tags = [*first, *(tag for tag in found.left.by_tag if tag not in first)] if all_tags else first
    if not tags:
        return ""
    rows = [("TAG", "OF", *(TITLES[name].upper() for name in _OF_A_TAG), "ALL RIGHT AS WRITTEN")]
    for tag in tags:
        left, written = found.left.by_tag[tag], found.written.by_tag[tag]
        cells = (str(left[name]) for name in _OF_A_TAG)
        rows.append((tag, str(left["right"].of), *cells, str(written["right"])))
    return table(rows)


def _spent(setting: Setting, found: Figures) -> str:
    lines = []
    if found.median is not None and found.p90 is not None:
        lines.append(f"seconds   median {_seconds(found.median)}, 90 % within {_seconds(found.p90)}")
    if found.tokens is not None:
        lines.append("tokens    {:.0f} in, {:.0f} out, on average".format(*found.tokens))
    done = ", ".join(f"{code} {count}" for code, count in found.codes.items())
    lines.append(f"decided   {done or 'nothing was rescued, repaired or refused'}: this lies between the two columns")
    lines.append(f"asked     {_ASKED[setting.way.partition(':')[0]]}")
    if found.gated:
        lines.append(
            f"gate      the layer, not the model, chose for {found.gated} of them whether to call, and which tools to offer"
        )
    lines.append("Shares have Wilson's 95 % intervals.")
    return "\n".join(lines)


def _seconds(held: Quantile) -> str:
    return f"{held.value:.2g} [{held.low:.2g}, {held.high:.2g}]"


def _wrong(one: Judged) -> list[str]:
    due = ", ".join(f"{name}({shown(arguments, _LONG)})" for name, arguments in one.question.gold) or "no call"
    made = ", ".join(f"{call.full_name}({_line(call.arguments_json)})" for call in one.kept.calls)
    lines = [f"  {one.question.id}: {what_is_wrong(one.left)}", f"    due:  {due}", f"    came: {made or 'no call'}"]
    if one.kept.text.strip() and (not made or one.question.loop is not None):
        lines.append(f"    said: {_line(one.kept.text)}")
    refused = (held for held in one.kept.decisions if held.code.startswith("rejected_"))
    return lines + [f"    refused: {held.code}: {_line(held.message)}" for held in refused]


def _line(text: str) -> str:
    return shown(" ".join(text.split()), _LONG)


def what_is_wrong(outcome: Outcome) -> str:
    if outcome.false_call:
        return "a call where none was due"
    if outcome.right_tool is False:
        return "another tool, or not as many calls as due" if outcome.extra or outcome.valid else "no call"
    if outcome.right_arguments is False:
        return "other arguments"
    return "the last text does not say what the results said"


def table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


# -- for machines


def as_object(setting: Setting, judged: Sequence[Judged]) -> dict[str, Any]:
    found = figures(judged)
    return {
        **{name: getattr(setting, name) for name in setting.__struct_fields__},
        "questions": len(judged),
        "unanswered": {row.question: row.error for row in found.unanswered},
        "overall": _both(found.written.overall, found.left.overall),
        "by_tag": {tag: _both(found.written.by_tag[tag], found.left.by_tag[tag]) for tag in found.left.by_tag},
        "seconds": {"median": _quantile(found.median), "p90": _quantile(found.p90)},
        "tokens": None if found.tokens is None else {"input": found.tokens[0], "output": found.tokens[1]},
        "gated": found.gated,
        "cut_short": found.cut,
        "decisions": found.codes,
        "answers": [_answer(one) for one in judged],
    }


def _both(written: dict[str, Rate], left: dict[str, Rate]) -> dict[str, Any]:
    return {name: {"written": _rate(written[name]), "left": _rate(left[name])} for name in TITLES}


def _rate(rate: Rate) -> dict[str, Any]:
    low, high = rate.interval
    return {"hits": rate.hits, "of": rate.of, "share": rate.share, "low": low, "high": high}


def _quantile(held: Quantile | None) -> dict[str, float] | None:
    return None if held is None else msgspec.structs.asdict(held)


def _answer(one: Judged) -> dict[str, Any]:
    return {
        "id": one.question.id,
        "tags": one.question.tags,
        "right": one.left.right,
        "written": msgspec.structs.asdict(one.written),
        "left": msgspec.structs.asdict(one.left),
        "calls": [{"name": call.full_name, "arguments": call.arguments_json} for call in one.kept.calls],
        "text": one.kept.text,
        "seconds": one.kept.seconds,
    }
