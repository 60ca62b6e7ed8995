"""The form before tools: `functions` come in, one `function_call` without an id goes out."""

from __future__ import annotations

from collections.abc import Sequence

from toolglot.core.messages import ToolCall
from toolglot.core.request import Request

# On tools that came as functions. There is nothing under it: no wire has anything to write or to leave out.
MARK = "openai-functions"


def is_of_old(request: Request | None) -> bool:
    """Whether whoever sent this looks for `function_call` in the answer, and for nothing else."""
    return request is not None and bool(request.tools) and all(MARK in tool.extra for tool in request.tools)


def only_call(calls: Sequence[ToolCall], notes: list[str]) -> dict[str, str]:
    """The one that there is a place for, as it is written there."""
    for more in calls[1:]:
        no_place(more.full_name, notes)
    return {"name": calls[0].full_name, "arguments": calls[0].arguments_json}


def no_place(name: str, notes: list[str]) -> None:
    notes.append(f"call of {name}: a request with functions takes one call, and has one; left out")
