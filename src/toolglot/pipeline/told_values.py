"""What a question tells of a tool's arguments beyond doubt: where the layer for still smaller models leaves no choice."""

from __future__ import annotations

from typing import Any

from toolglot.core.tools import Tool
from toolglot.pipeline.constrain import brought_to
from toolglot.pipeline.own_words import held_to
from toolglot.pipeline.said import Said

_MOST_TEXT = 4000  # characters of a question


def told_values(tool: Tool, question: str) -> dict[str, Any]:
    """By the names of the parameters."""
    held = held_to(brought_to(tool, None).schema or {}, Said(question[-_MOST_TEXT:])).schema
    choices = {name: own.get("enum", ()) for name, own in (held.get("properties") or {}).items()}
    return {name: values[0] for name, values in choices.items() if len(values) == 1}
