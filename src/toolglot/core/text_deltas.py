"""The text of a stream, without reasoning, calls and everything else."""

from __future__ import annotations

from toolglot.core.events import Close, Delta, Event, Fault, Open, Start
from toolglot.errors import UpstreamError


class TextDeltas:
    """Feed it all events in order. `error` is why the stream ended early, if it did."""

    def __init__(self) -> None:
        self.error: UpstreamError | None = None
        self._open: set[int] = set()  # the text blocks

    def feed(self, event: Event | object) -> str:
        """The text of the event; empty if it has none."""
        if isinstance(event, Delta):
            return event.text if event.index in self._open else ""
        if isinstance(event, Open):
            if event.kind == "text":
                self._open.add(event.index)
        elif isinstance(event, Close):
            self._open.discard(event.index)
        elif isinstance(event, Start):  # of the next turn, which counts its blocks from 0
            self._open.clear()
        elif isinstance(event, Fault):
            self.error = event.error
        return ""
