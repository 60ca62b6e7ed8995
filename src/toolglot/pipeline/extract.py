"""Calls out of model text or a provider's response: heard, judged, and said why."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Literal

import msgspec

from toolglot.catalog.providers import unknown
from toolglot.core.events import Event
from toolglot.core.extraction import Extraction
from toolglot.core.fold import fold
from toolglot.core.messages import Text, ToolCall
from toolglot.core.reply import Decision, Reply
from toolglot.core.tools import Tool, Toolset, made_once
from toolglot.dialects import BEST_KNOWN, dialect_names, find_dialect
from toolglot.errors import CallerError
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.heard import Heard, Parsed
from toolglot.grammars.nonce import with_nonce
from toolglot.grammars.whole_message import WholeMessage
from toolglot.pipeline.guard_calls import Policy, canonical, check_guard, judge, malformed
from toolglot.pipeline.hear import Ear, Found, Hearer, Piece, Said, Settled, Unfolded, Withdrawn, ear
from toolglot.pipeline.pass_calls import Telling, Told
from toolglot.pipeline.precision import SEEN, Around, in_doubt, quoted_because
from toolglot.pipeline.repeats import brings_something_new
from toolglot.pipeline.reply_forms import read_any_reply
from toolglot.pipeline.route import speech
from toolglot.pipeline.spoken import Spoken
from toolglot.pipeline.tool_forms import read_any_tools
from toolglot.reading.blocks import Blocks
from toolglot.reading.shape import say
from toolglot.text.json_text import encode

_WITH_NONCE = "tagged"  # what a nonce is looked for in, where no dialect is named


def extract(
    source: str | dict[str, Any] | list[Any],
    tools: Iterable[Any] = (),
    *,
    provider: str | None = None,
    dialect: str = "auto",
    policy: Policy = "balanced",
    starts_in_reasoning: bool = False,
    nonce: str | None = None,
) -> Extraction:
    """The calls in model text, or in a provider's whole response. Bad output never raises: it becomes decisions.

    `nonce`: only calls of the dialect (`tagged` unless named) whose marker carries it are calls.
    """
    wire = provider or "openai-chat"
    speech(wire)  # a wrong name is told, also where text needs none
    reply = Reply(parts=(Text(source),)) if isinstance(source, str) else read_any_reply(source, wire)
    native = [part for part in reply.parts if isinstance(part, ToolCall)]
    if native:
        return _judged(native, reply, tools, policy)
    begins = starts_in_reasoning and not reply.reasoning  # what the provider told apart is not in the text
    heard = StreamExtractor(tools, dialect=dialect, policy=policy, starts_in_reasoning=begins, nonce=nonce)
    heard.think(reply.reasoning)
    heard.feed(reply.text)
    heard.close()
    found = heard.result()
    return msgspec.structs.replace(found, decisions=[*reply.decisions, *found.decisions]) if reply.decisions else found


def _judged(native: list[ToolCall], reply: Reply, tools: Iterable[Any], policy: Policy) -> Extraction:
    """Native calls pass the same guard; only where there are none is the text searched."""
    check_guard(policy)
    known = toolset(tools)
    calls: list[ToolCall] = []
    decisions = list(reply.decisions)
    for at, call in enumerate(native):
        verdict = judge(call, known, policy, position=at)
        decisions += verdict.decisions
        if verdict.call is not None:
            calls.append(verdict.call)
    return Extraction(calls, reply.text, reply.reasoning, decisions)


class StreamExtractor:
    """Text in pieces, events out. Text flows; a call comes once it is whole and checked.

    `calls="pass"`: a call in a marked form comes as it is written, and its Close says whether it holds.
    """

    def __init__(
        self,
        tools: Iterable[Any] = (),
        *,
        dialect: str = "auto",
        policy: Policy = "balanced",
        calls: Literal["hold", "pass"] = "hold",
        starts_in_reasoning: bool = False,
        nonce: str | None = None,
    ) -> None:
        check_guard(policy, calls)
        self._tools = toolset(tools)
        self._policy = policy
        self._named = dialect
        ear = listening(self._tools, dialect, policy, nonce)
        self._hearer = Hearer(ear, starts_in_reasoning=starts_in_reasoning, unfold=calls == "pass")
        alone = not self._tools and nonce is None and policy != "strict" and dialect in ("auto", "call_expression")
        self._alone = WholeMessage() if alone and not starts_in_reasoning else None
        self._blocks = Blocks()
        self._blocks.started = True  # this is a part of a stream: it has no Start
        self._given: list[Event] = []
        self._said = Spoken(self._tools)  # which weak forms are judged by
        self._waiting: list[Settled] = []  # from the first weak form on: decided at the end
        self._thought: list[Found] = []  # calls inside the reasoning: they count if nothing follows
        self._called: set[tuple[str, str]] = set()
        self._ids: set[str] = set()
        self._telling = Telling(self._blocks, self._tools, self._ids)
        self._tells: bool | None = None  # whether the calls of the region at hand are told as they come; None: not decided
        self._dialect: str | None = None
        self._deaf = False
        self._ended = False

    def feed(self, text: str) -> list[Event]:
        if not isinstance(text, str):
            raise CallerError(f"expected text, got {say(text)}; a UTF-8 decoder makes text of bytes, piece by piece", "feed")
        if self._ended:
            raise CallerError("it is closed: a new one hears the next message", "feed")
        if self._deaf:
            self._blocks.text(text)
            return self._drain()
        if self._alone is not None:
            text = self._alone.feed(text)
        said = None if self._waiting or self._thought else self._hearer.plain(text)
        if said is None:
            for piece in self._hearer.feed(text):
                self._piece(piece)
        elif said:
            self._said.add(said)
            self._blocks.text(said)
        return self._drain()

    def think(self, text: str) -> list[Event]:
        """Text that a provider told apart as reasoning."""
        if text:
            self._blocks.reasoning(text)
        return self._drain()

    def deafen(self) -> list[Event]:
        """From here on text is text; so is what has not been decided yet."""
        if not self._deaf:
            self._deaf = True
            held = self._alone.close()[1] if self._alone is not None else ""
            for piece in [*self._hearer.feed(held), *self._hearer.close()]:
                self._piece(piece)
            waiting, self._waiting, self._alone = self._waiting, [], None
            for piece in waiting:
                self._now(Said(piece.text) if isinstance(piece, Found) else piece)
        return self._drain()

    def close(self) -> list[Event]:
        if not self._ended:
            self._ended = True
            if not self._deaf:  # else all has been heard
                self._hear_the_end()
            for found in self._thought:
                self._judge(found)
            self._blocks.finish("stop")
        return self._drain()

    def _hear_the_end(self) -> None:
        if self._alone is not None:
            self._whole_message(*self._alone.close())
        for piece in self._hearer.close():
            self._piece(piece)
        self._decide()

    def _whole_message(self, parsed: Parsed, text: str) -> None:
        found: list[Piece] = (
            [Found(text, parsed, "call_expression", True, False, True)] if parsed.calls else self._hearer.feed(text)
        )
        for piece in found:
            self._piece(piece)

    def result(self) -> Extraction:
        reply = fold(self._given)
        return Extraction(reply.calls, reply.text, reply.reasoning, list(reply.decisions), self._dialect)

    def _drain(self) -> list[Event]:
        events = self._blocks.drain()
        self._given += events
        return events

    # -- pieces

    def _piece(self, piece: Piece) -> None:
        if isinstance(piece, Unfolded):
            if self._tells is None:
                self._tells = not self._waiting and (self._policy == "eager" or not in_doubt(self._said.lately()))
            if self._tells:
                self._telling.take(piece.steps, piece.dialect)
            return
        if isinstance(piece, Withdrawn):
            self._telling.withdraw()
            self._tells = None
            return
        if self._waiting or (isinstance(piece, Found) and self._undecided(piece)):
            self._waiting.append(piece)
        else:
            self._now(piece)

    def _undecided(self, piece: Found) -> bool:
        """Whether the end of the text must be awaited to tell if the call was meant."""
        if not piece.parsed.calls or piece.in_reasoning or self._policy == "eager":
            return False
        return piece.weak or in_doubt(self._said.lately())

    def _now(self, piece: Settled) -> None:
        if isinstance(piece, Found):
            if piece.in_reasoning:
                self._blocks.reasoning(piece.text)
                self._thought.append(piece)
            else:
                self._judge(piece)
            return
        if self._thought and not piece.text.isspace():
            self._forget_thought()
        if isinstance(piece, Said):
            self._said.add(piece.text)
            self._blocks.text(piece.text)
        else:
            self._blocks.reasoning(piece.text)

    def _forget_thought(self) -> None:
        names = ", ".join(call.name for found in self._thought for call in found.parsed.calls)
        self._decision("abstained_reasoning", f"{names}: written while thinking, and the model went on: not a call")
        self._thought = []

    def _decision(self, code: str, message: str) -> None:
        self._blocks.decisions.append(Decision(code, message))

    # -- weak forms

    def _decide(self) -> None:
        waiting, self._waiting = self._waiting, []
        for piece, behind in zip(waiting, _behind(waiting), strict=True):
            reason = self._quoted(piece, *behind) if isinstance(piece, Found) and self._undecided(piece) else None
            if reason is not None and isinstance(piece, Found):
                names = ", ".join(call.name for call in piece.parsed.calls)
                self._decision("abstained_quoted", f"{names}: {reason}")
                piece = Said(piece.text)
            self._now(piece)

    def _quoted(self, piece: Found, after: str, more: bool) -> str | None:
        """`after` is what is said behind it, `more` whether further calls stand there."""
        before = self._said.lately()
        alone = not before.strip() and not after.strip()
        if piece.weak and not self._tools and (more or not alone):
            return "no tools are registered, and it is not the whole message"
        if piece.weak and not alone and any("unquoted_value" in call.fixes for call in piece.parsed.calls):
            return "its arguments are names of variables, as in a piece of code"
        entry = piece.parsed.entry
        expression = piece.weak and (entry or piece.text[:1].isalnum() or piece.text[:1] == "_")
        return quoted_because(Around(before, after), weak=piece.weak, expression=expression, entry=entry)

    # -- judging

    def _judge(self, found: Found) -> None:
        if found.parsed.problem and not found.parsed.calls:
            self._blocks.decisions.append(malformed(found.parsed.problem, found.text, found.dialect))
            self._blocks.text(found.text)
            return
        for at, heard in enumerate(found.parsed.calls):
            told = self._telling.pop(at, heard.name) if found.unfolded else None
            self._call(heard, found) if told is None else self._passed(told, heard, found)
        self._telling.withdraw()
        self._tells = None
        if found.parsed.rest:
            self._blocks.text(found.parsed.rest)

    def _call(self, heard: Heard, found: Found) -> None:
        verdict = judge(heard, self._tools, self._policy, source=found.dialect, position=self._blocks.calls)
        self._blocks.decisions.extend(verdict.decisions)
        call = verdict.call
        if call is None:
            return
        key = canonical(call)
        if self._is_repeat(key):
            self._decision("merged_repeat", f"{call.name}: the same call stood twice in one text")
            return
        call_id = call.id if call.id and call.id not in self._ids else f"{call.name}_{self._blocks.calls}"
        self._ids.add(call_id)
        self._called.add(key)
        self._blocks.decisions.extend(self._rescued(call.name, found.dialect))
        self._blocks.part(call if call.id == call_id else msgspec.structs.replace(call, id=call_id))

    def _passed(self, told: Told, heard: Heard, found: Found) -> None:
        """A call that has left already."""
        verdict = judge(heard, self._tools, self._policy, source=found.dialect, position=told.position)
        key = canonical(verdict.call) if verdict.call is not None else None
        if key is not None and self._is_repeat(key):
            self._telling.repeated(told)
        elif self._telling.end(told, verdict, self._rescued(heard.name, found.dialect)) and key is not None:
            self._called.add(key)

    def _is_repeat(self, key: tuple[str, str]) -> bool:
        if key not in self._called:
            return False
        return not any(brings_something_new(tool) for tool in self._tools if tool.full_name == key[0])

    def _rescued(self, name: str, dialect: str) -> tuple[Decision, ...]:
        self._dialect = self._dialect or dialect
        if self._named == dialect:
            return ()
        return (Decision("rescued_text", f"{name}: read from text written as {dialect}"),)


def _behind(pieces: list[Settled]) -> list[tuple[str, bool]]:
    """For each piece: how the text behind it begins, and whether calls stand there."""
    found: list[tuple[str, bool]] = []
    after, more = "", False
    for piece in reversed(pieces):
        found.append((after, more))
        if isinstance(piece, Said):
            after = (piece.text + after)[:SEEN]
        more = more or isinstance(piece, Found)
    return found[::-1]


# -- what is listened to


def listening(tools: Toolset, dialect: str, policy: str, nonce: str | None = None) -> Ear:
    """The ear for these tools: the named dialect first; others too, unless the policy is strict.

    With a nonce it is one dialect alone, under any policy: all else could be forged.
    """
    if dialect != "auto" and find_dialect(dialect) is None:
        raise CallerError(unknown("dialect", dialect, ["auto", *dialect_names()]), "dialect")
    if nonce is not None:
        marked = with_nonce(find_dialect(_WITH_NONCE if dialect == "auto" else dialect), nonce)  # type: ignore[arg-type]
        return ear([marked], {tool.full_name: tool for tool in tools})
    return made_once(tools, ("ear", dialect, policy), _make_ear)


def _make_ear(tools: tuple[Tool, ...], key: tuple[str, str, str]) -> Ear:
    _, named, policy = key
    first = [found] if (found := find_dialect(named)) else []
    others = [one for one in _all_dialects() if one.name != named]
    if policy == "strict":
        others = [] if first else [one for one in others if not one.weak]
    return ear([*first, *others], {tool.full_name: tool for tool in tools})


@lru_cache(1)
def _all_dialects() -> tuple[Dialect, ...]:
    """Marked forms before weak ones; among them the best known first."""
    rank = {name: at for at, name in enumerate(BEST_KNOWN)}
    found = [one for name in dialect_names() if (one := find_dialect(name)) is not None]
    return tuple(sorted(found, key=lambda one: (one.weak, rank.get(one.name, len(rank)), one.name)))


def toolset(tools: Iterable[Any]) -> Toolset:
    """Tools in any form, as a set that keeps what is made of it; the same tools give the same set."""
    if isinstance(tools, Toolset):
        return tools
    read = read_any_tools(tools)
    return _kept(encode(read))


_TOOLS = msgspec.json.Decoder(tuple[Tool, ...])


@lru_cache(64)
def _kept(encoded: bytes) -> Toolset:
    return Toolset(_TOOLS.decode(encoded))
