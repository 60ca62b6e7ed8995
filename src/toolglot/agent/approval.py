"""Whether a call may run: a hook of the user's decides, seeing what the model wrote and what was made of it."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable

import msgspec

from toolglot.core.messages import ToolCall
from toolglot.core.tools import Tool
from toolglot.pipeline.guard_calls import judge

Answer = bool | str | ToolCall | None
Approve = Callable[[ToolCall], Answer | Awaitable[Answer]]


class Denied(msgspec.Struct, frozen=True):
    why: str


async def allowed(approve: Approve | None, call: ToolCall, tools: tuple[Tool, ...]) -> ToolCall | Denied:
    """The call to run, or why none is. True runs it; False denies it, a text does so with a reason; a ToolCall runs instead.

    `call.raw` is what the model wrote, `call.arguments` what will run, `call.fixes` what lies between. A hook that gives
    nothing denies. What it puts in place of a call is checked like any call.
    """
    if approve is None:
        return call
    said = approve(call)
    if inspect.isawaitable(said):
        said = await said
    if isinstance(said, ToolCall):
        return _instead(said, call, tools)
    if isinstance(said, str):
        return Denied(f"The call was not allowed: {said}")
    return call if said is True else Denied("The call was not allowed.")


def _instead(other: ToolCall, call: ToolCall, tools: tuple[Tool, ...]) -> ToolCall | Denied:
    verdict = judge(msgspec.structs.replace(other, id=call.id, sealed=True), tools)
    if verdict.call is None:
        return Denied(f"The call was changed into one that can't be run: {verdict.decisions[-1].message}")
    return verdict.call
