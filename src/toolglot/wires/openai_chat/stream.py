"""Reading OpenAI Chat's stream, its whole replies, and what the many servers that copy it make of both."""

from __future__ import annotations

from typing import Any

from toolglot.core.messages import Extra
from toolglot.core.reply import Usage
from toolglot.errors import UpstreamError
from toolglot.reading.blocks import Blocks
from toolglot.reading.framed import Framed
from toolglot.reading.open_call import OpenCall
from toolglot.text.json_text import dumps
from toolglot.text.sse import SseFrames
from toolglot.wires.openai_chat.messages import read_details
from toolglot.wires.openai_chat.shapes import REASON_IN, WIRE, count, read_usage

Body = dict[str, Any]

_KNOWN = frozenset({"id", "object", "created", "model", "choices", "usage", "error", "obfuscation", "kind"})
_CHANNELS = frozenset({"json", "text"})


def reader(channel: str | None = None) -> Framed:
    return Framed(SseFrames(), ChatChunks(channel))


class ChatChunks:
    """One chunk, or a whole reply, at a time."""

    def __init__(self, channel: str | None = None) -> None:
        self.blocks = Blocks()
        self._channel = channel
        self._calls = Calls(self.blocks)
        self._reason: str | None = None
        self._usage: Usage | None = None
        self._extra: Body = {}
        self._details: list[Any] = []
        self._seen = False

    def take(self, chunk: Body, event: str | None = None) -> None:
        usage = chunk.get("usage")
        if usage and isinstance(usage, dict):
            self._usage = read_usage(usage)
        for key in chunk:
            if key not in _KNOWN:
                self._extra[key] = chunk[key]
        choices = chunk.get("choices")
        if not isinstance(choices, list):
            return
        for choice in choices:
            if isinstance(choice, dict):
                if not self._seen:
                    self._seen = True
                    self.blocks.start(*_head(chunk))
                self._choice(choice, chunk)

    def _choice(self, choice: Body, chunk: Body) -> None:
        if choice.get("index"):
            note = "the provider gave several answers; only the first is read"
            if note not in self.blocks.notes:
                self.blocks.notes.append(note)
            return
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            self._delta(delta, _channel(delta, choice, chunk) or self._channel)
        elif isinstance(choice.get("text"), str):  # the completions API of old
            self.blocks.text(choice["text"], self._channel)
        reason = choice.get("finish_reason")
        if reason and isinstance(reason, str):
            self._reason = reason
            self._calls.close()

    def _delta(self, delta: Body, channel: str | None) -> None:
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if thought and isinstance(thought, str):
            self.blocks.reasoning(thought)
        details = delta.get("reasoning_details")
        if details and isinstance(details, list):
            self._take_details(details, alone=not thought)
        content, refusal, calls = delta.get("content"), delta.get("refusal"), delta.get("tool_calls")
        legacy = delta.get("function_call")
        if self._details and (content or refusal or calls or legacy):
            self._end_reasoning()
        if content:
            self._content(content, channel)
        if refusal and isinstance(refusal, str):
            self.blocks.text(refusal, "refusal")
        if legacy and isinstance(legacy, dict):
            calls = [{"index": 0, "function": legacy}]
        if calls and isinstance(calls, list):
            for call in calls:
                if isinstance(call, dict):
                    self._calls.take(call)

    def _content(self, content: Any, channel: str | None) -> None:
        if isinstance(content, str):
            self.blocks.text(content, channel)
        elif isinstance(content, list):
            self._parts(content, channel)

    def _parts(self, content: list[Any], channel: str | None) -> None:
        """Content as a list, as Mistral's reasoning models stream it."""
        for part in content:
            if isinstance(part, dict):
                thinking = part.get("thinking")
                for inner in thinking if isinstance(thinking, list) else (thinking,):
                    said = inner.get("text") if isinstance(inner, dict) else inner
                    if isinstance(said, str):
                        self.blocks.reasoning(said)
                if isinstance(part.get("text"), str):
                    self.blocks.text(part["text"], channel)

    # -- reasoning_details: fragments of the same index and type are one

    def _take_details(self, details: list[Any], *, alone: bool) -> None:
        if self.blocks.open_kind != "reasoning":
            self.blocks.open_reasoning()
        for detail in details:
            if not isinstance(detail, dict):
                continue
            if alone:
                said = detail.get("text") or detail.get("summary")
                if isinstance(said, str):
                    self.blocks.reasoning(said)
            last = self._details[-1] if self._details else None
            if last and "index" in detail and all(last.get(key) == detail.get(key) for key in ("index", "type")):
                _join_detail(last, detail)
            else:
                self._details.append(dict(detail))

    def _end_reasoning(self) -> None:
        if self._details:
            self.blocks.state(read_details(self._details))
            self._details = []
            self.blocks.end_block()

    # -- ends

    def done(self) -> None:
        if self._reason == "error":
            self._end_reasoning()
            self.blocks.fault(UpstreamError("the provider ended the reply with an error", code="error"))
        elif self._reason is not None:
            self._finish(self._reason)
        elif self._seen:
            self.blocks.notes.append("the provider gave no finish_reason")
            self._finish("stop", told=False)

    def cut(self) -> None:
        self._end_reasoning()
        if self._reason is not None:
            self.done()

    def _finish(self, reason: str, *, told: bool = True) -> None:
        self._end_reasoning()
        self._calls.close()
        extra: Extra = {WIRE: self._extra} if self._extra else {}
        self.blocks.finish(REASON_IN.get(reason, "other"), reason if told else None, self._usage, extra=extra)


