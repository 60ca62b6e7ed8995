"""Extract tool calls from model text or from a provider's response, and report a decision for each call that is left out."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Literal

import msgspec

from toolglot.core.budget import Budget
from toolglot.core.events import Event
from toolglot.core.extraction import Extraction
from toolglot.core.fold import fold
from toolglot.core.messages import Text, ToolCall
from toolglot.core.reply import Decision, Reply
from toolglot.core.tools import Tool, Toolset
from toolglot.errors import CallerError
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.parsed_call import ParsedCall, RegionResult
from toolglot.grammars.whole_message import WholeMessage
from toolglot.io.block_builder import BlockBuilder
from toolglot.io.json_codec import encode
from toolglot.io.request_validation import json_type
from toolglot.pipeline.detect_message_format import read_any_messages
from toolglot.pipeline.detect_reply_format import read_any_reply_or_reject
from toolglot.pipeline.detect_tool_format import read_any_tools
from toolglot.pipeline.request.route import wire_format
from toolglot.pipeline.response.call_validator import (
    Policy,
    UnsupportedSchemas,
    Verdict,
    call_key,
    check_options,
    reject_malformed,
    validate_call,
)
from toolglot.pipeline.response.provenance import QUOTED_INPUT, Provenance
from toolglot.pipeline.response.quoting import SEEN, SOME, Form, needs_text_behind, quoted_by_place, quoted_reason
from toolglot.pipeline.response.scanned_dialects import scanner_for
from toolglot.pipeline.response.text_before import TextBefore
from toolglot.pipeline.response.tool_call_scanner import (
    CallDelta,
    CallFound,
    Piece,
    Retracted,
    SettledPiece,
    TextPiece,
    ToolCallScanner,
)
from toolglot.pipeline.response.torn_values import value_ends, without_torn
from toolglot.pipeline.response.unverified_calls import UnverifiedCall, UnverifiedCalls
from toolglot.wires import DEFAULT


def extract(
    source: str | dict[str, Any] | list[Any],
    tools: Iterable[Any] = (),
    *,
    messages: Iterable[Any] = (),
    provider: str | None = None,
    dialect: str | Dialect = "auto",
    policy: Policy = "balanced",
    starts_in_reasoning: bool = False,
    nonce: str | None = None,
) -> Extraction:
    """Return the calls in model text, or in a provider's whole response. Bad output never raises: it becomes decisions.

    `messages`: what the model was given, in the format of any API. A call that stands in a tool result is quoted, not made.
    `nonce`: only calls of the dialect (default `tagged`) with the nonce in their marker count.

    Examples:
        >>> tools = [{"name": "add", "schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}]
        >>> found = extract("Sure! <tool_call>{'name': 'add', 'arguments': {'a': '1'}}</tool_call>", tools)
        >>> found.calls[0].arguments, found.calls[0].fixes, found.text.strip()
        ({'a': 1}, ('single_quotes', 'coerced_type'), 'Sure!')
    """
    wire = provider or DEFAULT
    wire_format(wire)  # reject a wrong name, even if text does not need it
    reply = Reply(parts=(Text(source),)) if isinstance(source, str) else read_any_reply_or_reject(source, wire)
    native = [part for part in reply.parts if isinstance(part, ToolCall)]
    if native:
        return _validate_native(native, reply, tools, policy)
    in_reasoning = starts_in_reasoning and not reply.reasoning  # else the provider sends reasoning separately
    extractor = StreamExtractor(
        tools, messages=messages, dialect=dialect, policy=policy, starts_in_reasoning=in_reasoning, nonce=nonce
    )
    extractor.add_reasoning(reply.reasoning)
    extractor.feed(reply.text)
    extractor.close()
    found = extractor.result()
    return msgspec.structs.replace(found, decisions=[*reply.decisions, *found.decisions]) if reply.decisions else found


def _validate_native(native: list[ToolCall], reply: Reply, tools: Iterable[Any], policy: Policy) -> Extraction:
    """Validate native calls. The text is scanned only if there are none."""
    check_options(policy)
    known = toolset(tools)
    calls: list[ToolCall] = []
    decisions = list(reply.decisions)
    budget = Budget()
    for at, call in enumerate(native):
        verdict = validate_call(call, known, policy, position=at, budget=budget)
        decisions += verdict.decisions
        if verdict.call is not None:
            calls.append(verdict.call)
    return Extraction(calls, reply.text, reply.reasoning, decisions)


class StreamExtractor:
    """Takes text in pieces and returns events. Text is emitted at once, a call when it is complete and validated.

    `calls="pass"`: a call in a marked form is streamed while it is written, and its Close reports whether it is valid.

    Examples:
        >>> tools = [{"name": "now", "schema": {"type": "object"}}]
        >>> extractor = toolglot.StreamExtractor(tools)
        >>> pieces = ["It is <tool_", 'call>{"name": "now", ', '"arguments": {}}</tool_call>']
        >>> events = [event for piece in pieces for event in extractor.feed(piece)] + extractor.close()
        >>> [call.name for call in toolglot.fold(events).calls]
        ['now']
    """

    def __init__(
        self,
        tools: Iterable[Any] = (),
        *,
        messages: Iterable[Any] = (),
        dialect: str | Dialect = "auto",
        policy: Policy = "balanced",
        calls: Literal["hold", "pass"] = "hold",
        starts_in_reasoning: bool = False,
        nonce: str | None = None,
        weak_forms: bool = True,
    ) -> None:
        check_options(policy, calls)
        self._tools = toolset(tools)
        self._policy = policy
        self._named = dialect if isinstance(dialect, str) else dialect.name
        config = scanner_for(self._tools, dialect, policy, nonce, weak_forms=weak_forms)
        self._scanner = ToolCallScanner(config, starts_in_reasoning=starts_in_reasoning, stream_calls=calls == "pass")
        alone = not self._tools and nonce is None and policy != "strict" and dialect in ("auto", "call_expression")
        self._whole = WholeMessage() if alone and not starts_in_reasoning else None
        self._blocks = BlockBuilder()
        self._blocks.started = True  # this is a part of a stream: it has no Start
        self._events: list[Event] = []
        given = read_any_messages(messages) if messages and nonce is None else ()  # a nonce can't be copied from there
        self._provenance = Provenance(given, self._tools, dialect) if given and self._tools else None
        self._before = TextBefore()  # decides whether a call is quoted
        self._waiting: list[SettledPiece] = []  # from the first call on that the text behind it decides about
        self._waits_for_end = False  # all of that text decides, not only its beginning
        self._seen_behind = 0  # characters of it so far, without white space
        self._in_reasoning: list[CallFound] = []  # they count only if nothing follows
        self._call_keys: set[tuple[str, str]] = set()
        self._ids: set[str] = set()
        self._unverified = UnverifiedCalls(self._blocks, self._tools, self._ids)
        self._streams_region: bool | None = None  # whether calls of this region are streamed; None: undecided
        self._dialect: str | None = None
        self.whole_calls: dict[int, ToolCall] = {}  # by block; the response pipeline pops them
        self.reports_named = False  # report `rescued_text` for the named dialect too: no prompt asked for it
        self.budget = Budget()
        self.schemas: UnsupportedSchemas = "reject"
        self._text_only = False
        self._ended = False

    def feed(self, text: str) -> list[Event]:
        if not isinstance(text, str):
            raise CallerError(f"expected text, got {json_type(text)}; decode bytes with an incremental UTF-8 decoder", "feed")
        if self._ended:
            raise CallerError("the extractor is closed; create a new one for the next message", "feed")
        if self._text_only:
            self._blocks.text(text)
            return self._drain()
        if self._whole is not None:
            text = self._whole.feed(text)
        plain = None if self._waiting or self._in_reasoning else self._scanner.plain(text)
        if plain is None:
            for piece in self._scanner.feed(text):
                self._piece(piece)
        elif plain:
            self._before.add(plain)
            self._blocks.text(plain)
        return self._drain()

    def plain(self, text: str) -> str | None:
        """Fast path of `feed` while a block of text is open: what this text adds to it. None: use `feed`."""
        if self._waiting or self._in_reasoning or self._text_only or self._whole is not None:
            return None
        plain = self._scanner.plain(text)
        if plain:
            self._before.add(plain)
        return plain

    def add_reasoning(self, text: str) -> list[Event]:
        """Add reasoning that a provider sends separately from the text."""
        if text:
            self._blocks.reasoning(text)
        return self._drain()

    def stop_parsing(self, *, broken: bool = False) -> list[Event]:
        """Treat all further text, and all that is still undecided, as plain text. `broken`: the connection broke."""
        if not self._text_only:
            self._text_only = True
            buffered = self._whole.close()[1] if self._whole is not None else ""
            for piece in [*self._scanner.feed(buffered), *self._scanner.close()]:
                self._piece(piece)
            if not self._waits_for_end:
                self._resolve_waiting()
            waiting, self._waiting, self._whole = without_torn(self._waiting), [], None
            for piece in waiting:
                undecided = isinstance(piece, CallFound) and self._text_needed(piece) == "all"
                self._emit_piece(TextPiece(piece.text) if undecided else piece)
        return self._drain()

    def close(self) -> list[Event]:
        if not self._ended:
            self._ended = True
            if not self._text_only:
                if self._whole is not None:
                    self._whole_message(*self._whole.close())
                for piece in self._scanner.close():
                    self._piece(piece)
                self._resolve_waiting()
            for found in self._in_reasoning:
                self._validate_region(found)
            self._blocks.finish("stop")
        return self._drain()

    def _whole_message(self, parsed: RegionResult, text: str) -> None:
        found: list[Piece] = (
            [CallFound(text, parsed, "call_expression", True, False, True)] if parsed.calls else self._scanner.feed(text)
        )
        for piece in found:
            self._piece(piece)

    def result(self) -> Extraction:
        reply = fold(self._events)
        return Extraction(reply.calls, reply.text, reply.reasoning, list(reply.decisions), self._dialect)

    def _drain(self) -> list[Event]:
        events = self._blocks.take_events()
        self._events += events
        return events

    # -- pieces

    def _piece(self, piece: Piece) -> None:
        if isinstance(piece, CallDelta):
            if self._streams_region is None:
                self._streams_region = not self._waiting and self._may_stream()
            if self._streams_region and not self._waiting:
                self._unverified.feed(piece.steps, piece.dialect)
            return
        if isinstance(piece, Retracted):
            self._end_region()
            return
        if self._waiting and not self._waits_for_end:
            self._seen_behind += sum(map(len, piece.text.split())) if isinstance(piece, TextPiece) else SOME + 1
            if self._seen_behind > SOME:
                self._resolve_waiting(piece)
        if self._waiting:
            self._waiting.append(piece)
        elif isinstance(piece, CallFound) and (needed := self._waits_for(piece)) != "none":
            self._waiting, self._waits_for_end, self._seen_behind = [piece], needed == "all", 0
        else:
            self._emit_piece(piece)

    def _may_stream(self) -> bool:
        """Whether a marked form may be streamed here. What follows it is ignored then."""
        if self._policy == "eager":
            return True
        place = self._before.place()
        return place.fence is None and quoted_by_place(place) is None

    def _waits_for(self, piece: CallFound) -> Literal["none", "some", "all"]:
        """How much of the text behind the call shows whether it is one, and whether its values are whole."""
        return "all" if value_ends(piece) and not piece.in_reasoning else self._text_needed(piece)

    def _text_needed(self, piece: CallFound) -> Literal["none", "some", "all"]:
        """How much of the text behind the call shows whether it is meant or quoted."""
        if not piece.parsed.calls or piece.in_reasoning or self._policy == "eager" or self._streams_region:
            return "none"
        place = self._before.place()
        return "none" if quoted_by_place(place) is not None else needs_text_behind(place, self._form(piece))

    def _form(self, piece: CallFound) -> Form:
        trusted = piece.dialect == self._named
        return Form(piece.text, piece.weak, piece.parsed.entry, trusted=trusted, strict=self._policy == "strict")

    def _emit_piece(self, piece: SettledPiece, behind: tuple[str, bool] = ("", False)) -> None:
        if isinstance(piece, CallFound):
            if piece.in_reasoning:
                self._blocks.reasoning(piece.text)
                self._in_reasoning.append(piece)
            else:
                self._call_or_text(piece, *behind)
            return
        if self._in_reasoning and not piece.text.isspace():
            self._drop_reasoning_calls()
        if isinstance(piece, TextPiece):
            self._before.add(piece.text)
            self._blocks.text(piece.text)
        else:
            self._blocks.reasoning(piece.text)

    def _drop_reasoning_calls(self) -> None:
        names = ", ".join(call.name for found in self._in_reasoning for call in found.parsed.calls)
        self._decision("in_reasoning", f"{names}: in the reasoning, and more text follows: not a call")
        self._in_reasoning = []

    def _decision(self, code: str, message: str) -> None:
        self._blocks.decisions.append(Decision(code, message))

    # -- quoting

    def _resolve_waiting(self, *following: SettledPiece) -> None:
        """Decide about the calls that wait. `following`: the piece behind them."""
        waiting, self._waiting = without_torn(self._waiting), []
        for piece, behind in zip(waiting, _followers([*waiting, *following]), strict=False):
            self._emit_piece(piece, behind)

    def _call_or_text(self, piece: CallFound, after: str, more: bool) -> None:
        reason = self._quoted(piece, after, more) if piece.parsed.calls and self._policy != "eager" else None
        if reason is None:
            self._validate_region(piece)
            self._before.add_call()
            return
        self._decision("quoted", f"{', '.join(call.name for call in piece.parsed.calls)}: {reason}")
        self._before.add(piece.text)
        self._blocks.text(piece.text)

    def _quoted(self, piece: CallFound, after: str, more: bool) -> str | None:
        """The reason if the call is quoted. `after`: the text behind it. `more`: whether further calls follow."""
        place, after = self._before.place(), self._scanner.after_closer(after)
        alone = place.first and not after.strip()
        if piece.weak and not self._tools and (more or not alone):
            return "no tools are registered, and it is not the whole message"
        if piece.weak and not alone and any("unquoted_value" in call.fixes for call in piece.parsed.calls):
            return "its arguments are variable names, as in code"
        return quoted_by_place(place) if self._streams_region else quoted_reason(place, self._form(piece), after)

    # -- validation

    def _validate_region(self, found: CallFound) -> None:
        parsed = found.parsed
        if parsed.problem and not parsed.calls:
            self._blocks.decisions.append(reject_malformed(parsed.problem, found.text, found.dialect))
        verdicts = [self._verdict(call, found, number) for number, call in enumerate(parsed.calls)]
        streamed = [self._unverified.pop(at, call.name) if found.streamed else None for at, call in enumerate(parsed.calls)]
        for begun, verdict in zip(streamed, verdicts, strict=True):
            if begun is not None:
                self._finish_streamed(begun, verdict, found)
            else:
                self._call(verdict, found)
        self._end_region()
        if not found.in_reasoning:  # reasoning has its text already
            is_text = not any(streamed) and all(map(_from_input, verdicts))
            self._blocks.text(found.text if is_text else parsed.rest)

    def _end_region(self) -> None:
        if self._streams_region:
            self._unverified.retract()
        self._streams_region = None

    def _verdict(self, parsed: ParsedCall, found: CallFound, number: int) -> Verdict:
        position = self._blocks.calls if found.streamed else self._blocks.calls + number
        verdict = validate_call(
            parsed,
            self._tools,
            self._policy,
            source=found.dialect,
            position=position,
            budget=self.budget,
            schemas=self.schemas,
        )
        if verdict.call is None or self._provenance is None:
            return verdict
        as_block = not found.weak and (found.in_reasoning or self._before.place().starts_line)
        source = self._provenance.source(verdict.call, parsed.raw or found.text, as_block=as_block)
        if source is None:
            return verdict
        why = f"{verdict.call.full_name}: the same call stands in {source}, so it counts as quoted"
        return Verdict(None, (Decision(QUOTED_INPUT, why, verdict.call),))

    def _call(self, verdict: Verdict, found: CallFound) -> None:
        self._blocks.decisions.extend(verdict.decisions)
        call = verdict.call
        if call is None:
            return
        key = call_key(call)
        if key in self._call_keys:
            self._decision("duplicate_call", f"{call.name}: the same call appears twice in one text")
            return
        call_id = call.id if call.id and call.id not in self._ids else f"{call.name}_{self._blocks.calls}"
        self._ids.add(call_id)
        self._call_keys.add(key)
        self._blocks.decisions.extend(self._rescued(call.name, found.dialect))
        call = call if call.id == call_id else msgspec.structs.replace(call, id=call_id)
        self.whole_calls[self._blocks.part(call)] = call

    def _finish_streamed(self, streamed: UnverifiedCall, verdict: Verdict, found: CallFound) -> None:
        """Finish a call that was streamed."""
        key = call_key(verdict.call) if verdict.call is not None else None
        if key in self._call_keys:
            self._unverified.finish_duplicate(streamed)
        elif self._unverified.finish(streamed, verdict, self._rescued(streamed.call.name, found.dialect)) and key is not None:
            self._call_keys.add(key)

    def _rescued(self, name: str, dialect: str) -> tuple[Decision, ...]:
        self._dialect = self._dialect or dialect
        if self._named == dialect and not self.reports_named:
            return ()
        return (Decision("rescued_text", f"{name}: read from text written as {dialect}"),)


def _from_input(verdict: Verdict) -> bool:
    return any(decision.code == QUOTED_INPUT for decision in verdict.decisions)


def _followers(pieces: list[SettledPiece]) -> list[tuple[str, bool]]:
    """For each piece: the beginning of the text behind it, and whether calls follow."""
    found: list[tuple[str, bool]] = []
    after, more = "", False
    for piece in reversed(pieces):
        found.append((after, more))
        if isinstance(piece, TextPiece):
            after = (piece.text + after)[:SEEN]
        more = more or isinstance(piece, CallFound)
    return found[::-1]


def toolset(tools: Iterable[Any]) -> Toolset:
    """Tools in any format as a Toolset, which caches what is derived from it. The same tools give the same Toolset."""
    if isinstance(tools, Toolset):
        return tools
    read = read_any_tools(tools)
    return _cached_toolset(encode(read))


_TOOLS = msgspec.json.Decoder(tuple[Tool, ...])


@lru_cache(64)
def _cached_toolset(encoded: bytes) -> Toolset:
    return Toolset(_TOOLS.decode(encoded))
