"""The tool loop as a pure state machine: it takes the result of a step and returns the next step. No I/O, no clock.

    AskModel --Reply--> RunTools --results--> AskModel --Reply--> ... --> Done

Three laws: every call gets exactly one result, no id is run twice, and the loop ends whatever the replies are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from toolglot.agent.limits import Limits
from toolglot.agent.run import End, Run, total_tokens
from toolglot.agent.structured_output import INVALID, answer_again, schema_violation
from toolglot.core.messages import Message, Part, Reasoning, Text, ToolCall, ToolResult
from toolglot.core.reply import Decision, Reply, Usage, add_usage
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool
from toolglot.errors import CallerError, UpstreamError
from toolglot.pipeline.request.retry_feedback import as_history, as_message, as_result, rejections
from toolglot.pipeline.response.call_validator import call_key


class AskModel(msgspec.Struct, frozen=True):
    """The next step of a loop: send this request, and pass in its Reply."""

    request: Request
    turn: int  # from 1


class RunTools(msgspec.Struct, frozen=True):
    """The next step of a loop: run these calls, and pass in a ToolResult for each."""

    calls: tuple[ToolCall, ...]
    messages: tuple[Message, ...] = ()  # the conversation up to them


class Done(msgspec.Struct, frozen=True):
    """The last step of a loop."""

    run: Run


class Interrupted(msgspec.Struct, frozen=True, omit_defaults=True):
    """The step did not finish: the user stopped the run, time ran out, or the request failed before a reply.

    `results` are those of the tools that had finished, `reply` is the partial reply.
    """

    end: Literal["stopped", "time", "failed"]
    why: str
    error: UpstreamError | None = None
    results: tuple[ToolResult, ...] = ()
    reply: Reply | None = None


Step = AskModel | RunTools | Done
StepResult = Reply | Sequence[ToolResult] | Interrupted | None
_LIMITS = Limits()
_WORD = re.compile(r"[^\s!-/:-@\[-`{-~]")  # anything but ASCII punctuation: an emoji is an answer
_ANSWER_NOW = "Your reply was empty. Answer now in plain text, using the messages above."
_NO_USAGE = "the provider reports no token usage: the token limit can't be enforced"


class Loop:
    """`next()` starts the run. `now` is any clock in seconds; it is only used if time is limited.

    With `typed_output` the driver checks the answer, and adds the decision `invalid_output` to a reply that does not fit.
    """

    def __init__(self, request: Request, limits: Limits = _LIMITS, *, id: str = "run", typed_output: bool = False) -> None:
        self.id, self.limits, self.request, self.typed_output = id, limits, request, typed_output
        self._history: list[Message] = list(request.messages)
        self._ids = {part.id for message in request.messages for part in message.parts if isinstance(part, ToolCall)}
        self._server_tools = _server_tools(request.tools)
        self._turns = 0
        self._waits_for: Literal["start", "reply", "results", "done"] = "start"
        self._calls: tuple[ToolCall, ...] = ()  # being run
        self._rejection_results: list[ToolResult] = []  # of this turn's rejected calls
        self._unnamed: list[Decision] = []  # of this turn: rejected calls without a tool name
        self._run_calls: list[ToolCall] = []
        self._rejected_turns = 0
        self._repeats: dict[tuple[str, str], tuple[int, str]] = {}  # call -> how often in a row it had this result
        self._asked_again = False  # after an empty answer
        self._corrected = False  # an answer that does not match the schema was sent back
        self._final: tuple[End, str] | None = None  # the end, set before the last request, which is without tools
        self._start = 0.0
        self._text = ""
        self._usage: Usage | None = None
        self._decisions: list[Decision] = []
        self._notes: list[str] = []

    def next(self, result: StepResult = None, *, now: float = 0.0) -> Step:
        """The next step. `result` is that of the last step: None at the start, a Reply, tool results, or an interruption."""
        if self._waits_for == "done":
            raise CallerError("the run is over", "result")
        if isinstance(result, Interrupted):
            if result.reply is not None and self._waits_for == "reply":
                self._calls = self._take(result.reply, self._add_reply(result.reply))
            return self._done(result.end, result.why, result.error, result.results)
        if self._waits_for == "start" and result is None:
            self._start = now
            return self._ask(now)
        if self._waits_for == "reply" and isinstance(result, Reply):
            return self._after_reply(result, now)
        if self._waits_for == "results" and isinstance(result, Sequence):
            return self._after_tools(result, now)
        raise CallerError(f"the loop waits for {self._waits_for}, got {type(result).__name__}", "result")

    def set_tools(self, tools: tuple[Tool, ...]) -> None:
        """Replace the tools, from the next request on."""
        self.request = msgspec.structs.replace(self.request, tools=tools)
        self._server_tools = _server_tools(tools)

    # -- asking

    def _ask(self, now: float) -> Step:
        reached = self._limit_reached(now)
        if reached is not None:
            return self._done(*reached) if self._final is None else self._done(*self._final)
        self._turns += 1
        self._waits_for = "reply"
        choice = self.request.choice
        if self._final is not None:
            choice = Choice("none")
        elif self._run_calls and choice is not None and choice.mode == "required":
            choice = None  # the required call has been made; if it stayed required, the loop would never end
        return AskModel(msgspec.structs.replace(self.request, messages=tuple(self._history), choice=choice), self._turns)

    def _limit_reached(self, now: float) -> tuple[End, str] | None:
        limits = self.limits
        if self._turns >= limits.turns:
            times = "once" if limits.turns == 1 else f"{limits.turns} times"
            return "turns", f"the model was asked {times}, which is the limit"
        if limits.tokens is not None and total_tokens(self._usage) >= limits.tokens:
            return "tokens", f"{total_tokens(self._usage)} tokens are used, and the limit is {limits.tokens}"
        return self._time_over(now)

    def _time_over(self, now: float) -> tuple[End, str] | None:
        limit = self.limits.seconds
        if limit is not None and now - self._start >= limit:
            return "time", f"the limit of {limit:g} seconds is reached"
        return None

    # -- a reply

    def _add_reply(self, reply: Reply) -> list[Decision]:
        """Add the reply to the run. Returns its rejected calls; none if calls are forbidden, because then none is retried."""
        self._text = reply.text
        self._usage = add_usage(self._usage, reply.usage)
        self._decisions += reply.decisions
        no_usage = (_NO_USAGE,) if self.limits.tokens is not None and reply.usage is None else ()
        self._notes += [note for note in (*reply.notes, *no_usage) if note not in self._notes]
        return [] if self._calls_forbidden() or self._final is not None else rejections(reply)

    def _after_reply(self, reply: Reply, now: float) -> Step:
        rejected = self._add_reply(reply)
        self._calls = self._take(reply, rejected)
        self._rejected_turns = self._rejected_turns + 1 if rejected and not self._calls else 0
        if reply.error is not None:
            return self._done("failed", f"the answer was interrupted: {reply.error.message}", reply.error)
        if self._final is not None:
            return self._done(*self._final)
        if self._rejected_turns > self.limits.refusals:
            why = f"{self._rejected_turns} replies in a row had a call that can't be run: {rejected[-1].message}"
            return self._ask_for_answer(why, now, "refused") if self._run_calls else self._done("refused", why)
        if self._calls:
            return self._run_tools(now)
        if rejected or (reply.stop is not None and reply.stop.reason == "pause"):
            self._close_turn(())
            return self._ask(now)
        if self._is_empty(reply) and not self._asked_again and self._limit_reached(now) is None:
            self._asked_again = True
            self._notes.append("the model's reply was empty, and it was asked once more")
            self._history.append(Message("user", (Text(_ANSWER_NOW),)))
            return self._ask(now)
        return self._finished(reply, now)

    def _calls_forbidden(self) -> bool:
        choice = self.request.choice
        return choice is not None and choice.mode == "none"

    def _take(self, reply: Reply, rejected: list[Decision]) -> tuple[ToolCall, ...]:
        """Append the reply to the history, with a unique id for each call. Returns the calls to run."""
        named = [(one, one.call) for one in rejected if one.call is not None and one.call.name.strip()]
        parts: list[Part] = []
        calls: list[ToolCall] = []
        for part in reply.parts:
            if not isinstance(part, ToolCall) or (part.sealed and part.full_name in self._server_tools):
                parts.append(part)
            elif part.sealed:
                calls.append(self._with_unique_id(part))
                parts.append(calls[-1])
            else:
                match = next((pair for pair in named if pair[1].id == part.id), None)
                if match is not None:
                    named.remove(match)
                    parts.append(self._reject(match[0], part))
        parts += [self._reject(*pair) for pair in named]
        self._unnamed = [one for one in rejected if one.call is not None and not one.call.name.strip()]
        if parts:
            self._history.append(Message("assistant", tuple(parts)))
        return tuple(calls)

    def _reject(self, rejection: Decision, call: ToolCall) -> ToolCall:
        call = as_history(self._with_unique_id(call))
        self._rejection_results.append(as_result(rejection, call))
        return call

    def _with_unique_id(self, call: ToolCall) -> ToolCall:
        """Some servers number the calls of every reply from 0, so an id may repeat one of an earlier turn."""
        unique, number = call.id or call.name, 1
        while unique in self._ids or not unique:
            unique, number = f"{call.id or call.name}_{number}", number + 1
        self._ids.add(unique)
        return call if unique == call.id else msgspec.structs.replace(call, id=unique)

    def _is_empty(self, reply: Reply) -> bool:
        """A finished reply without an answer, as some models give after a tool result. With a schema, {} is an answer."""
        finished = reply.stop is None or reply.stop.reason == "stop"
        answer = reply.text.strip() if self.request.output is not None else _WORD.search(reply.text)
        return finished and not answer and all(isinstance(part, Text | Reasoning) for part in reply.parts)

    def _finished(self, reply: Reply, now: float) -> Step:
        cut_off = reply.stop is not None and reply.stop.reason == "length"
        violation = self._violation(reply)
        if violation is not None and not (cut_off or self._corrected) and self._limit_reached(now) is None:
            self._corrected = True
            self._notes.append(f"{violation}; it was asked for once more")
            self._history.append(Message("user", (Text(answer_again(self.request.output, violation)),)))
            return self._ask(now)
        if cut_off:
            self._notes.append("the answer was cut off at the token limit")
        elif not reply.text.strip():
            self._notes.append("the model's reply was empty")
        return self._done("finished", "the model answered") if violation is None else self._done("invalid", violation)

    def _violation(self, reply: Reply) -> str | None:
        """Why the answer does not fit the output type or the schema."""
        if self.typed_output:
            return next((decision.message for decision in reply.decisions if decision.code == INVALID), None)
        return schema_violation(self.request.output, reply.text)

    # -- tools

    def _run_tools(self, now: float) -> Step:
        time_over = self._time_over(now)
        if time_over is not None:
            return self._done(*time_over)
        for call in self._calls:
            times, _ = self._repeats.get(call_key(call), (0, ""))
            if times + 1 >= self.limits.repeats:
                why = f"{call.full_name} was called with the same arguments a {_nth(times + 1)} time, with the same result"
                return self._ask_for_answer(why, now)
        self._run_calls += self._calls
        self._waits_for = "results"
        return RunTools(self._calls, tuple(self._history))

    def _ask_for_answer(self, why: str, now: float, end: End = "repeated") -> Step:
        """Ask one last time, without tools: a model that repeats itself may already have what it needs."""
        self._final = end, why
        self._close_turn(self._complete_results((), f"not run: {why}"))
        return self._ask(now)

    def _after_tools(self, results: Iterable[ToolResult], now: float) -> Step:
        complete = self._complete_results(results, "there is no result")
        self._count_repeats(complete)
        self._close_turn(complete)
        return self._ask(now)

    def _complete_results(self, results: Iterable[ToolResult], default: str) -> list[ToolResult]:
        """One result for each call, in the order of the calls; an error with the text `default` for a missing one."""
        by_id: dict[str, ToolResult] = {}
        call_ids = {call.id for call in self._calls}
        for result in results:
            if not isinstance(result, ToolResult):
                raise CallerError(f"expected a ToolResult for each call, got {type(result).__name__}", "result")
            if result.call_id not in call_ids or result.call_id in by_id:
                problem = "already has a result" if result.call_id in by_id else "is not one of the calls to run"
                raise CallerError(f"the call {result.call_id!r} {problem}", "result")
            by_id[result.call_id] = result
        return [by_id.get(call.id) or _error_result(call, default) for call in self._calls]

    def _count_repeats(self, results: list[ToolResult]) -> None:
        """Calls with new results, such as polling, don't count. Equal calls in one turn count once."""
        for key, result in {call_key(call): result for call, result in zip(self._calls, results, strict=True)}.items():
            times, before = self._repeats.get(key, (0, ""))
            content = repr(result.parts)
            self._repeats[key] = (times + 1 if content == before else 1, content)

    def _close_turn(self, results: Iterable[ToolResult]) -> None:
        """Append the results of a turn as one message. Rejected calls without a name are answered by a user message."""
        by_id = {result.call_id: result for result in (*results, *self._rejection_results)}
        order = [part.id for part in self._history[-1].parts if isinstance(part, ToolCall)] if by_id else []
        if by_id:
            self._history.append(Message("tool", tuple(by_id[call_id] for call_id in order if call_id in by_id)))
        if self._unnamed:
            self._history.append(as_message(self._unnamed))
        self._calls, self._rejection_results, self._unnamed = (), [], []

    # -- the end

    def _done(self, end: End, why: str, error: UpstreamError | None = None, results: Iterable[ToolResult] = ()) -> Done:
        """Pending calls get an error result: most servers reject a history with open calls."""
        running = self._waits_for == "results"
        default = f"interrupted, maybe half done: {why}" if running else f"not run: {why}"
        self._close_turn(self._complete_results(results, default))
        self._waits_for = "done"
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
                self._turns,
                error,
            )
        )


def _server_tools(tools: tuple[Tool, ...]) -> set[str]:
    return {tool.full_name for tool in tools if tool.kind == "server"}


def _error_result(call: ToolCall, why: str) -> ToolResult:
    return ToolResult(call.id, call.full_name, (Text(f"{why[0].upper()}{why[1:]}."),), is_error=True)


def _nth(number: int) -> str:
    return {2: "second", 3: "third"}.get(number, f"{number}th")