def _head(chunk: Body) -> tuple[str | None, str | None, int | None]:
    id, model, created = chunk.get("id"), chunk.get("model"), chunk.get("created")
    return (
        id if isinstance(id, str) and id else None,
        model if isinstance(model, str) and model else None,
        count(int(created) if isinstance(created, float) and abs(created) < 1e15 else created),
    )


def _channel(*holders: Body) -> str | None:
    for holder in holders:
        kind = holder.get("kind")
        if kind in _CHANNELS:
            return str(kind)
    return None


def _join_detail(last: Body, more: Body) -> None:
    for key, value in more.items():
        if key in ("text", "summary") and isinstance(value, str) and isinstance(last.get(key), str):
            last[key] += value
        elif value is not None:
            last[key] = value


class Calls:
    """Which call a delta belongs to: by id, then index, then the last open one. Ids and indexes may lie."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._by_id: dict[str, OpenCall] = {}
        self._by_index: dict[Any, OpenCall] = {}
        self._all: list[OpenCall] = []
        self._unnamed: dict[Any, list[Body]] = {}  # deltas of a call whose name has not come yet

    def take(self, held: Body) -> None:
        inner = held.get("function") or held.get("custom")
        function: Body = inner if isinstance(inner, dict) else held
        custom = inner is not None and "custom" in held
        raw_id, name, index = held.get("id"), function.get("name"), held.get("index")
        call_id = raw_id if isinstance(raw_id, str) and raw_id and raw_id != "null" else None
        name = name if isinstance(name, str) and name else None
        index = index if isinstance(index, int) else None
        call = self._target(call_id, index, name)
        if call is None:
            waiting = self._unnamed.pop(index, [])
            if name is None:
                self._unnamed[index] = [*waiting, held]
                return
            call = self._open(name, call_id or _id_in(waiting), index, custom=custom)
            for early in waiting:
                self._pour(call, early)
        self._pour(call, held)

    def _target(self, call_id: str | None, index: int | None, name: str | None) -> OpenCall | None:
        if call_id is not None:
            known = self._by_id.get(call_id)
            if known is not None:
                return known
            same = self._by_index.get(index) if index is not None else None
            # an id that changes with every delta, as some servers make it, starts no call unless a name comes too
            return same if same is not None and name is None and same.open and not same.whole else None
        if index is not None:
            known = self._by_index.get(index)
            if known is not None and name is not None and known.whole:
                return None
            if known is not None or name is not None:
                return known
        if name is not None:
            return None
        if index is None and self._all:
            return self._all[-1]
        return None

    def _open(self, name: str, call_id: str | None, index: int | None, *, custom: bool) -> OpenCall:
        for earlier in self._all:
            if earlier.open and earlier.whole:
                earlier.close()
        call = OpenCall(self._blocks, name, call_id, custom=custom)
        self._all.append(call)
        if call_id is not None:
            self._by_id[call_id] = call
        if index is not None:
            self._by_index[index] = call
        return call

    def _pour(self, call: OpenCall, held: Body) -> None:
        if not call.open:
            return
        inner = held.get("function") or held.get("custom")
        function = inner if isinstance(inner, dict) else held
        arguments = function.get("arguments")
        if arguments is None and "input" in function:
            arguments = {"input": function["input"]}
        if arguments is not None and arguments != "":
            call.feed(arguments if isinstance(arguments, str) else dumps(arguments))
        if inner is not None:
            more = {key: value for key, value in held.items() if key not in _CALL_KEYS and value is not None}
            if more:
                call.state({WIRE: more})

    def close(self) -> None:
        for call in self._all:
            call.close()


_CALL_KEYS = frozenset({"id", "index", "type", "function", "custom"})


def _id_in(waiting: list[Body]) -> str | None:
    return next((held["id"] for held in waiting if isinstance(held.get("id"), str) and held["id"]), None)
