"""The calls extracted from a model's text, and the decisions made on the way."""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.core.messages import ToolCall
from toolglot.core.reply import Decision


class Extraction(msgspec.Struct, frozen=True, omit_defaults=True):
    """What `extract` found: the calls, the text around them, and a decision about each."""

    calls: list[ToolCall] = []
    text: str = ""
    reasoning: str = ""
    decisions: list[Decision] = []
    dialect: str | None = None  # the detected dialect; None if there was none, or the calls were native


def call_fields(call: ToolCall) -> dict[str, Any]:
    """A call as the command line prints it. What the model wrote is there if it was repaired."""
    fields = {"id": call.id, "name": call.full_name, "arguments": call.arguments, "source": call.source}
    return {**fields, "raw": call.raw, "fixes": list(call.fixes)} if call.fixes else fields
