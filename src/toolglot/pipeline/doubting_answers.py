"""The way back from a small model: calls that nothing speaks for are held back as refused, with the reason."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open
from toolglot.core.messages import Message, ToolCall
from toolglot.core.reply import Decision, Stop
from toolglot.pipeline.answers import Answers, Calls
from toolglot.pipeline.doubt import Doubts
from toolglot.pipeline.guard_calls import Policy, refused
from toolglot.pipeline.plan import Plan


def answers_to(plan: Plan, policy: Policy, calls: Calls, make_id: Callable[[], str]) -> Answers:
    """Whoever lets calls pass, or is eager for them, doubts none."""
    if plan.conversation is None or calls == "pass" or policy == "eager":
        return Answers(plan, policy=policy, calls=calls, make_id=make_id)
    return DoubtingAnswers(plan, plan.conversation, policy=policy, calls=calls, make_id=make_id)


class DoubtingAnswers(Answers):
    def __init__(
        self, plan: Plan, said: tuple[Message, ...], *, policy: Policy, calls: Calls, make_id: Callable[[], str] | None = None
    ) -> None:
        super().__init__(plan, policy=policy, calls=calls, make_id=make_id)
        self._doubts = Doubts(said, plan.tools)
        self._held: dict[int, list[Open | Delta]] = {}  # calls that are not whole yet
        self._at: dict[int, int] = {}  # blocks by their index here: one that is held back leaves no gap
        self._left = self._taken = 0
        self._refused: list[Decision] = []

    def feed(self, event: Event) -> list[Event]:
        out: list[Event] = []
        for one in super().feed(event):
            self._pass_on(one, out)
        return out

    def _pass_on(self, event: Event, out: list[Event]) -> None:
        if isinstance(event, Open) and event.kind == "call":
            self._held[event.index] = [event]
        elif isinstance(event, (Open, Delta, Close)):
            held = self._held.get(event.index)
            if held is None:
                out.append(self._moved(event))
            elif isinstance(event, Close):
                self._whole(self._held.pop(event.index), event, out)
            elif isinstance(event, Delta):
                held.append(event)
        elif isinstance(event, (Finish, Fault)):
            out.append(self._ended_with(event))
        else:
            out.append(event)

    def _moved(self, event: Open | Delta | Close) -> Event:
        if isinstance(event, Open):
            self._at[event.index] = self._taken
            self._taken += 1
        return msgspec.structs.replace(event, index=self._at[event.index])

    def _whole(self, events: list[Open | Delta], end: Close, out: list[Event]) -> None:
        opened = events[0]
        if not isinstance(opened, Open):
            return
        arguments = "".join(event.text for event in events if isinstance(event, Delta))
        call = ToolCall(opened.call_id or "", opened.name or "", arguments, opened.namespace, opened.custom, end.sealed)
        doubt = self._doubts.of(msgspec.structs.replace(call, source=opened.source))
        if doubt is not None:
            self._refused.append(refused(call, *doubt))
            return
        self._left += 1
        out += [self._moved(event) for event in (*events, end)]

    def _ended_with(self, event: Finish | Fault) -> Event:
        if not self._refused:
            return event
        event = msgspec.structs.replace(event, decisions=(*event.decisions, *self._refused))
        if isinstance(event, Finish) and event.stop.reason == "calls" and not self._left:
            return msgspec.structs.replace(event, stop=Stop("stop", event.stop.raw))
        return event
