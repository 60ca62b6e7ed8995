"""The order of events, as a table. Everything that decides whether a stream is legal is here."""

from __future__ import annotations

from collections.abc import Iterable

from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start

# state -> the allowed events, and the state after each. Open blocks are tracked separately.
TABLE: dict[str, dict[type[Event], str]] = {
    "new": {Start: "running", Open: "running", Finish: "ended", Fault: "ended"},
    "running": {Open: "running", Delta: "running", Close: "running", Finish: "ended", Fault: "ended"},
    "ended": {},
}


class OrderChecker:
    """Takes every event; returns what is wrong with it, or None."""

    def __init__(self) -> None:
        self.state = "new"
        self._open: set[int] = set()
        self._seen = 0

    def feed(self, event: Event) -> str | None:
        after = TABLE[self.state].get(type(event))
        if after is None:
            return f"{type(event).__name__} can't come in state {self.state}"
        self.state = after
        if isinstance(event, Open):
            if event.index != self._seen:
                return f"block {event.index} opened, {self._seen} was expected"
            self._seen += 1
            self._open.add(event.index)
        elif isinstance(event, (Delta, Close)):
            if event.index not in self._open:
                return f"{type(event).__name__} for block {event.index}, which is not open"
            if isinstance(event, Close):
                self._open.discard(event.index)
        elif isinstance(event, (Finish, Fault)) and self._open:
            return f"the stream ended with open blocks {sorted(self._open)}"
        return None


def first_order_error(events: Iterable[Event], *, ended: bool = True) -> str | None:
    """The first error in a stream's order, or None. `ended`: it must be complete."""
    order = OrderChecker()
    for event in events:
        problem = order.feed(event)
        if problem:
            return problem
    if ended and order.state != "ended":
        return "the stream has no Finish and no Fault"
    return None
