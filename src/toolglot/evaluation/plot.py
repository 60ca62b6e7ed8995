"""The figures as an SVG plot, with a transparent background and styles for light and dark mode."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from toolglot.evaluation.figures import Judged, figures
from toolglot.evaluation.intervals import Rate
from toolglot.evaluation.report import TITLES, kinds
from toolglot.evaluation.saved_answers import Setting

_LEFT, _WIDTH, _RIGHT, _ROW, _TOP = 190, 460, 150, 34, 92
_OFFSET = 6  # the two marks of a row are above and below its middle
_STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #3c4043 }
.title { font-size: 16px; font-weight: 600; fill: #202124 }
.head { font-weight: 600 }
.small { font-size: 11px }
.grid { stroke: #9aa0a6; stroke-opacity: .35 }
.written { stroke: #80868b; fill: none }
.left { stroke: #1a73e8; fill: #1a73e8 }
.bad { stroke: #c5221f; fill: #c5221f }
line.written, line.left, line.bad { stroke-width: 2 }
circle { stroke-width: 2 }
@media (prefers-color-scheme: dark) {
text { fill: #bdc1c6 }
.title { fill: #e8eaed }
.written { stroke: #9aa0a6 }
.left { stroke: #8ab4f8; fill: #8ab4f8 }
.bad { stroke: #f28b82; fill: #f28b82 }
}
</style>"""


def as_svg(setting: Setting, judged: Sequence[Judged]) -> str:
    """Each measure, and "all right" by kind of question. Hollow: as written; filled: as emitted. With 95 % intervals."""
    found = figures(judged)
    rows: list[tuple[str, Rate | None, Rate | None, str]] = [("Overall", None, None, "")]
    for name, title in TITLES.items():
        if found.left.overall[name].of:
            colour = "bad" if name == "false_calls" else "left"
            rows.append((title, found.written.overall[name], found.left.overall[name], colour))
    if kinds(judged):
        rows.append(("All right, by kind", None, None, ""))
        rows += [
            (kind, found.written.by_tag[kind]["right"], found.left.by_tag[kind]["right"], "left") for kind in kinds(judged)
        ]
    width, height = _LEFT + _WIDTH + _RIGHT, _TOP + len(rows) * _ROW + 34
    subtitle = f"{len(judged)} questions, asked {setting.tool_mode}, policy {setting.policy}"
    if found.median is not None and found.p90 is not None:
        subtitle += f"; median {found.median.value:.2g} s, 90 % within {found.p90.value:.2g} s"
    elements = [_text(12, 26, setting.model, "title"), _text(12, 46, subtitle), *_legend(), *_grid(_TOP, height - 28)]
    for at, (title, written, left, colour) in enumerate(rows):
        elements += _row(_TOP + at * _ROW + _ROW / 2, title, written, left, colour)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    return "\n".join([head, f"<title>{escape(setting.model)}: {escape(subtitle)}</title>", _STYLE, *elements, "</svg>", ""])


def _row(y: float, title: str, written: Rate | None, left: Rate | None, colour: str) -> list[str]:
    if written is None or left is None:
        return [_text(12, y + 5, title, "head")]
    label = f"{_percent(written)} → {_percent(left)} of {left.of}"
    return [
        _text(_LEFT - 14, y + 5, title, anchor="end"),
        *_mark(y - _OFFSET, written, "written", f"{title}, as the model wrote it: {written}"),
        *_mark(y + _OFFSET, left, colour, f"{title}, as emitted: {left}"),
        _text(_LEFT + _WIDTH + 14, y + 5, label, "small"),
    ]


def _mark(y: float, rate: Rate, colour: str, title: str) -> list[str]:
    if rate.share is None:
        return []
    low, high = (_x(share) for share in rate.interval)
    line = f'<line class="{colour}" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>'
    dot = f'<circle class="{colour}" cx="{_x(rate.share):.1f}" cy="{y}" r="4"/>'
    return [f"<g><title>{escape(title)}</title>{line}{dot}</g>"]


def _legend() -> list[str]:
    elements = []
    for x, colour, label in ((_LEFT, "written", "as the model wrote it"), (_LEFT + 190, "left", "as toolglot emitted it")):
        elements.append(f'<circle class="{colour}" cx="{x + 6}" cy="68" r="4"/>')
        elements.append(_text(x + 18, 72, label, "small"))
    return elements


def _grid(top: int, bottom: int) -> list[str]:
    elements = []
    for quarter in range(5):
        x = _x(quarter / 4)
        elements.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}"/>')
        elements.append(_text(x, bottom + 18, f"{quarter * 25} %", "small", anchor="middle"))
    return elements


def _x(share: float) -> float:
    return _LEFT + share * _WIDTH


def _percent(rate: Rate) -> str:
    return "-" if rate.share is None else f"{rate.share:.0%}"


def _text(x: float, y: float, content: str, kind: str = "", anchor: str = "start") -> str:
    extra = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"{extra}>{escape(content)}</text>'
