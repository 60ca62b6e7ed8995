"""Reads Ollama's streams and whole replies, and those of its cloud and of compatible servers."""

from __future__ import annotations

from typing import Any

from toolglot.core.events import Event
from toolglot.core.messages import ToolCall
from toolglot.core.reply import Decision, StopReason
from toolglot.io.block_builder import BlockBuilder
from toolglot.io.json_codec import JSON_ERRORS, decode, dumps, dumps_or_placeholder, preview
from toolglot.io.ndjson import NdjsonFrames
from toolglot.io.reply_values import identifier, merge_usage, non_empty_string, text_channel
from toolglot.io.request_validation import Body, json_type
from toolglot.io.stream_reader import StreamReader, read_whole_reply
from toolglot.wires.ollama.messages import arguments_text, call_extra, read_image
from toolglot.wires.ollama.shapes import COUNTS, DURATIONS, REASON_IN, WIRE, read_usage

_EVERY_LINE = frozenset({"model", "created_at", "message", "done"})
_READ_APART = frozenset({"done_reason", "error", "kind"})
_MESSAGE = frozenset({"role", "content", "thinking", "tool_calls", "images", "kind"})


def reader(channel: str | None = None) -> StreamReader:
    return StreamReader(NdjsonFrames(), OllamaChunks(channel))


def read_events(body: Body, channel: str | None = None) -> list[Event]:
    """The events of a whole reply."""
    return read_whole_reply(OllamaChunks(channel), body)


class OllamaChunks:
    """One line, or a whole reply, at a time. Every call comes complete. Indexes are ignored: they may be wrong."""

    def __init__(self, channel: str | None = None) -> None:
        self.blocks = BlockBuilder()
        self._channel = channel
        self._reason: str | None = None
        self._usage: Body = {}
        self._extra: Body = {}
        self._logprobs: list[Any] = []
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
            self.blocks.notes.append(f"a message that was {json_type(message)} was skipped: {preview(message)}")
        for key in chunk:
            if key not in _EVERY_LINE:
                self._other_key(key, chunk[key], bare=message is None)
        self._end(chunk, event)

    def _begin(self, chunk: Body) -> None:
        self._seen = True
        self.blocks.start(None, chunk.get("model"), chunk.get("created_at"))

    def _bare(self, chunk: Body) -> None:
        """A message alone, or a line that only ends the stream."""
        if not self._seen and ("model" in chunk or not _MESSAGE.isdisjoint(chunk)):
            self._begin(chunk)
        self._message(chunk, chunk)

    def _message(self, message: Body, chunk: Body) -> None:
        thought = message.get("thinking")
        if thought:
            self.blocks.reasoning(_as_text(thought))
        content = message.get("content")
        if content:
            self.blocks.text(_as_text(content), text_channel(message, chunk) or self._channel)
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
                self.blocks.notes.append(f"an image that was {json_type(image)} was skipped")

    # -- calls

    def _call(self, obj: Any) -> None:
        inner = obj.get("function") if isinstance(obj, dict) else None
        function = inner if isinstance(inner, dict) else obj
        name = non_empty_string(function.get("name")) if isinstance(function, dict) else None
        if name is None:
            self.blocks.malformed("a call came without a name", obj)
            return
        call_id = identifier(obj.get("id"))
        given = function.get("arguments")
        text = arguments_text(given)
        decisions: tuple[Decision, ...] = ()
        if text is None:
            text = _unwrapped(given)
            decisions = (Decision("unwrapped_string", f"{name}: the arguments were JSON inside a string"),)
        if text is None:
            self._refuse(call_id, name, given)
            return
        index = self.blocks.open_call(name, call_id, extra=call_extra(obj, function))
        self.blocks.call_text(index, text)
        self.blocks.close_call(index, decisions=decisions)

    def _refuse(self, call_id: str | None, name: str, given: Any) -> None:
        written = given if isinstance(given, str) else dumps_or_placeholder(given)
        whole: dict[type, str] = {dict: "nested too deeply", str: "text that is not a JSON object"}
        what = whole.get(type(given)) or json_type(given)
        call = ToolCall(call_id or "", name, written, sealed=False)
        message = f"{name}: the arguments are {what}; the call was skipped"
        self.blocks.decisions.append(Decision("rejected_arguments", message, call))

    # -- other keys

    def _rest_of(self, message: Body) -> None:
        for key, value in message.items():
            if key not in _MESSAGE and value is not None:
                self._extra.setdefault("message", {})[key] = value

    def _other_key(self, key: str, value: Any, *, bare: bool) -> None:
        if key in COUNTS:
            merge_usage(self._usage, {key: value})
        elif key in _READ_APART or value is None or (bare and key in _MESSAGE) or (key in DURATIONS and not value):
            return
        elif key == "logprobs" and isinstance(value, list):  # each line has the logprobs of its tokens
            self._logprobs += value
        else:
            self._extra[key] = value

    # -- ends

    def _end(self, chunk: Body, event: str | None) -> None:
        reason, done = chunk.get("done_reason"), chunk.get("done")
        if isinstance(reason, str) and (reason or done):
            self._reason = reason
        if done and event != "error":  # an error line may contain done: it is not a finish
            self._seen = True
            self.done()

    def done(self) -> None:
        if self._reason is None:
            if not self._seen:
                return
            self.blocks.notes.append("the provider sent no done_reason")
        unknown: StopReason = "stop" if self.blocks.calls else "other"
        reason = "stop" if self._reason is None else REASON_IN.get(self._reason.lower(), unknown)
        extra = {**self._extra, "logprobs": self._logprobs} if self._logprobs else self._extra
        self.blocks.finish(reason, self._reason, read_usage(self._usage), extra={WIRE: extra} if extra else {})

    def cut(self) -> None:
        if self._reason is not None:  # some servers send a reason, but never done
            self.done()


def _as_text(content: Any) -> str:
    """Text. A value that is not a string is a list of parts, or an object if a schema was requested."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [part.get("text") if isinstance(part, dict) else part for part in content]
        strings = [text for text in texts if isinstance(text, str)]
        if len(strings) == len(content):
            return "".join(strings)
    return dumps(content)


def _unwrapped(given: Any) -> str | None:
    """Arguments that were written as JSON twice."""
    try:
        inner = decode(given) if isinstance(given, str) else None
    except JSON_ERRORS:
        return None
    return arguments_text(inner) if inner and isinstance(inner, str) else None
