"""The text of an answer, heard: a provider's text blocks go in, and text, thoughts and calls come out, in blocks of ours.

What a block of the provider's carries besides its words (an id, citations) stays with the text that came of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from toolglot.core.events import Close, Delta, Event, Finish, Open
from toolglot.core.fold import join_extra
from toolglot.core.messages import Extra, ToolCall
from toolglot.core.reply import Decision
from toolglot.pipeline.guard_calls import canonical, refused

_PROSE = (None, "text")  # the channels that calls may be written on; structured output and refusals are what they are


class Listener(Protocol):
    """What StreamExtractor and ConstrainedExtractor have in common."""

    def feed(self, text: str, /) -> list[Event]: ...
    def deafen(self) -> list[Event]: ...
    def close(self) -> list[Event]: ...


class _Block(msgspec.Struct):
    """A block of the listener's."""

    opened: Open
    index: int | None  # outside; None: not open there
    pieces: list[str]  # of a call
    muted: str | None = None  # why the call does not leave


class HeardText:
    """`take_index` numbers blocks, `name_call` gives a call its tool's name and its id, `forbids` says why it may not be made.

    `unasked` is a dialect that the listener takes for granted though nobody asked for it: its calls are rescued ones.
    """

    def __init__(
        self,
        ear: Listener,
        take_index: Callable[[], int],
        name_call: Callable[[Open, str], Open],
        forbids: Callable[[Open], str | None],
        unasked: str | None,
    ) -> None:
        self._ear = ear
        self._take_index, self._name_call, self._forbids = take_index, name_call, forbids
        self._unasked = unasked
        self._here: set[int] = set()  # the provider's text blocks that are open
        self._blocks: dict[int, _Block] = {}
        self._text: _Block | None = None  # the listener's text block that is open
        self._channel: str | None = None
        self._extra: Extra = {}  # of the provider's block, until a block of ours takes it
        self._ending: Close | None = None  # the provider's block has ended; ours ends once nothing more can come of it
        self._heard = 0
        self.calls = 0  # that left
        self.cut = False
        self.decisions: list[Decision] = []
        self.called: set[tuple[str, str]] = set()

    # -- the provider's blocks

    def takes(self, event: Open) -> bool:
        return event.channel in _PROSE

    def open(self, event: Open, out: list[Event]) -> None:
        self.rest(out)
        self._here.add(event.index)
        self._channel = event.channel
        if event.extra:
            self._extra = join_extra(self._extra, event.extra)

    def delta(self, event: Delta, out: list[Event]) -> bool:
        """Whether it was for one of these blocks."""
        if event.index not in self._here:
            return False
        self._say(self._ear.feed(event.text), out)
        return True

    def close(self, event: Close, out: list[Event]) -> bool:
        """Whether it was one of these."""
        if event.index not in self._here:
            return False
        self.rest(out)
        self._here.discard(event.index)
        self._ending = event
        return True

    def rest(self, out: list[Event]) -> None:
        """Another block begins: the one that has ended is closed, with what its end told."""
        end, self._ending = self._ending, None
        if end is None:
            return
        extra = join_extra(self._extra, end.extra)
        block = self._text
        if block is not None and block.index is not None:
            out.append(Close(block.index, end.sealed, end.decisions, extra))
            block.index, self._extra = None, {}
        else:
            self._extra = extra
            self.decisions += end.decisions

    def deafen(self, out: list[Event]) -> None:
        """Calls come natively: the model speaks the server's language, and what its text looks like is text."""
        self._say(self._ear.deafen(), out)
        self.rest(out)

    def end(self, out: list[Event], *, broken: bool) -> None:
        """`broken`: the line broke, so that what is undecided stays text."""
        if broken:
            self._say(self._ear.deafen(), out)
        self._say(self._ear.close(), out)
        self.rest(out)
        if self._extra:  # nothing came of the block that had it
            index = self._take_index()
            out += [Open(index, "text", channel=self._channel, extra=self._extra), Close(index)]

    # -- what the listener says

    def _say(self, events: list[Event], out: list[Event]) -> None:
        for event in events:
            if type(event) is Delta:
                block = self._blocks[event.index]
                if block.index is None or block.opened.kind == "call":
                    self._said(block, event.text, out)
                else:
                    out.append(Delta(block.index, event.text))
            elif isinstance(event, Open):
                self._begin(event, out)
            elif isinstance(event, Close):
                self._stop(self._blocks.pop(event.index), event, out)
            elif isinstance(event, Finish):
                self.decisions += event.decisions
                self.cut = self.cut or any(decision.code == "rejected_truncated" for decision in self.decisions)

    def _begin(self, event: Open, out: list[Event]) -> None:
        block = self._blocks[event.index] = _Block(event, None, [])
        if event.kind == "text":
            self._text = block
            return
        if event.kind == "call":
            block.opened = self._name_call(event, f"{event.name}_{self._heard}")
            block.muted = self._forbids(block.opened)
            self._heard += 1
            if block.muted is not None:
                return
            self.calls += 1
        block.index = self._take_index()
        out.append(msgspec.structs.replace(block.opened, index=block.index))

    def _said(self, block: _Block, text: str, out: list[Event]) -> None:
        if block.opened.kind == "call":
            block.pieces.append(text)
            if block.muted is not None:
                return
        if block.index is None:
            block.index = self._take_index()
            channel = block.opened.channel or self._channel
            out.append(Open(block.index, "text", channel=channel, extra=self._extra))
            self._extra = {}
        out.append(Delta(block.index, text))

    def _stop(self, block: _Block, event: Close, out: list[Event]) -> None:
        opened = block.opened
        if opened.kind == "call":
            self._end_call(block, event, out)
        elif block.index is not None:
            if opened.kind == "text" and self._ending is not None:
                self.rest(out)
            else:
                out.append(msgspec.structs.replace(event, index=block.index))
        if self._text is block:
            self._text = None

    def _end_call(self, block: _Block, event: Close, out: list[Event]) -> None:
        opened = block.opened
        call = ToolCall(
            opened.call_id or "",
            opened.name or "",
            "".join(block.pieces),
            opened.namespace,
            opened.custom,
            event.sealed,
            opened.source,
            event.written,
            event.fixes,
        )
        if block.muted is not None:
            if event.sealed:  # else the listener has refused it already
                self.decisions.append(refused(call, "rejected_choice", block.muted))
            else:
                self.decisions += event.decisions
            return
        if event.sealed:
            self.called.add(canonical(call))
            if opened.source == self._unasked:
                self.decisions.append(Decision("rescued_text", f"{call.full_name}: read from text written as {opened.source}"))
        else:
            self.calls -= 1
        out.append(msgspec.structs.replace(event, index=block.index or 0))
