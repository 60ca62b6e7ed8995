"""First stage of a response: a provider's text blocks go in; text, reasoning and the calls written in them come out.

Extra data of a provider's block (an id, citations) stays with the text of that block.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, StageEvent, WholeCall
from toolglot.core.fold import merge_extra
from toolglot.core.messages import Extra, ToolCall
from toolglot.core.reply import Decision

_PROSE = (None, "text")  # channels to scan for calls; not structured output or refusals


class Extractor(Protocol):
    """The interface of StreamExtractor and ConstrainedExtractor."""

    whole_calls: dict[int, ToolCall]

    def feed(self, text: str, /) -> list[Event]: ...
    def plain(self, text: str, /) -> str | None: ...
    def stop_parsing(self, *, broken: bool = False) -> list[Event]: ...
    def close(self) -> list[Event]: ...


class _Block(msgspec.Struct):
    """A block from the extractor."""

    opened: Open
    index: int | None  # in our numbering; None: not opened, because it is still empty


class TextBlockExtractor:
    """Renumbers all blocks. After the first native call, text is not scanned: the model uses native tool calls."""

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor
        self._next = 0
        self._passed: dict[int, int] = {}  # the provider's other blocks -> ours
        self._texts: set[int] = set()  # the provider's text blocks that are open
        self._blocks: dict[int, _Block] = {}
        self._text: _Block | None = None  # the extractor's text block that is open
        self._channel: str | None = None
        self._extra: Extra = {}  # of the provider's block, until it is attached to one of ours
        self._ending: Close | None = None  # of the provider's block; ours is closed when the extractor has no more text for it
        self._decisions: list[Decision] = []

    def scans(self, index: int) -> bool:
        """Whether the provider's block is text that is searched for calls."""
        return index in self._texts

    def feed(self, events: Sequence[StageEvent]) -> list[StageEvent]:
        out: list[StageEvent] = []
        for event in events:
            if type(event) is Delta:
                if event.index not in self._texts:
                    out.append(Delta(self._passed[event.index], event.text))
                    continue
                index = self._text.index if self._text is not None else None
                plain = self._extractor.plain(event.text) if index is not None else None
                if index is None or plain is None:
                    self._emit(self._extractor.feed(event.text), out)
                elif plain:
                    out.append(Delta(index, plain))
            elif isinstance(event, Open):
                self._open(event, out)
            elif isinstance(event, Close):
                self._close(event, out)
            elif isinstance(event, Finish | Fault):
                self._end(out, broken=isinstance(event, Fault))
                decisions = (*event.decisions, *self._decisions)
                out.append(msgspec.structs.replace(event, decisions=decisions) if self._decisions else event)
            else:
                out.append(event)
        return out

    # -- the provider's blocks

    def _open(self, event: Open, out: list[StageEvent]) -> None:
        if event.kind == "call":
            self._emit(self._extractor.stop_parsing(), out)
        self._end_text(out)
        if event.kind == "text" and event.channel in _PROSE:
            self._texts.add(event.index)
            self._channel = event.channel
            self._extra = merge_extra(self._extra, event.extra)
        else:
            self._passed[event.index] = index = self._take_index()
            out.append(event if index == event.index else msgspec.structs.replace(event, index=index))

    def _close(self, event: Close, out: list[StageEvent]) -> None:
        if event.index in self._texts:
            self._end_text(out)
            self._texts.discard(event.index)
            self._ending = event
        else:
            out.append(msgspec.structs.replace(event, index=self._passed.pop(event.index)))

    def _end_text(self, out: list[StageEvent]) -> None:
        """Close our text block with the data of the provider's Close."""
        end, self._ending = self._ending, None
        if end is None:
            return
        extra = merge_extra(self._extra, end.extra)
        block = self._text
        if block is not None and block.index is not None:
            out.append(Close(block.index, end.sealed, end.decisions, extra))
            block.index, self._extra = None, {}
        else:
            self._extra = extra
            self._decisions += end.decisions

    def _end(self, out: list[StageEvent], *, broken: bool) -> None:
        """`broken`: the connection broke, so undecided text stays text."""
        if broken:
            self._emit(self._extractor.stop_parsing(broken=True), out)
        self._emit(self._extractor.close(), out)
        self._end_text(out)
        if self._extra:  # its block had no text
            index = self._take_index()
            out += [Open(index, "text", channel=self._channel, extra=self._extra), Close(index)]

    def _take_index(self) -> int:
        self._next += 1
        return self._next - 1

    # -- the extractor's blocks

    def _emit(self, events: list[Event], out: list[StageEvent]) -> None:
        for event in events:
            if type(event) is Delta:
                block = self._blocks.get(event.index)
                if block is not None:
                    index = self._open_text(block, out) if block.index is None else block.index
                    out.append(event if index == event.index else Delta(index, event.text))
            elif isinstance(event, Open):
                self._begin(event, out)
            elif isinstance(event, Close):
                self._stop(event, out)
            elif isinstance(event, Finish):
                self._decisions += event.decisions

    def _begin(self, event: Open, out: list[StageEvent]) -> None:
        call = self._extractor.whole_calls.pop(event.index, None)
        if call is not None:  # its Delta and Close are skipped
            out.append(WholeCall(self._take_index(), call))
            return
        block = self._blocks[event.index] = _Block(event, None)
        if event.kind == "text":
            self._text = block  # opened by its first text, with the extra data of the provider's block
        else:
            block.index = self._take_index()
            out.append(msgspec.structs.replace(event, index=block.index))

    def _open_text(self, block: _Block, out: list[StageEvent]) -> int:
        block.index = self._take_index()
        channel = block.opened.channel or self._channel
        out.append(Open(block.index, "text", channel=channel, extra=self._extra))
        self._extra = {}
        return block.index

    def _stop(self, event: Close, out: list[StageEvent]) -> None:
        block = self._blocks.pop(event.index, None)
        if block is None:
            return
        if block.opened.kind == "text" and self._ending is not None and block.index is not None:
            self._end_text(out)
        elif block.index is not None:
            out.append(msgspec.structs.replace(event, index=block.index))
        if self._text is block:
            self._text = None
