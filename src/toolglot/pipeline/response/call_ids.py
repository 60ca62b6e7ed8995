"""Stage that makes call ids unique. A provider's id is kept; an id that only numbers the calls of a reply is replaced."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from toolglot.core.events import Open, StageEvent, WholeCall

# The id of a call that was read from text. The client sends it back, so the conversation shows how the model wrote its calls.
TEXT_ID_START = "call_t"
TEXT_ID = re.compile(TEXT_ID_START + r"[0-9a-f]{23}(?:_\d+)?")


class AssignIds:
    """`make_id` creates an id. Without it numbered ids stay, and repeated ids get a suffix."""

    def __init__(self, make_id: Callable[[], str] | None) -> None:
        self._make_id = make_id
        self._ids: set[str] = set()
        self._counts = {True: 0, False: 0}  # native calls and those from text are numbered separately

    def feed(self, events: list[StageEvent]) -> list[StageEvent]:
        for at, event in enumerate(events):
            if type(event) is Open:
                if event.kind == "call":
                    events[at] = self._opened(event)
            elif type(event) is WholeCall:
                call = event.call
                call_id = self._unique(call.id, call.name, call.source)
                if call_id != call.id:
                    events[at] = msgspec.structs.replace(event, call=msgspec.structs.replace(call, id=call_id))
        return events

    def _opened(self, event: Open) -> Open:
        call_id = self._unique(event.call_id or "", event.name or "", event.source)
        return event if call_id == event.call_id else msgspec.structs.replace(event, call_id=call_id)

    def _unique(self, call_id: str, name: str, source: str) -> str:
        native = source == "native"
        numbered = f"{name}_{self._counts[native]}"
        self._counts[native] += 1
        first = call_id or numbered
        unique = self._made(native) if self._make_id is not None and first == numbered else first
        suffix = 0
        while unique in self._ids:
            suffix += 1
            unique = self._made(native) if self._make_id is not None else f"{first}_{suffix}"
        self._ids.add(unique)
        return unique

    def _made(self, native: bool) -> str:
        made = self._make_id() if self._make_id is not None else ""
        as_text = f"{made[:5]}t{made[6:]}"
        return as_text if not native and TEXT_ID.fullmatch(as_text) else made
