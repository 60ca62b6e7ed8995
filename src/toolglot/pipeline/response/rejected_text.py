"""What a client reads where nothing else is left of a response: why the model's calls were rejected."""

from __future__ import annotations

from collections.abc import Iterable

from toolglot.core.reply import Decision


def explain_rejected(decisions: Iterable[Decision]) -> str:
    """Empty if no call was rejected."""
    reasons = dict.fromkeys(one.message.rstrip(".") for one in decisions if one.code.startswith("rejected_"))
    return f"(The model made a tool call that was rejected. {'; '.join(reasons)}.)" if reasons else ""
