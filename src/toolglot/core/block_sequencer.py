"""Interleaved blocks made sequential, for wires that allow one open block at a time."""

from __future__ import annotations

from toolglot.core.events import Close, Delta, Event, Open


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
