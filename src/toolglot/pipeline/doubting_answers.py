"""The way back from a small model: what the conversation sets right is, and calls that nothing speaks for are refused."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open
from toolglot.core.messages import Message, ToolCall
from toolglot.core.reply import Decision, Stop
from toolglot.pipeline.answers import Answers, Calls
from toolglot.pipeline.doubt import Doubts
from toolglot.pipeline.grounded_answers import GroundedAnswers
from toolglot.pipeline.guard_calls import Policy, canonical, refused, told_fixes
from toolglot.pipeline.plan import Plan


def answers_to(plan: Plan, policy: Policy, calls: Calls, make_id: Callable[[], str]) -> Answers:
    """Whoever lets calls pass, or is eager for them, doubts none."""
    if plan.grounds is not None and policy != "eager":
        return GroundedAnswers(plan, plan.grounds, policy=policy)
    if plan.conversation is None or calls == "pass" or policy == "eager":
        return Answers(plan, policy=policy, calls=calls, make_id=make_id)
    return DoubtingAnswers(plan, plan.conversation, policy=policy, calls=calls, make_id=make_id)


_Passed = tuple[Open, Close, ToolCall, ToolCall]  # the call as it was made, and as it was set right


class DoubtingAnswers(Answers):
    def __init__(
        self, plan: Plan, said: tuple[Message, ...], *, policy: Policy, calls: Calls, make_id: Callable[[], str] | None = None
    ) -> None:
        super().__init__(plan, policy=policy, calls=calls, make_id=make_id)
        self._doubts = Doubts(said, plan.tools)
        self._held: dict[int, list[Open | Delta]] = {}  # calls that are not whole yet
        self._whole: list[tuple[Open, Close, ToolCall]] = []  # those that are; the end tells if they are all
        self._at: dict[int, int] = {}  # blocks by their index here: one that is held back leaves no gap
        self._left = self._taken = 0
        self._decided: list[Decision] = []
        choice = plan.request.choice
        self._wants_words = plan.request.output is not None or (choice is not None and choice.mode == "none")
        self._several = plan.request.parallel is not False and plan.route.profile.supports_parallel
        self._words: list[str] = []

    def _take(self, event: Event, out: list[Event]) -> None:
        found: list[Event] = []
        super()._take(event, found)
        for one in found:
            self._pass_on(one, out)

    def _pass_on(self, event: Event, out: list[Event]) -> None:
        if isinstance(event, Open) and event.kind == "call":
            self._held[event.index] = [event]
        elif isinstance(event, (Open, Delta, Close)):
            held = self._held.get(event.index)
            if held is None:
                if isinstance(event, Delta):
                    self._words.append(event.text)
                out.append(self._moved(event))
            elif isinstance(event, Close):
                self._keep(self._held.pop(event.index), event)
            elif isinstance(event, Delta):
                held.append(event)
        elif isinstance(event, (Finish, Fault)):
            self._judge(out, ended=isinstance(event, Finish))
            out.append(self._ended_with(event))
        else:
            out.append(event)

    def _moved(self, event: Open | Delta | Close) -> Event:
        if isinstance(event, Open):
            self._at[event.index] = self._taken
            self._taken += 1
        return msgspec.structs.replace(event, index=self._at[event.index])

    def _keep(self, events: list[Open | Delta], end: Close) -> None:
        opened = events[0]
        if not isinstance(opened, Open):
            return
        arguments = "".join(event.text for event in events if isinstance(event, Delta))
        name, place = opened.name or "", opened.namespace
        call = ToolCall(
            opened.call_id or "", name, arguments, place, opened.custom, end.sealed, opened.source, end.written, end.fixes
        )
        self._whole.append((opened, end, call))

    def _judge(self, out: list[Event], *, ended: bool) -> None:
        """Each call for itself, and then those that pass together: one of several may be told to come with the others."""
        passed: list[_Passed] = []
        for opened, end, call in self._whole:
            right = None if self._policy == "strict" else self._doubts.set_right(call, alone=len(self._whole) == 1)
            doubt = self._doubts.of(right or call)
            if doubt is not None:
                self._decided.append(refused(right or call, *doubt))
            else:
                passed.append((opened, end, call, right or call))
        passed = self._once(passed)
        strays = self._doubts.strays([right for _, _, _, right in passed])
        self._decided += [refused(right, *strays[right.id]) for _, _, _, right in passed if right.id in strays]
        passed = [one for one in passed if one[3].id not in strays]
        kept = [right for _, _, _, right in passed]
        lacking = self._doubts.of_all(kept) if self._several and ended and not self._decided else None
        back = self._doubts.held_back(kept) if lacking is not None else []
        if lacking is not None and not back:
            self._decided += [refused(right, *lacking) for right in kept]
            return
        for opened, end, call, right in passed:
            self._left += 1
            self._decided += told_fixes(right, right.fixes[len(call.fixes) :])
            end = msgspec.structs.replace(end, written=right.written, fixes=right.fixes)
            out += [self._moved(event) for event in (opened, Delta(opened.index, right.arguments_json), end)]
        for at, call in enumerate(back, 1):
            id = self._make_id() if self._make_id is not None else f"{call.id}_{at}"
            opened = Open(-at, "call", call.name, id, namespace=call.namespace, source=call.source)
            out += [self._moved(event) for event in (opened, Delta(-at, call.arguments_json), Close(-at))]
            self._decided.append(Decision("rescued_earlier", f"{call.full_name}: it was told to come with others, which came"))
            self._left += 1

    def _once(self, passed: list[_Passed]) -> list[_Passed]:
        """Calls that only what was set right told apart are one."""
        kept: list[_Passed] = []
        made: set[tuple[str, str]] = set()
        for one in passed:
            _, _, call, right = one
            key = canonical(right)
            if right is not call and key in made:
                self._decided.append(Decision("merged_repeat", f"{right.full_name}: set right, it is one that was made before"))
                continue
            made.add(key)
            kept.append(one)
        return kept

    def _ended_with(self, event: Finish | Fault) -> Event:
        if isinstance(event, Finish) and not self._left and not self._wants_words and not _refuses(self._decided, event):
            written = "".join(self._words)
            doubt = self._doubts.of_text(written)
            if doubt is not None:
                self._decided.append(refused(ToolCall("", "", sealed=False, written=written), *doubt))
        if not self._decided:
            return event
        event = msgspec.structs.replace(event, decisions=(*event.decisions, *self._decided))
        if isinstance(event, Finish) and event.stop.reason == "calls" and not self._left:
            return msgspec.structs.replace(event, stop=Stop("stop", event.stop.raw))
        return event


def _refuses(decided: list[Decision], event: Finish) -> bool:
    """A call was meant, and why it is none is told already."""
    return bool(decided) or any(one.code.startswith("rejected_") for one in event.decisions)
