"""Reports an evaluation as text or as a JSON object."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from toolglot.evaluation.figures import Figures, Judged, Quantile, figures
from toolglot.evaluation.intervals import Rate
from toolglot.evaluation.saved_answers import Setting
from toolglot.evaluation.score import Outcome
from toolglot.io.json_codec import preview

TITLES = {
    "valid": "valid",
    "right_tool": "right tool",
    "right_arguments": "right arguments",
    "final": "final text of loops",
    "false_calls": "false calls",
    "right": "all right",
}
WRITTEN, LEFT = "AS THE MODEL WROTE IT", "AS EMITTED"
_TAG_MEASURES = ("right_tool", "right_arguments", "false_calls", "right")
_LONG = 100
# what the tool mode contributes to both columns
_MODE_EFFECT = {
    "native": "with native tools",
    "dialect": "with toolglot's prompt, which shows how to write a call",
    "constrained": "with constrained decoding by toolglot's schema, so calls are always valid",
}


def kinds(judged: Iterable[Judged]) -> list[str]:
    """The kinds of the questions: their first tags."""
    return list(dict.fromkeys(one.question.tags[0] for one in judged if one.question.tags))


# -- for people


def as_text(setting: Setting, judged: Sequence[Judged], *, all_tags: bool = False, wrong: bool = False) -> str:
    found = figures(judged)
    parts = [_head(setting, judged, found), _overall(found), _by_tag(judged, found, all_tags=all_tags), _spent(setting, found)]
    if found.unanswered:
        lines = [f"  {row.question}: {preview(row.error, _LONG)}" for row in found.unanswered]
        parts.append("\n".join([f"Without an answer, counted as wrong: {len(lines)}", *lines]))
    if wrong:
        lines = [line for one in judged if not one.left.right and one.kept.error is None for line in _wrong(one)]
        parts.append("\n".join(["Wrong as emitted:", *lines]) if lines else "Every answer is right as emitted.")
    return "\n\n".join(part for part in parts if part)


def _head(setting: Setting, judged: Sequence[Judged], found: Figures) -> str:
    chosen = "" if setting.ask == setting.tool_mode else f" ({setting.ask})"
    cut = f", {found.cut} cut short at the token limit" if found.cut else ""
    return f"{setting.model}, asked {setting.tool_mode}{chosen}, policy {setting.policy}: {len(judged)} questions{cut}"


def _overall(found: Figures) -> str:
    rows = [("", WRITTEN, LEFT, "BY TOOLGLOT", "OF")]
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
    rows = [("TAG", "OF", *(TITLES[name].upper() for name in _TAG_MEASURES), "ALL RIGHT AS WRITTEN")]
    for tag in tags:
        left, written = found.left.by_tag[tag], found.written.by_tag[tag]
        cells = (str(left[name]) for name in _TAG_MEASURES)
        rows.append((tag, str(left["right"].of), *cells, str(written["right"])))
    return table(rows)


def _spent(setting: Setting, found: Figures) -> str:
    lines = []
    if found.median is not None and found.p90 is not None:
        lines.append(f"seconds   median {_seconds(found.median)}, 90 % within {_seconds(found.p90)}")
    if found.tokens is not None:
        lines.append("tokens    {:.0f} in, {:.0f} out, on average".format(*found.tokens))
    done = ", ".join(f"{code} {count}" for code, count in found.codes.items())
    lines.append(f"decided   {done or 'nothing was recovered, repaired or rejected'}: the difference between the two columns")
    lines.append(f"asked     {_MODE_EFFECT[setting.tool_mode.partition(':')[0]]}")
    lines.append("Shares have Wilson's 95 % intervals.")
    return "\n".join(lines)


def _seconds(quantile: Quantile) -> str:
    return f"{quantile.value:.2g} [{quantile.low:.2g}, {quantile.high:.2g}]"


def _wrong(one: Judged) -> list[str]:
    expected = ", ".join(f"{name}({preview(arguments, _LONG)})" for name, arguments in one.question.gold) or "no call"
    calls = ", ".join(f"{call.full_name}({_line(call.arguments_json)})" for call in one.kept.calls)
    lines = [
        f"  {one.question.id}: {what_is_wrong(one.left)}",
        f"    expected: {expected}",
        f"    got:      {calls or 'no call'}",
    ]
    if one.kept.text.strip() and (not calls or one.question.loop is not None):
        lines.append(f"    text:     {_line(one.kept.text)}")
    rejected = (decision for decision in one.kept.decisions if decision.code.startswith("rejected_"))
    return lines + [f"    rejected: {decision.code}: {_line(decision.message)}" for decision in rejected]


def _line(text: str) -> str:
    return preview(" ".join(text.split()), _LONG)


def what_is_wrong(outcome: Outcome) -> str:
    if outcome.false_call:
        return "a call although none was expected"
    if outcome.right_tool is False:
        return "another tool or number of calls" if outcome.extra or outcome.valid else "no call"
    if outcome.right_arguments is False:
        return "other arguments"
    return "the final text does not contain the results"


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
        "cut_short": found.cut,
        "decisions": found.codes,
        "answers": [_answer(one) for one in judged],
    }


def _both(written: dict[str, Rate], left: dict[str, Rate]) -> dict[str, Any]:
    return {name: {"written": _rate(written[name]), "left": _rate(left[name])} for name in TITLES}


def _rate(rate: Rate) -> dict[str, Any]:
    low, high = rate.interval
    return {"hits": rate.hits, "of": rate.of, "share": rate.share, "low": low, "high": high}


def _quantile(quantile: Quantile | None) -> dict[str, float] | None:
    return None if quantile is None else msgspec.structs.asdict(quantile)


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
