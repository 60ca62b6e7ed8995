"""Text for the terminal: without control sequences, and the colour of a decision."""

from __future__ import annotations

import re

from toolglot.io.json_codec import preview

# escape sequences and control characters: a model or a tool must not control the terminal
_CONTROLS = re.compile("\x1b\\[[0-9;?]*[ -/]*[@-~]|\x1b\\].*?(?:\x07|\x1b\\\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# by the first word of a reason code; `in` is that of `in_reasoning`
COLOURS = {"rejected": "red", "rescued": "green"} | dict.fromkeys(("quoted", "in", "missing", "unchecked"), "yellow")


def plain(text: str, limit: int | None = None) -> str:
    """Without control sequences; with a limit, also on one line."""
    text = _CONTROLS.sub("", text)
    return text if limit is None else preview(" ".join(text.split()), limit)


def colour(code: str) -> str:
    return COLOURS.get(code.partition("_")[0], "cyan")
