"""Which call a delta belongs to. Ids and indexes may be missing, repeated or wrong."""

from __future__ import annotations

from collections.abc import Callable

from toolglot.io.block_builder import BlockBuilder
from toolglot.io.json_codec import dumps, dumps_or_placeholder, preview
from toolglot.io.reply_values import identifier
from toolglot.io.request_validation import Body
from toolglot.io.streamed_call import StreamedCall
from toolglot.wires.openai_chat.shapes import WIRE

_CALL_KEYS = frozenset({"id", "index", "type", "function", "custom"})
_FLAT_KEYS = _CALL_KEYS | {"name", "arguments", "input"}
_MAX_STREAMING = 64  # calls at once; older ones are closed at the end of the reply
_CUSTOM_HEAD, _CUSTOM_TAIL = '{"input":"', '"}'


class Calls:
    """A delta is matched by its id, then by its index, then to the last call."""

    def __init__(self, blocks: BlockBuilder) -> None:
        self._blocks = blocks
        self._all: list[StreamedCall] = []
        self._streaming: list[StreamedCall] = []  # those that are not complete
        self._by_id: dict[str, StreamedCall] = {}
        self._by_index: dict[int, StreamedCall] = {}
        self._shared: set[str] = set()  # ids that a server gave to several calls: not usable
        self._at_once: set[StreamedCall] = set()  # calls that came complete in one delta
        self._custom: set[StreamedCall] = set()
        self._unnamed: dict[int | None, list[Body]] = {}  # deltas of a call whose name has not come yet
        blocks.at_end.append(self._report_unnamed)

    def take(self, obj: object) -> None:
        if not isinstance(obj, dict):
            self._blocks.malformed("an entry of tool_calls is not an object", obj)
            return
        function = _function(obj)
        call_id, name, index = identifier(obj.get("id")), identifier(function.get("name")), obj.get("index")
        index = index if isinstance(index, int) else None
        if self._shared and call_id in self._shared:
            call_id = None
        call = self._target(call_id, index, name, has_arguments=bool(function.get("arguments")))
        opens = call is None
        if call is None:
            if name is None:
                self._unnamed.setdefault(index, []).append(obj)
                return
            early = self._unnamed.pop(index, []) if self._unnamed else []
            call = self._open(name, call_id or _id_in(early), index, custom=function is obj.get("custom"))
            for delta in early:
                self._add(call, delta, _function(delta))
        self._add(call, obj, function)
        if opens and call.whole:
            self._at_once.add(call)

    def feeder(self, index: int) -> Callable[[str], None] | None:
        """The function that takes more arguments of the call at this index, if it needs nothing else."""
        call = self._by_index.get(index)
        return call.feed if call is not None and call.open and call not in self._custom else None

    def _target(self, call_id: str | None, index: int | None, name: str | None, *, has_arguments: bool) -> StreamedCall | None:
        """The call that a delta continues; None: it begins one. `has_arguments`: of the delta."""
        if call_id is not None:
            known = self._by_id.get(call_id)
            if known is not None:
                return None if name is not None and self._differs(known, index, name) else known
            if name is not None:
                return None
            # some servers change the id with every delta: that begins a call only if a name comes too
        known = self._by_index.get(index) if index is not None else self._last
        if known is None or name is None:
            return known
        if name != known.name:
            return None if known.whole or not known.begun or index is None else known
        if index is None:  # the name again: inside the arguments a repeat, otherwise the next call
            return known if known.begun and not known.whole else None
        return None if known.whole and has_arguments else known

    @property
    def _last(self) -> StreamedCall | None:
        return self._all[-1] if self._all else None

    def _differs(self, known: StreamedCall, index: int | None, name: str) -> bool:
        """The same id, but another index, or another tool after the first call is complete."""
        if index is not None and index not in self._by_index:
            return known in self._by_index.values()
        return name != known.name and known.whole

    def _open(self, name: str, call_id: str | None, index: int | None, *, custom: bool) -> StreamedCall:
        # A call that streamed to its end is closed. One that came in one delta stays open: Gemini's signature may follow it.
        for earlier in self._streaming:
            if earlier.whole and earlier not in self._at_once:
                earlier.close()
        self._streaming = [earlier for earlier in self._streaming if earlier.open and earlier not in self._at_once]
        self._streaming = self._streaming[-_MAX_STREAMING:]
        call = StreamedCall(self._blocks, name, call_id, custom=custom)
        if call_id is not None and call_id in self._by_id:
            self._shared.add(call_id)
            call_id = None
        self._all.append(call)
        self._streaming.append(call)
        if custom:
            self._custom.add(call)
            call.feed(_CUSTOM_HEAD)
        if call_id is not None:
            self._by_id[call_id] = call
        if index is not None:
            self._by_index[index] = call
        return call

    def _add(self, call: StreamedCall, obj: Body, function: Body) -> None:
        text = _custom_text(function) if call in self._custom else _arguments_text(function)
        known = _FLAT_KEYS if function is obj else _CALL_KEYS
        more: Body = {}
        if not known.issuperset(obj):
            more = {key: value for key, value in obj.items() if key not in known and value is not None}
        if not call.open:
            if text or more:
                self._blocks.notes.append(f"call {call.name}: what came after its end was left out: {text or preview(more)}")
            return
        call.feed(text)
        if more:
            call.add_extra({WIRE: more})

    def close(self, *, cut: bool) -> None:
        """Closes all calls. `cut`: the reply was cut short, so a custom call's text may be incomplete."""
        for call in self._all:
            if call not in self._custom:
                call.close()
            elif call.open and not cut:
                call.feed(_CUSTOM_TAIL)
                call.close()

    def _report_unnamed(self) -> None:
        for deltas in self._unnamed.values():
            text = "".join(_arguments_text(_function(delta)) for delta in deltas)
            self._blocks.malformed("a call came without a name", text or deltas[0])
        self._unnamed = {}


def _function(obj: Body) -> Body:
    """The object with the name and the arguments: nested, or the delta itself."""
    inner = obj.get("function") or obj.get("custom")
    return inner if isinstance(inner, dict) else obj


def _arguments_text(function: Body) -> str:
    value = function.get("arguments")
    if isinstance(value, str):
        return value
    return "" if value is None else dumps_or_placeholder(value)


def _custom_text(function: Body) -> str:
    """A piece of a custom call's free text, as a piece of a JSON string."""
    value = function.get("input")
    if value is None:
        return ""
    return dumps(value if isinstance(value, str) else dumps(value))[1:-1]


def _id_in(deltas: list[Body]) -> str | None:
    return next((found for delta in deltas if (found := identifier(delta.get("id")))), None)
