"""A run as HTML, for notebooks: the conversation with calls and results, how it ended, and what was done to the calls."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

from toolglot.core.messages import Media, Part, Reasoning, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from toolglot.agent.run import Run

_LONGEST = 2000  # characters of one cell
_MOST = 200  # rows; the first are left out


def run_html(run: Run[Any]) -> str:
    rows = [row for message in run.history for row in _rows(message.role, message.parts)]
    left_out = [("", f"{len(rows) - _MOST} earlier rows")] if len(rows) > _MOST else []
    end = [(run.end, run.why)] if not run.ok else []
    decisions = [(decision.code, decision.message) for decision in run.decisions]
    cells = [*left_out, *rows[-_MOST:], *end, *decisions[:_MOST], *(("note", note) for note in run.notes[:_MOST])]
    return f"<table>{''.join(map(_row, cells))}</table>"


def _rows(role: str, parts: tuple[Part, ...]) -> Iterator[tuple[str, str]]:
    for part in parts:
        if isinstance(part, ToolCall):
            yield "call", f"{part.full_name}({part.arguments_json})"
        elif isinstance(part, ToolResult):
            yield ("error" if part.is_error else "result"), part.text
        elif isinstance(part, Text | Reasoning):
            yield ("reasoning" if isinstance(part, Reasoning) else role), part.text
        elif isinstance(part, Media):
            yield role, f"[{part.kind}]"


def _row(cell: tuple[str, str]) -> str:
    name, text = cell
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    style = "text-align:left;vertical-align:top"
    return f'<tr><th style="{style}">{escape(name)}</th><td style="{style};white-space:pre-wrap">{escape(cut)}</td></tr>'
