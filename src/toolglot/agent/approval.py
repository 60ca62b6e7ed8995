"""The approval hook: a function of the user decides whether a call may run."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable

import msgspec

from toolglot.core.messages import ToolCall
from toolglot.core.tools import Tool
from toolglot.pipeline.response.call_validator import validate_call

Answer = bool | str | ToolCall | None
Approve = Callable[[ToolCall], Answer | Awaitable[Answer]]


class Denied(msgspec.Struct, frozen=True):
    why: str


async def check_approval(approve: Approve | None, call: ToolCall, tools: tuple[Tool, ...]) -> ToolCall | Denied:
    """The call to run, or the denial. The hook returns True to run, False or a reason to deny, or a ToolCall to run instead.

    `call.raw` is what the model wrote, `call.arguments` what will run, `call.fixes` what changed in between. A hook that
    returns None denies. A replacement is validated like any call.
    """
    if approve is None:
        return call
    answer = approve(call)
    if inspect.isawaitable(answer):
        answer = await answer
    if isinstance(answer, ToolCall):
        return _validate_replacement(answer, call, tools)
    if isinstance(answer, str):
        return Denied(f"The call was not allowed: {answer}")
    return call if answer is True else Denied("The call was not allowed.")


def _validate_replacement(other: ToolCall, call: ToolCall, tools: tuple[Tool, ...]) -> ToolCall | Denied:
    verdict = validate_call(msgspec.structs.replace(other, id=call.id, sealed=True), tools)
    if verdict.call is None:
        return Denied(f"The call was replaced by one that can't be run: {verdict.decisions[-1].message}")
    return verdict.call
