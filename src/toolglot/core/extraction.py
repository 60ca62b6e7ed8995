"""The calls extracted from a model's text, and the decisions made on the way."""

from __future__ import annotations

import msgspec

from toolglot.core.messages import ToolCall
from toolglot.core.reply import Decision


class Extraction(msgspec.Struct, frozen=True, omit_defaults=True):
    calls: list[ToolCall] = []
    text: str = ""
    reasoning: str = ""
    decisions: list[Decision] = []
    dialect: str | None = None  # the detected dialect; None if there was none, or the calls were native
