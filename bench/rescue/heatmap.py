"""A table of shares as SVG: one row for each dialect, one column for each kind, green where all is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

_LEFT, _TOP, _WIDE, _HIGH = 150, 150, 46, 18
_FONT = 'font-family="system-ui, sans-serif" font-size="11"'
Cell = tuple[int, int]  # right, of


def heatmap(rows: Sequence[str], columns: Sequence[str], cells: Mapping[tuple[str, str], Cell], title: str) -> str:
    width, height = _LEFT + len(columns) * _WIDE + 20, _TOP + len(rows) * _HIGH + 20
    drawn = [f'<text x="12" y="22" font-size="14" font-weight="bold">{escape(title)}</text>']
    for at, column in enumerate(columns):
        x, y = _LEFT + at * _WIDE + _WIDE // 2, _TOP - 8
        drawn.append(f'<text x="{x}" y="{y}" transform="rotate(-50 {x} {y})">{escape(column)}</text>')
    for down, row in enumerate(rows):
        y = _TOP + down * _HIGH
        drawn.append(f'<text x="{_LEFT - 8}" y="{y + 13}" text-anchor="end">{escape(row)}</text>')
        for at, column in enumerate(columns):
            if (row, column) in cells:
                drawn.append(_cell(_LEFT + at * _WIDE, y, cells[row, column], f"{row}, {column}"))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" {_FONT} fill="#202124">'
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *drawn, "</svg>", ""])


def _cell(x: int, y: int, cell: Cell, name: str) -> str:
    right, total = cell
    share = right / total
    box = f'<rect x="{x}" y="{y}" width="{_WIDE - 2}" height="{_HIGH - 2}" fill="{_colour(share)}"/>'
    label = f'<text x="{x + _WIDE // 2 - 1}" y="{y + 12}" text-anchor="middle" font-size="10">{share:.0%}</text>'
    return f"<g><title>{escape(name)}: {right} of {total}</title>{box}{label}</g>"


def _colour(share: float) -> str:
    """Green at 1, amber at 0.9, red at 0.6 and below."""
    if share >= 0.9:
        return _between((251, 188, 4), (129, 201, 149), (share - 0.9) / 0.1)
    return _between((238, 103, 92), (251, 188, 4), max(0.0, share - 0.6) / 0.3)


def _between(low: tuple[int, int, int], high: tuple[int, int, int], at: float) -> str:
    return "#" + "".join(f"{round(one + (other - one) * at):02x}" for one, other in zip(low, high, strict=True))
