"""Which call a delta belongs to. Ids and indexes may be missing, repeated, or lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolglot.reading.blocks import Blocks
from toolglot.reading.open_call import OpenCall
from toolglot.text.json_text import dumps, dumps_anyhow, shown
from toolglot.wires.openai_chat.shapes import WIRE

Body = dict[str, Any]

_CALL_KEYS = frozenset({"id", "index", "type", "function", "custom"})
_FLAT_KEYS = _CALL_KEYS | {"name", "arguments", "input"}
_CUSTOM_HEAD, _CUSTOM_TAIL = '{"input":"', '"}'


class Calls:
    """A delta goes by its id, then by its index, then to the last call."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._all: list[OpenCall] = []
        self._by_id: dict[str, OpenCall] = {}
        self._by_index: dict[int, OpenCall] = {}
        self._shared: set[str] = set()  # ids that a server gave to several calls: they tell nothing
        self._at_once: set[OpenCall] = set()  # calls that came whole in one delta
        self._custom: set[OpenCall] = set()
        self._unnamed: dict[int | None, list[Body]] = {}  # deltas of a call whose name has not come yet
        blocks.at_end.append(self._give_unnamed)

    def take(self, held: object) -> None:
        if not isinstance(held, dict):
            self._blocks.malformed("an entry of tool_calls is no object", held)
            return
        function = _function(held)
        call_id, name, index = _word(held.get("id")), _word(function.get("name")), held.get("index")
        index = index if isinstance(index, int) else None
        if self._shared and call_id in self._shared:
            call_id = None
        call = self._target(call_id, index, name, says=bool(function.get("arguments")))
        opens = call is None
        if call is None:
            if name is None:
                self._unnamed.setdefault(index, []).append(held)
                return
            early = self._unnamed.pop(index, []) if self._unnamed else []
            call = self._open(name, call_id or _id_in(early), index, custom=function is held.get("custom"))
            for delta in early:
                self._pour(call, delta, _function(delta))
        self._pour(call, held, function)
        if opens and call.whole:
            self._at_once.add(call)

    def feeder(self, index: int) -> Callable[[str], None] | None:
        """What takes further arguments of the call at this place, and nothing else."""
        call = self._by_index.get(index)
        return call.feed if call is not None and call.open and call not in self._custom else None

    def _target(self, call_id: str | None, index: int | None, name: str | None, *, says: bool) -> OpenCall | None:
        """The call that a delta goes on with, or None: it begins one. `says`: it has arguments."""
        if call_id is not None:
            known = self._by_id.get(call_id)
            if known is not None:
                return None if name is not None and self._differs(known, index, name) else known
            if name is not None:
                return None
            # an id that changes with every delta, as some servers make it, begins no call unless a name comes too
        known = self._by_index.get(index) if index is not None else self._last
        if known is None or name is None:
            return known
        if name != known.name:
            return None if known.whole or not known.begun or index is None else known
        if index is None:  # a name again: in the midst of the arguments a repeat, else the next call
            return known if known.begun and not known.whole else None
        return None if known.whole and says else known

    @property
    def _last(self) -> OpenCall | None:
        return self._all[-1] if self._all else None

    def _differs(self, known: OpenCall, index: int | None, name: str) -> bool:
        """The same id, but another place, or another tool once the first call is whole."""
        if index is not None and index not in self._by_index:
            return known in self._by_index.values()
        return name != known.name and known.whole

    def _open(self, name: str, call_id: str | None, index: int | None, *, custom: bool) -> OpenCall:
        # A call that streamed to its end is closed. One that came at once waits: Gemini's signature may follow it.
        for earlier in self._all:
            if earlier.open and earlier.whole and earlier not in self._at_once:
                earlier.close()
        if call_id is not None and call_id in self._by_id:
            self._shared.add(call_id)
            call_id = None
        call = OpenCall(self._blocks, name, call_id, custom=custom)
        self._all.append(call)
        if custom:
            self._custom.add(call)
            call.feed(_CUSTOM_HEAD)
        if call_id is not None:
            self._by_id[call_id] = call
        if index is not None:
            self._by_index[index] = call
        return call

    def _pour(self, call: OpenCall, held: Body, function: Body) -> None:
        text = _custom_text(function) if call in self._custom else _arguments_text(function)
        known = _FLAT_KEYS if function is held else _CALL_KEYS
        more: Body = {}
        if not known.issuperset(held):
            more = {key: value for key, value in held.items() if key not in known and value is not None}
        if not call.open:
            if text or more:
                self._blocks.notes.append(f"call {call.name}: what came after its end was left out: {text or shown(more)}")
            return
        call.feed(text)
        if more:
            call.state({WIRE: more})

    def close(self, *, cut: bool) -> None:
        """The end of all. `cut`: the reply was, so of a free text nobody can say whether it is whole."""
        for call in self._all:
            if call not in self._custom:
                call.close()
            elif call.open and not cut:
                call.feed(_CUSTOM_TAIL)
                call.close()

    def _give_unnamed(self) -> None:
        for deltas in self._unnamed.values():
            text = "".join(_arguments_text(_function(delta)) for delta in deltas)
            self._blocks.malformed("a call came without a name", text or deltas[0])
        self._unnamed = {}


def _function(held: Body) -> Body:
    """Where the name and the arguments are: nested, or in the delta itself."""
    inner = held.get("function") or held.get("custom")
    return inner if isinstance(inner, dict) else held


def _arguments_text(function: Body) -> str:
    value = function.get("arguments")
    if isinstance(value, str):
        return value
    return "" if value is None else dumps_anyhow(value)


def _custom_text(function: Body) -> str:
    """A piece of a custom call's free text, as a piece of a JSON string."""
    value = function.get("input")
    if value is None:
        return ""
    return dumps(value if isinstance(value, str) else dumps(value))[1:-1]


def _word(value: object) -> str | None:
    if type(value) is str:
        return value if value and value != "null" else None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return None


def _id_in(deltas: list[Body]) -> str | None:
    return next((found for delta in deltas if (found := _word(delta.get("id")))), None)
