"""A bar chart as SVG text: enough for the benches, with nothing to install."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import log10

_COLOURS = ("#9aa0a6", "#1a73e8", "#e8710a", "#188038")
_LEFT, _WIDTH, _BAR, _GAP, _TOP = 260, 520, 14, 16, 64
_FONT = 'font-family="system-ui, sans-serif" font-size="12"'


def bar_chart(
    labels: Sequence[str], series: Mapping[str, Sequence[float | None]], title: str, unit: str, *, log: bool = False
) -> str:
    """One group of bars for each label, one bar in it for each series; None leaves a bar out. `log`: a logarithmic axis."""
    known = [value for values in series.values() for value in values if value]
    top = max(known, default=1.0)
    low = min(known, default=1.0) / 2 if log else 0.0
    group = len(series) * _BAR + _GAP
    height = _TOP + len(labels) * group + 12
    drawn = [f'<text x="12" y="22" font-weight="bold">{escape(title)}</text>', *_legend(list(series))]
    for row, label in enumerate(labels):
        y = _TOP + row * group
        drawn.append(f'<text x="{_LEFT - 8}" y="{y + group / 2 - 4:.0f}" text-anchor="end">{escape(label)}</text>')
        for at, (name, values) in enumerate(series.items()):
            value = values[row]
            if value is not None:
                width = _length(value, low, top, log=log)
                drawn.append(_bar(y + at * _BAR, width, _COLOURS[at % len(_COLOURS)], f"{_said(value)} {unit}", name))
    total = _LEFT + _WIDTH + 110
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="{height}" {_FONT} fill="#202124">'
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *drawn, "</svg>", ""])


def _length(value: float, low: float, top: float, *, log: bool) -> float:
    if value <= 0:
        return 0.0
    share = log10(value / low) / log10(top / low) if log else value / top
    return max(1.0, share * _WIDTH)


def _bar(y: float, width: float, colour: str, text: str, name: str) -> str:
    bar = f'<rect x="{_LEFT}" y="{y}" width="{width:.1f}" height="{_BAR - 2}" fill="{colour}"/>'
    label = f'<text x="{_LEFT + width + 6:.1f}" y="{y + _BAR - 4}" font-size="11">{escape(text)}</text>'
    return f"<g><title>{escape(name)}</title>{bar}{label}</g>"


def _legend(names: list[str]) -> list[str]:
    drawn = []
    for at, name in enumerate(names):
        x = _LEFT + at * 140
        drawn.append(f'<rect x="{x}" y="36" width="10" height="10" fill="{_COLOURS[at % len(_COLOURS)]}"/>')
        drawn.append(f'<text x="{x + 16}" y="46">{escape(name)}</text>')
    return drawn


def _said(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
