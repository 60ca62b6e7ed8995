"""The tool loop as a pure machine: it says what to do next and is told what came of it. No I/O, no clock, no chance.

    AskModel --Reply--> RunTools --results--> AskModel --Reply--> ... --> Done

Three laws: every call gets exactly one result, no id is run twice, and whatever the replies are, it ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from toolglot.agent.limits import Limits
from toolglot.agent.run import End, Run, total_tokens
from toolglot.agent.structured import missed
from toolglot.core.messages import Message, Part, Reasoning, Text, ToolCall, ToolResult
from toolglot.core.reply import Decision, Reply, Usage, add_usage
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool
from toolglot.errors import CallerError, UpstreamError
from toolglot.pipeline.doubt import DOUBTED
from toolglot.pipeline.guard_calls import canonical
from toolglot.pipeline.refusals import UNSHOWN, answer, as_said, refusals, sentence


class AskModel(msgspec.Struct, frozen=True):
    request: Request
    turn: int  # from 1


class RunTools(msgspec.Struct, frozen=True):
    calls: tuple[ToolCall, ...]
    messages: tuple[Message, ...] = ()  # the conversation up to them


class Done(msgspec.Struct, frozen=True):
    run: Run


class Interrupted(msgspec.Struct, frozen=True, omit_defaults=True):
    """Instead of what was asked for: the user stopped it, time ran out, or the provider failed before it said anything.

    `results` are those of the tools that had come to their end by then, `reply` is what the model had said.
    """

    end: Literal["stopped", "time", "failed"]
    why: str
    error: UpstreamError | None = None
    results: tuple[ToolResult, ...] = ()
    reply: Reply | None = None


Step = AskModel | RunTools | Done
Seen = Reply | Sequence[ToolResult] | Interrupted | None
_LIMITS = Limits()
_WORD = re.compile(r"[^\s!-/:-@\[-`{-~]")  # more than ASCII's punctuation: a thumb up is an answer
_SAY_IT = "You said nothing. Answer now, in plain words, with what stands above."
_UNCOUNTED = "the provider does not count tokens: the limit on them can't be kept"


class Loop:
    """`next(None)` begins. `now` is any clock in seconds; it is only looked at where time is limited."""

    def __init__(self, request: Request, limits: Limits = _LIMITS, *, id: str = "run") -> None:
        self.id, self.limits, self.request = id, limits, request
        self._history: list[Message] = list(request.messages)
        self._ids = {part.id for message in request.messages for part in message.parts if isinstance(part, ToolCall)}
        self._served = _served(request.tools)
        self._asked = 0
        self._waits: Literal["begin", "reply", "results", "done"] = "begin"
        self._calls: tuple[ToolCall, ...] = ()  # being run
        self._beside: list[ToolResult] = []  # results of this turn's refused calls
        self._unreadable: list[Decision] = []  # of this turn: meant as calls, but they name no tool
        self._run_calls: list[ToolCall] = []
        self._refused_turns = 0
        self._repeats: dict[tuple[str, str], tuple[int, str]] = {}  # a call -> how often in a row it gave this result
        self._pressed = False  # for an answer, after one without a word
        self._last: tuple[End, str] | None = None  # the end, where the model is asked for the last time, without tools
        self._began = 0.0
        self._text = ""
        self._usage: Usage | None = None
        self._decisions: list[Decision] = []
        self._notes: list[str] = []

    def next(self, seen: Seen = None, *, now: float = 0.0) -> Step:
        """What to do next. `seen` is what came of the last step: nothing yet, a Reply, results, or an interruption."""
        if self._waits == "done":
            raise CallerError("the run is over", "seen")
        if isinstance(seen, Interrupted):
            if seen.reply is not None and self._waits == "reply":
                self._calls = self._take(seen.reply, self._noted(seen.reply))
            return self._done(seen.end, seen.why, seen.error, seen.results)
        if self._waits == "begin" and seen is None:
            self._began = now
            return self._ask(now)
        if self._waits == "reply" and isinstance(seen, Reply):
            return self._heard(seen, now)
        if self._waits == "results" and isinstance(seen, Sequence):
            return self._ran(seen, now)
        raise CallerError(f"the loop waits for {self._waits}, and got {type(seen).__name__}", "seen")

    def offer(self, tools: tuple[Tool, ...]) -> None:
        """Other tools than before: the model is told of them when it is asked next."""
        self.request = msgspec.structs.replace(self.request, tools=tools)
        self._served = _served(tools)

    # -- asking

    def _ask(self, now: float) -> Step:
        over = self._over(now)
        if over is not None:
            return self._done(*over) if self._last is None else self._done(*self._last)
        self._asked += 1
        self._waits = "reply"
        choice = self.request.choice
        if self._last is not None:
            choice = Choice("none")
        elif self._run_calls and choice is not None and choice.mode == "required":
            choice = None  # the call that was required has been made; required for ever, it would never end
        return AskModel(msgspec.structs.replace(self.request, messages=tuple(self._history), choice=choice), self._asked)

    def _over(self, now: float) -> tuple[End, str] | None:
        most = self.limits
        if self._asked >= most.turns:
            often = "once" if most.turns == 1 else f"{most.turns} times"
            return "turns", f"the model was asked {often}, which is the limit"
        if most.tokens is not None and total_tokens(self._usage) >= most.tokens:
            return "tokens", f"{total_tokens(self._usage)} tokens were spent, and {most.tokens} is the limit"
        return self._late(now)

    def _late(self, now: float) -> tuple[End, str] | None:
        most = self.limits.seconds
        if most is not None and now - self._began >= most:
            return "time", f"{most:g} seconds are over"
        return None

    # -- a reply

    def _noted(self, reply: Reply) -> list[Decision]:
        """What a reply adds to the run; its refused calls, unless calls are forbidden: then nothing is to be mended."""
        self._text = reply.text
        self._usage = add_usage(self._usage, reply.usage)
        self._decisions += reply.decisions
        uncounted = (_UNCOUNTED,) if self.limits.tokens is not None and reply.usage is None else ()
        self._notes += [note for note in (*reply.notes, *uncounted) if note not in self._notes]
        return [] if self._forbidden() or self._last is not None else refusals(reply)

    def _heard(self, reply: Reply, now: float) -> Step:
        refused = self._noted(reply)
        self._calls = self._take(reply, refused)
        self._refused_turns = self._refused_turns + 1 if refused and not self._calls else 0
        if reply.error is not None:
            return self._done("failed", f"the answer broke off: {reply.error.message}", reply.error)
        if self._last is not None:
            return self._done(*self._last)
        if self._refused_turns > self.limits.refusals:
            if all(held.code in DOUBTED for held in refused):
                return self._last_word(f"{refused[-1].message}, again and again", now)
            why = f"{self._refused_turns} replies in a row held a call that can't be run: {refused[-1].message}"
            return self._last_word(why, now, "refused") if self._run_calls else self._done("refused", why)
        if self._calls:
            return self._hand_out(now)
        if refused or (reply.stop is not None and reply.stop.reason == "pause"):
            self._close_turn(())
            return self._ask(now)
        if self._is_wordless(reply) and not self._pressed and self._over(now) is None:
            self._pressed = True
            self._notes.append("the model ended without a word, and was asked once more")
            self._history.append(Message("user", (Text(_SAY_IT),)))
            return self._ask(now)
        return self._finished(reply)

    def _forbidden(self) -> bool:
        choice = self.request.choice
        return choice is not None and choice.mode == "none"

    def _take(self, reply: Reply, refused: list[Decision]) -> tuple[ToolCall, ...]:
        """The reply into the history, each call with an id of its own; those that may run are given back."""
        named = [(held, held.call) for held in refused if held.call is not None and held.call.name.strip()]
        parts: list[Part] = []
        calls: list[ToolCall] = []
        for part in reply.parts:
            if not isinstance(part, ToolCall) or (part.sealed and part.full_name in self._served):
                parts.append(part)
            elif part.sealed:
                calls.append(self._with_own_id(part))
                parts.append(calls[-1])
            else:
                own = next((pair for pair in named if pair[1].id == part.id), None)
                if own is not None:
                    named.remove(own)
                    parts.append(self._refuse(own[0], part))
        parts += [self._refuse(*pair) for pair in named]
        self._unreadable = [held for held in refused if held.call is not None and not held.call.name.strip()]
        if parts and not any(held.code in UNSHOWN for held in refused):
            self._history.append(Message("assistant", tuple(parts)))
        return tuple(calls)

    def _refuse(self, refused: Decision, call: ToolCall) -> ToolCall:
        said = as_said(self._with_own_id(call))
        self._beside.append(answer(refused, said))
        return said

    def _with_own_id(self, call: ToolCall) -> ToolCall:
        """Some servers number the calls of every reply from 0: an id that was there before would be two calls."""
        own, number = call.id or call.name, 1
        while own in self._ids or not own:
            own, number = f"{call.id or call.name}_{number}", number + 1
        self._ids.add(own)
        return call if own == call.id else msgspec.structs.replace(call, id=own)

    def _is_wordless(self, reply: Reply) -> bool:
        """It came to its end by itself and says nothing, as models do after a tool's result; {} may be what was asked for."""
        ended = reply.stop is None or reply.stop.reason == "stop"
        says = reply.text.strip() if self.request.output is not None else _WORD.search(reply.text)
        return ended and not says and all(isinstance(part, Text | Reasoning) for part in reply.parts)

    def _finished(self, reply: Reply) -> Step:
        if reply.stop is not None and reply.stop.reason == "length":
            self._notes.append("the answer was cut short: it reached its limit of tokens")
        elif not reply.text.strip():
            self._notes.append("the model ended without a word")
        unmet = missed(self.request.output, reply.text)
        if unmet is not None:
            self._notes.append(unmet)
        return self._done("finished", "the model answered")

    # -- tools

    def _hand_out(self, now: float) -> Step:
        late = self._late(now)
        if late is not None:
            return self._done(*late)
        for call in self._calls:
            times, _ = self._repeats.get(canonical(call), (0, ""))
            if times + 1 >= self.limits.repeats:
                why = f"{call.full_name} was called with the same arguments for the {_nth(times + 1)} time, to the same result"
                return self._last_word(why, now)
        self._run_calls += self._calls
        self._waits = "results"
        return RunTools(self._calls, tuple(self._history))

    def _last_word(self, why: str, now: float, end: End = "repeated") -> Step:
        """A model that goes round in circles may have what it needs: it is asked once more, for its answer, without tools."""
        self._last = end, why
        self._close_turn(self._answers((), f"not run: {why}"))
        return self._ask(now)

    def _ran(self, results: Iterable[ToolResult], now: float) -> Step:
        answers = self._answers(results, "no result was given")
        self._count_repeats(answers)
        self._close_turn(answers)
        return self._ask(now)

    def _answers(self, results: Iterable[ToolResult], otherwise: str) -> list[ToolResult]:
        """One for each call, in their order."""
        given: dict[str, ToolResult] = {}
        known = {call.id for call in self._calls}
        for result in results:
            if not isinstance(result, ToolResult):
                raise CallerError(f"expected a ToolResult for each call, got {type(result).__name__}", "seen")
            if result.call_id not in known or result.call_id in given:
                problem = "has its result already" if result.call_id in given else "was not asked for"
                raise CallerError(f"the call {result.call_id!r} {problem}", "seen")
            given[result.call_id] = result
        return [given.get(call.id) or _without(call, otherwise) for call in self._calls]

    def _count_repeats(self, answers: list[ToolResult]) -> None:
        """A call that gives something new each time, as one that polls does, is no repetition. Twins of one turn count once."""
        for key, result in {canonical(call): result for call, result in zip(self._calls, answers, strict=True)}.items():
            times, before = self._repeats.get(key, (0, ""))
            told = repr(result.parts)
            self._repeats[key] = (times + 1 if told == before else 1, told)

    def _close_turn(self, answers: Iterable[ToolResult]) -> None:
        """All results of a turn are one message; what could not even be named as a call is answered in words."""
        own = {result.call_id: result for result in (*answers, *self._beside)}
        order = [part.id for part in self._history[-1].parts if isinstance(part, ToolCall)] if own else []
        if own:
            self._history.append(Message("tool", tuple(own[call_id] for call_id in order if call_id in own)))
        if self._unreadable:
            self._history.append(Message("user", tuple(Text(sentence(held)) for held in self._unreadable)))
        self._calls, self._beside, self._unreadable = (), [], []

    # -- the end

    def _done(self, end: End, why: str, error: UpstreamError | None = None, results: Iterable[ToolResult] = ()) -> Done:
        """Calls that still wait get a result that says so: a history with open calls is refused by most servers."""
        begun = self._waits == "results"
        self._close_turn(self._answers(results, f"broken off, maybe half done: {why}" if begun else f"not run: {why}"))
        self._waits = "done"
        return Done(
            Run(
                self.id,
                self._text,
                end,
                why,
                tuple(self._run_calls),
                tuple(self._history),
                self._usage,
                tuple(self._decisions),
                tuple(self._notes),
                self._asked,
                error,
            )
        )


def _served(tools: tuple[Tool, ...]) -> set[str]:
    return {tool.full_name for tool in tools if tool.kind == "server"}


def _without(call: ToolCall, why: str) -> ToolResult:
    return ToolResult(call.id, call.full_name, (Text(f"{why[0].upper()}{why[1:]}."),), is_error=True)


def _nth(number: int) -> str:
    return {2: "second", 3: "third"}.get(number, f"{number}th")
