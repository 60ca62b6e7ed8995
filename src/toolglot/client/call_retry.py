"""Retry of rejected calls: the model gets the reasons and may correct itself before the client sees the rejected calls."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from functools import partial

import msgspec

from toolglot.client.exchange import new_call_id
from toolglot.client.worker import in_worker
from toolglot.core.events import Finish
from toolglot.core.messages import Message, Part, Text, ToolCall, ToolResult
from toolglot.core.reply import Decision, Reply, Usage, add_usage
from toolglot.core.request import Request
from toolglot.errors import CallerError, UpstreamError
from toolglot.pipeline.request.retry_feedback import MISSING, as_history, as_mark_request, as_message, as_result
from toolglot.pipeline.response.call_validator import MAX_CALLS, call_key
from toolglot.pipeline.response.provenance import QUOTED_INPUT

_ACCEPTED = "Accepted. It has not been run yet; do not make this call again."


class Retried(msgspec.Struct, frozen=True):
    """What the retries gave."""

    calls: tuple[ToolCall, ...]
    rejected: tuple[Decision, ...]  # rejections that remain
    decisions: tuple[Decision, ...]
    usage: Usage | None
    notes: tuple[str, ...]
    attempts: int


def rejections(decisions: tuple[Decision, ...]) -> tuple[Decision, ...]:
    return tuple(one for one in decisions if one.code.startswith("rejected_"))


def may_be_quotes(decisions: tuple[Decision, ...]) -> tuple[Decision, ...]:
    """Calls that stand in a tool result. They are in the text of the reply, and no mistake: only the model knows."""
    return tuple(one for one in decisions if one.code == QUOTED_INPUT)


def no_call(decisions: tuple[Decision, ...]) -> tuple[Decision, ...]:
    """A call was required, and the model answered in words."""
    return tuple(one for one in decisions if one.code == MISSING)


def may_retry(finish: Finish, request: Request) -> bool:
    """Not where calls are forbidden or the tokens ran out: the result would be the same."""
    forbidden = not request.tools or (request.choice is not None and request.choice.mode == "none")
    return not forbidden and finish.stop.reason != "length"


async def retry_calls(
    send: Callable[[Request, str], Awaitable[Reply]],
    request: Request,
    reply: Reply,
    rejected: tuple[Decision, ...],
    limit: int,
) -> Retried:
    """Send up to `limit` further requests. Only missing calls are accepted; an error ends the retries.

    `send` gets the mark that a call in text must carry; "" if no call stands in a tool result.
    """
    accepted = list(reply.calls)
    calls: list[ToolCall] = []
    decisions: list[Decision] = []
    usage: Usage | None = None
    notes: tuple[str, ...] = ()
    attempts = 0
    while rejected and attempts < limit:
        mark = secrets.token_hex(4) if may_be_quotes(rejected) else ""
        request = await in_worker(partial(_with_feedback, request, reply, rejected, mark))
        attempts += 1
        try:
            reply = await send(request, mark)
        except (UpstreamError, CallerError) as error:
            code = (error.code or error.status) if isinstance(error, UpstreamError) else None
            notes = (f"retry failed: {code or 'the request could not be made'}",)
            break
        most = MAX_CALLS if no_call(rejected) else len(rejected)
        new = _missing(reply, accepted + calls, most)
        calls += new
        usage = add_usage(usage, reply.usage)
        decisions += reply.decisions
        decisions += [Decision("retried_call", f"{call.full_name}: made in a retry.", call) for call in new]
        missing = max(0, len(rejected) - len(new))
        again = rejections(reply.decisions)[:MAX_CALLS]
        if missing and not again:  # the model gave up: the first reasons remain
            rejected = rejected[-missing:]
            break
        rejected = again[:missing]
    return Retried(tuple(calls), rejected, tuple(decisions), usage, notes, attempts)


def _missing(reply: Reply, accepted: list[ToolCall], limit: int) -> list[ToolCall]:
    """New calls, at most `limit`, each with a unique id."""
    known, ids = {call_key(call) for call in accepted}, {call.id for call in accepted}
    new: list[ToolCall] = []
    for call in reply.calls:
        if call_key(call) in known or len(new) == limit:
            continue
        new.append(msgspec.structs.replace(call, id=new_call_id()) if call.id in ids else call)
        known.add(call_key(call))
        ids.add(call.id)
    return new


def _with_feedback(request: Request, reply: Reply, rejected: tuple[Decision, ...], mark: str) -> Request:
    """The conversation with the model's reply, and the reason for each rejection as a tool result or a message."""
    parts: list[Part] = [part for part in reply.parts if isinstance(part, Text) and part.text.strip()]
    results: list[Part] = []
    for call in reply.calls:
        parts.append(call)
        results.append(ToolResult(call.id, call.full_name, (Text(_ACCEPTED),)))
    nameless: list[Decision] = []
    quotes = may_be_quotes(rejected)
    for number, one in enumerate(rejected):
        if one in quotes:
            continue
        if one.call is None or not one.call.name.strip():
            nameless.append(one)
            if one.call is not None and one.call.written and one.call.written not in reply.text:
                parts.append(Text(one.call.written))
            continue
        call = as_history(one.call if one.call.id else msgspec.structs.replace(one.call, id=f"rejected_{number}"))
        parts.append(call)
        results.append(as_result(one, call))
    turn = [Message("assistant", tuple(parts))] if parts else []
    if results:
        turn.append(Message("tool", tuple(results)))
    if nameless:
        turn.append(as_message(nameless))
    if quotes:
        turn.append(as_mark_request(list(quotes), mark))
    return msgspec.structs.replace(request, messages=(*request.messages, *turn))
