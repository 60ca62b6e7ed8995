"""Reports speed figures as text or as a JSON object."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from toolglot.speed.exchanges import Exchanges
from toolglot.speed.figures import Figure, Figures
from toolglot.speed.parts import PARTS

Bold = Callable[[str], str]

# column head -> cell; columns without any value are left out
_COLUMNS: dict[str, Callable[[Figure], str]] = {
    "OF A": lambda one: one.unit,
    "US": lambda one: f"{one.us:.1f}",
    "FLOOR US": lambda one: "" if one.floor_us is None else f"{one.floor_us:.1f}",
    "RATIO": lambda one: "" if one.ratio is None else f"{one.ratio:.2f}",
    "MB/S": lambda one: "" if one.mb_s is None else f"{one.mb_s:.1f}",
}
_MODEL_COLUMNS = {
    "FIRST EVENT MS": ("first_event_ms", ".1f"),
    "FIRST DELTA MS": ("first_delta_ms", ".1f"),
    "END MS": ("end_ms", ".1f"),
    "EVENTS": ("events", ".0f"),
    "EVENTS/S": ("events_s", ".0f"),
    "OWN CPU MS": ("own_cpu_ms", ".2f"),
    "OWN SHARE": ("own_share", ".1%"),
}


@dataclass(frozen=True)
class Setting:
    version: str  # of toolglot
    rounds: int
    model: str | None


# -- text


def as_text(setting: Setting, found: Figures, asked: Sequence[Exchanges], bold: Bold) -> str:
    parts = [_head(setting, found)] if found.parts else []
    parts += [_part(name, figures, bold) for name, figures in found.parts.items()]
    if asked:
        parts.append(_asked(setting, asked, bold))
    return "\n\n".join(parts)


def _head(setting: Setting, found: Figures) -> str:
    python = f"{platform.python_implementation()} {platform.python_version()}"
    how = f"CPU time, the best of {_count(setting.rounds, 'round')}; one calibration loop takes {found.calibration_us:.0f} us"
    return f"toolglot {setting.version}, {python}, {platform.machine()}: {how}"


def _part(name: str, figures: Sequence[Figure], bold: Bold) -> str:
    columns = {head: [cell(one) for one in figures] for head, cell in _COLUMNS.items()}
    columns = {head: cells for head, cells in columns.items() if any(cells)}
    rows = [(one.name, *cells) for one, cells in zip(figures, zip(*columns.values(), strict=True), strict=True)]
    part = PARTS[name]
    return _titled(part.title, part.about, table([("", *columns), *rows], left=2), bold)


def _asked(setting: Setting, asked: Sequence[Exchanges], bold: Bold) -> str:
    rows = [("", *_MODEL_COLUMNS)]
    for one in asked:
        figures = one.figures
        rows.append(
            (one.name, *("-" if figures[key] is None else format(figures[key], form) for key, form in _MODEL_COLUMNS.values()))
        )
    about = f"the median of {_count(len(asked[0].exchanges), 'request')} each, after one warm-up request"
    return _titled(f"Asking {setting.model}", about, table(rows), bold)


def _titled(title: str, about: str, rows: str, bold: Bold) -> str:
    return f"{bold(title)}: {about}\n{rows}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def table(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Aligns the first `left` columns to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if at < left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


# -- JSON


def as_object(setting: Setting, found: Figures, asked: Sequence[Exchanges]) -> dict[str, Any]:
    report: dict[str, Any] = {
        "toolglot": setting.version,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "machine": platform.machine(),
        "rounds": setting.rounds,
    }
    if found.parts:
        report["calibration_us"] = found.calibration_us
    report |= {part: [_object(one) for one in figures] for part, figures in found.parts.items()}
    if asked:
        report["model"] = {"name": setting.model, "questions": [_question(one) for one in asked]}
    return report


def _object(one: Figure) -> dict[str, Any]:
    every = {"name": one.name, "unit": one.unit, "us": one.us, "floor_us": one.floor_us, "ratio": one.ratio, "mb_s": one.mb_s}
    return {key: value for key, value in every.items() if value is not None}


def _question(one: Exchanges) -> dict[str, Any]:
    return {"name": one.name, **one.figures, "requests": [vars(exchange) for exchange in one.exchanges]}
