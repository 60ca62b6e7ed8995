"""A held call that was refused goes back to the model with the reason, before the client sees anything of it."""

from __future__ import annotations

import msgspec

from toolglot.client.exchange import new_call_id, whole
from toolglot.core.events import Event, Finish
from toolglot.core.fold import fold, unfold_part
from toolglot.core.messages import Message, Part, Text, ToolCall, ToolResult
from toolglot.core.reply import Decision, Reply, Stop, Usage, add_usage
from toolglot.core.request import Request
from toolglot.errors import CallerError, UpstreamError
from toolglot.gateway.attempts import Asking, answers_for, prepared
from toolglot.gateway.routing import Target
from toolglot.pipeline.guard_calls import canonical
from toolglot.pipeline.refusals import UNSHOWN, answer, as_said, sentence

_ACCEPTED = "Accepted. It has not been run yet; do not make this call again."


class Mended(msgspec.Struct, frozen=True):
    calls: tuple[ToolCall, ...] = ()
    left: tuple[Decision, ...] = ()  # the refusals that stand
    decisions: tuple[Decision, ...] = ()  # what was decided on the way
    usage: Usage | None = None
    notes: tuple[str, ...] = ()
    asked: int = 0


def refusals(said: Finish | Reply) -> tuple[Decision, ...]:
    return tuple(one for one in said.decisions if one.code.startswith("rejected_"))


def worth_mending(finish: Finish, request: Request) -> bool:
    """Where calls are forbidden, or the tokens ran out, the same would come again."""
    forbidden = not request.tools or (request.choice is not None and request.choice.mode == "none")
    return not forbidden and finish.stop.reason != "length"


async def mend(
    asking: Asking, request: Request, target: Target, said: Reply, *, refused: tuple[Decision, ...], times: int
) -> Mended:
    """Asked up to `times` times. Of what comes only the missing calls are taken; a fault ends it, and the refusals stand."""
    made, taken = list(said.calls), list[ToolCall]()
    decisions: list[Decision] = []
    usage: Usage | None = None
    asked = 0
    while refused and asked < times:
        request = _asked_again(request, said, refused)
        try:
            this = prepared(asking, request, target, stream=False)
            asked += 1
            said = fold(await whole(this, answers_for(this.plan, target)))
        except (UpstreamError, CallerError) as error:
            note = f"mending failed: {getattr(error, 'code', None) or 'the request could not be made'}"
            return Mended(tuple(taken), refused, tuple(decisions), usage, (note,), asked)
        new = _missing(said, made, len(refused))
        made, taken = made + new, taken + new
        usage = add_usage(usage, said.usage)
        decisions += said.decisions
        decisions += [Decision("mended_call", f"{call.full_name}: asked again, and this came.", call) for call in new]
        missing = len(refused) - len(new)
        again = refusals(said)
        if missing and not again:  # it gave up: the reasons it was told are those that stand
            return Mended(tuple(taken), refused[-missing:], tuple(decisions), usage, (), asked)
        refused = again[:missing]
    return Mended(tuple(taken), refused, tuple(decisions), usage, (), asked)


def _missing(said: Reply, made: list[ToolCall], most: int) -> list[ToolCall]:
    """Calls that were not made before, as many as are missing, each with an id of its own."""
    known, ids = {canonical(call) for call in made}, {call.id for call in made}
    new: list[ToolCall] = []
    for call in said.calls:
        if canonical(call) in known or len(new) == most:
            continue
        new.append(msgspec.structs.replace(call, id=new_call_id()) if call.id in ids else call)
        known.add(canonical(call))
        ids.add(call.id)
    return new


def _asked_again(request: Request, said: Reply, refused: tuple[Decision, ...]) -> Request:
    """The conversation, with what the model said and what is wrong with it."""
    is_shown = all(one.code not in UNSHOWN for one in refused)
    parts: list[Part] = [part for part in said.parts if is_shown and isinstance(part, Text) and part.text.strip()]
    results: list[Part] = []
    for call in said.calls:
        parts.append(call)
        results.append(ToolResult(call.id, call.full_name, (Text(_ACCEPTED),)))
    loose: list[str] = []
    for number, one in enumerate(refused):
        if one.call is None or not one.call.name.strip():
            loose.append(sentence(one))
            if one.call is not None and one.call.written and one.call.written not in said.text:
                parts.append(Text(one.call.written))
            continue
        back = as_said(one.call if one.call.id else msgspec.structs.replace(one.call, id=f"refused_{number}"))
        parts.append(back)
        results.append(answer(one, back))
    turn = [Message("assistant", tuple(parts))] if parts else []
    if results:
        turn.append(Message("tool", tuple(results)))
    if loose:
        turn.append(Message("user", (Text("\n".join(loose)),)))
    return msgspec.structs.replace(request, messages=(*request.messages, *turn))


# -- what the client is told


def ending(finish: Finish, mended: Mended, index: int, *, alone: bool) -> list[Event]:
    """The calls that were put right, then the end. `alone`: nothing was said and no call left before."""
    events: list[Event] = []
    stop = finish.stop
    if mended.calls:
        for call in mended.calls:
            events += unfold_part(index, call)
            index += 1
        stop = Stop("calls", stop.raw)
    elif alone and mended.left:
        events += unfold_part(index, Text(_named(mended.left)))
        stop = Stop("stop", stop.raw) if stop.reason == "error" else stop
    usage, notes = add_usage(finish.usage, mended.usage), (*finish.notes, *mended.notes)
    decisions = (*finish.decisions, *mended.decisions)
    return [*events, msgspec.structs.replace(finish, stop=stop, usage=usage, notes=notes, decisions=decisions)]


def _named(refused: tuple[Decision, ...]) -> str:
    told = "; ".join(dict.fromkeys(one.message.rstrip(".") for one in refused))
    return f"(The model made a tool call that was refused. {told}.)"
