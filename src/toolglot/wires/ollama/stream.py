"""Reading Ollama's stream, its whole replies, and what its copies and its cloud make of both."""

from __future__ import annotations

from typing import Any

from toolglot.core.events import Event
from toolglot.core.messages import ToolCall
from toolglot.core.reply import Decision, Reason, Usage
from toolglot.reading.blocks import Blocks
from toolglot.reading.framed import Framed, read_whole
from toolglot.reading.shape import Body, say
from toolglot.text.json_text import BadJson, decode, dumps, dumps_anyhow, shown
from toolglot.text.ndjson import NdjsonFrames
from toolglot.wires.ollama.messages import arguments_text, call_extra, read_image
from toolglot.wires.ollama.shapes import COUNTS, DURATIONS, REASON_IN, WIRE, count, read_time

_EVERY_LINE = frozenset({"model", "created_at", "message", "done"})
_READ_APART = frozenset({"done_reason", "error", "kind"})
_MESSAGE = frozenset({"role", "content", "thinking", "tool_calls", "images", "kind"})
_CHANNELS = frozenset({"json", "text"})


def reader(channel: str | None = None) -> Framed:
    return Framed(NdjsonFrames(), OllamaChunks(channel))


def read_events(body: Body, channel: str | None = None) -> list[Event]:
    """Those of a whole reply."""
    return read_whole(OllamaChunks(channel), body)


