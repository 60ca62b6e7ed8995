"""Writing a stream: the part that all wires share. A wire's writer has one method per event."""

from __future__ import annotations

from abc import ABC, abstractmethod

from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.interfaces import ResponseContext


class EventWriter(ABC):
    """A Writer. Every stream begins with `on_start`, also where no Start event came."""

    def __init__(self, context: ResponseContext, notes: list[str]) -> None:
        self._context = context
        self._notes = notes
        self._started = False

    def feed(self, event: Event) -> bytes:
        if type(event) is Delta:
            return self.on_delta(event.index, event.text)
        begin = b""
        if not self._started:
            self._started = True
            begin = self.on_start(event if isinstance(event, Start) else Start())
        match event:
            case Open():
                return begin + self.on_open(event)
            case Close():
                return self.on_close(event)
            case Finish():
                return begin + self.on_finish(event)
            case Fault():
                return begin + self.on_error(event)
        return begin

    def close(self) -> bytes:
        return b""

    @abstractmethod
    def on_start(self, event: Start) -> bytes: ...
    @abstractmethod
    def on_open(self, event: Open) -> bytes: ...
    @abstractmethod
    def on_delta(self, index: int, text: str) -> bytes: ...
    @abstractmethod
    def on_close(self, event: Close) -> bytes: ...
    @abstractmethod
    def on_finish(self, event: Finish) -> bytes: ...
    @abstractmethod
    def on_error(self, event: Fault) -> bytes: ...


class BlockSequencer:
    """A Stage. The block opened first is emitted; blocks opened meanwhile wait, in the order they were opened."""

    def __init__(self) -> None:
        self.current: int | None = None  # the block that is emitted
        self._waiting: dict[int, list[Event]] = {}

    def feed(self, event: Event) -> list[Event]:
        if not isinstance(event, (Open, Delta, Close)):
            return [*self.close(), event]
        if self.current is None:
            self.current = event.index
        if event.index != self.current:
            self._waiting.setdefault(event.index, []).append(event)
            return []
        if isinstance(event, Close):
            self.current = None
            return [event, *self._advance()]
        return [event]

    def close(self) -> list[Event]:
        """The events that still wait: none, if every block was closed."""
        rest = [event for events in self._waiting.values() for event in events]
        self._waiting, self.current = {}, None
        return rest

    def _advance(self) -> list[Event]:
        """The next blocks: complete ones are emitted as a whole, the first open one becomes current."""
        released: list[Event] = []
        while self._waiting:
            index = next(iter(self._waiting))
            events = self._waiting.pop(index)
            released += events
            if not isinstance(events[-1], Close):
                self.current = index
                break
        return released


class SequentialWriter(EventWriter):
    """For wires that allow one open block at a time: blocks that interleave leave one after another, as they were opened."""

    def __init__(self, context: ResponseContext, notes: list[str]) -> None:
        super().__init__(context, notes)
        self._sequence = BlockSequencer()

    def feed(self, event: Event) -> bytes:
        if type(event) is Delta and event.index == self._sequence.current:
            return self.on_delta(event.index, event.text)
        return b"".join(map(super().feed, self._sequence.feed(event)))

    def close(self) -> bytes:
        return b"".join(map(super().feed, self._sequence.close()))
