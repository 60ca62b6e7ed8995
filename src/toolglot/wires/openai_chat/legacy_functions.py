"""The older API: `functions` in the request, one `function_call` without an id in the reply."""

from __future__ import annotations

from collections.abc import Sequence

from toolglot.core.messages import ToolCall
from toolglot.core.request import Request

# Marks tools that came as functions, in their extra. Its value is empty, so that no wire writes or notes anything.
MARK = "openai-functions"


def uses_legacy_functions(request: Request | None) -> bool:
    """Whether the client expects `function_call` in the reply, and nothing else."""
    return request is not None and bool(request.tools) and all(MARK in tool.extra for tool in request.tools)


def first_call(calls: Sequence[ToolCall], notes: list[str]) -> dict[str, str]:
    """The first call, as `function_call` has it; the others are noted."""
    for more in calls[1:]:
        note_extra_call(more.full_name, notes)
    return {"name": calls[0].full_name, "arguments": calls[0].arguments_json}


def note_extra_call(name: str, notes: list[str]) -> None:
    notes.append(f"call of {name}: a request with functions allows one call; left out")