class OllamaChunks:
    """One line, or a whole reply, at a time. Every call comes whole, and every call seen is a call: indexes may lie."""

    def __init__(self, channel: str | None = None) -> None:
        self.blocks = Blocks()
        self._channel = channel
        self._reason: str | None = None
        self._counts: dict[str, int] = {}
        self._extra: Body = {}
        self._logprobs: list[Any] = []
        self._ids: set[str] = set()
        self._seen = False

    def take(self, chunk: Body, event: str | None = None) -> None:
        message = chunk.get("message")
        if isinstance(message, dict):
            if not self._seen:
                self._begin(chunk)
            self._message(message, chunk)
            if len(message) > 2:
                self._rest_of(message)
        elif message is None:
            self._bare(chunk)
        else:
            self.blocks.notes.append(f"a message that was {say(message)} was skipped: {shown(message)}")
        for key in chunk:
            if key not in _EVERY_LINE:
                self._beside(key, chunk[key], bare=message is None)
        self._end(chunk, event)

    def _begin(self, chunk: Body) -> None:
        self._seen = True
        model = chunk.get("model")
        self.blocks.start(None, model if isinstance(model, str) and model else None, read_time(chunk.get("created_at")))

    def _bare(self, chunk: Body) -> None:
        """A message alone, or a line that only ends the stream."""
        if not self._seen and ("model" in chunk or not _MESSAGE.isdisjoint(chunk)):
            self._begin(chunk)
        self._message(chunk, chunk)

    def _message(self, message: Body, chunk: Body) -> None:
        thought = message.get("thinking")
        if thought:
            self.blocks.reasoning(_said(thought))
        content = message.get("content")
        if content:
            self.blocks.text(_said(content), _channel(message, chunk) or self._channel)
        images = message.get("images")
        if images:
            self._images(images)
        calls = message.get("tool_calls")
        if calls:
            for call in calls if isinstance(calls, list) else (calls,):
                self._call(call)

    def _images(self, images: Any) -> None:
        for image in images if isinstance(images, list) else (images,):
            if isinstance(image, str):
                self.blocks.part(read_image(image))
            else:
                self.blocks.notes.append(f"a picture that was {say(image)} was skipped")

    # -- calls

    def _call(self, held: Any) -> None:
        inner = held.get("function") if isinstance(held, dict) else None
        function = inner if isinstance(inner, dict) else held
        name = function.get("name") if isinstance(function, dict) else None
        if not name or not isinstance(name, str):
            self.blocks.malformed("a call came without a name", held)
            return
        call_id = self._id(held.get("id"))
        given = function.get("arguments")
        text = arguments_text(given)
        decisions: tuple[Decision, ...] = ()
        if text is None:
            text = _unwrapped(given)
            decisions = (Decision("unwrapped_string", f"{name}: the arguments were JSON inside a string"),)
        if text is None:
            self._refuse(call_id, name, given)
            return
        index = self.blocks.open_call(name, call_id, extra=call_extra(held, function))
        self.blocks.call_text(index, text)
        self.blocks.close_call(index, decisions=decisions)

    def _id(self, value: Any) -> str | None:
        """The provider's own id, unless it has none or gives one twice: Blocks then numbers the call."""
        if not isinstance(value, str) or not value:
            return None
        if value in self._ids:
            self.blocks.notes.append(f"two calls came with the id {value}; the later one got a new id")
            return None
        self._ids.add(value)
        return value

    def _refuse(self, call_id: str | None, name: str, given: Any) -> None:
        written = given if isinstance(given, str) else dumps_anyhow(given)
        whole: dict[type, str] = {dict: "nested too deeply", str: "text that is no JSON object"}
        what = whole.get(type(given)) or say(given)
        call = ToolCall(call_id or "", name, written, sealed=False)
        message = f"{name}: the arguments are {what}; the call was skipped"
        self.blocks.decisions.append(Decision("rejected_arguments", message, call))

    # -- what stands beside

    def _rest_of(self, message: Body) -> None:
        for key, value in message.items():
            if key not in _MESSAGE and value is not None:
                self._extra.setdefault("message", {})[key] = value

    def _beside(self, key: str, value: Any, *, bare: bool) -> None:
        if key in COUNTS:
            number = count(value)
            if number is not None:
                self._counts[COUNTS[key]] = number
        elif key in _READ_APART or value is None or (bare and key in _MESSAGE) or (key in DURATIONS and not value):
            return
        elif key == "logprobs" and isinstance(value, list):  # each line has those of its own tokens
            self._logprobs += value
        else:
            self._extra[key] = value

    # -- ends

    def _end(self, chunk: Body, event: str | None) -> None:
        reason, done = chunk.get("done_reason"), chunk.get("done")
        if isinstance(reason, str) and (reason or done):
            self._reason = reason
        if done and event != "error":  # an error's own line may say done: it is no finish
            self._seen = True
            self.done()

    def done(self) -> None:
        if self._reason is None:
            if not self._seen:
                return
            self.blocks.notes.append("the provider gave no done_reason")
        unknown: Reason = "stop" if self.blocks.calls else "other"
        reason = "stop" if self._reason is None else REASON_IN.get(self._reason.lower(), unknown)
        usage = Usage(self._counts.get("input"), self._counts.get("output")) if self._counts else None
        extra = {**self._extra, "logprobs": self._logprobs} if self._logprobs else self._extra
        self.blocks.finish(reason, self._reason, usage, extra={WIRE: extra} if extra else {})

    def cut(self) -> None:
        if self._reason is not None:  # some servers give a reason and never say done
            self.done()


def _said(content: Any) -> str:
    """Text. What is no string is parts in another API's way, or an object where a schema was asked for."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [part.get("text") if isinstance(part, dict) else part for part in content]
        said = [text for text in texts if isinstance(text, str)]
        if len(said) == len(content):
            return "".join(said)
    return dumps(content)


def _channel(*holders: Body) -> str | None:
    for holder in holders:
        kind = holder.get("kind")
        if isinstance(kind, str) and kind in _CHANNELS:
            return kind
    return None


def _unwrapped(given: Any) -> str | None:
    """Arguments that were written as JSON twice."""
    try:
        inner = decode(given) if isinstance(given, str) else None
    except BadJson:
        return None
    return arguments_text(inner) if inner and isinstance(inner, str) else None
