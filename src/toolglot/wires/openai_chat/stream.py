"""Reads OpenAI Chat's streams and whole replies, and those of compatible servers."""

from __future__ import annotations

from typing import Any

from toolglot.core.events import Event
from toolglot.core.messages import Opaque
from toolglot.core.reply import StopReason
from toolglot.errors import CallerError, UpstreamError
from toolglot.io.block_builder import BlockBuilder
from toolglot.io.json_codec import dumps, preview
from toolglot.io.reply_values import merge_usage, text_channel
from toolglot.io.request_validation import Body
from toolglot.io.sse import SseFrames
from toolglot.io.sse_delta_cache import DeltaCache, EmitText
from toolglot.io.stream_reader import read_whole_reply
from toolglot.wires.openai_chat.calls import Calls
from toolglot.wires.openai_chat.parts import read_part
from toolglot.wires.openai_chat.shapes import REASON_IN, WIRE, read_usage

_CHUNK_KEYS = frozenset({"id", "object", "created", "model", "choices", "usage", "error", "obfuscation", "kind"})
_CHOICE_KEYS = frozenset({"index", "delta", "message", "text", "finish_reason", "logprobs", "kind"})
_DELTA_KEYS = frozenset(
    {
        "role",
        "content",
        "refusal",
        "tool_calls",
        "function_call",
        "reasoning",
        "reasoning_content",
        "reasoning_details",
        "images",
        "kind",
    }
)
_PIECES = frozenset({"data", "transcript"})  # strings that an audio delta has in pieces


def reader(channel: str | None = None) -> DeltaCache:
    return DeltaCache(SseFrames(), ChatChunks(channel))


def read_events(body: Body, channel: str | None = None) -> list[Event]:
    """The events of a whole reply."""
    return read_whole_reply(ChatChunks(channel), body)


class ChatChunks:
    """One chunk, or a whole reply, at a time."""

    def __init__(self, channel: str | None = None) -> None:
        self.blocks = BlockBuilder()
        self._channel = channel
        self._calls = Calls(self.blocks)
        self._answer: Any = None  # the index of the choice that is read
        self._reason: str | None = None
        self._usage: Body = {}
        self._extra: Body = {}
        self._choice_extra: Body = {}
        self._message_extra: Body = {}
        self._details: list[Any] = []
        self._has_reasoning_text = False  # the reasoning came as plain text; details only repeat it
        self._refused = False
        self._seen = False
        self.plain: tuple[str, EmitText] | None = None
        self.blocks.at_end.append(self._end_reasoning)

    def take(self, chunk: Body, event: str | None = None) -> None:
        if chunk.get("usage"):
            merge_usage(self._usage, chunk["usage"])
        if not _CHUNK_KEYS.issuperset(chunk):
            self._extra.update((key, value) for key, value in chunk.items() if key not in _CHUNK_KEYS)
        choices = chunk.get("choices")
        if not isinstance(choices, list):
            return
        for choice in choices:
            if isinstance(choice, dict):
                if not self._seen:
                    self._seen, self._answer = True, choice.get("index")
                    self.blocks.start(chunk.get("id"), chunk.get("model"), chunk.get("created"))
                self._choice(choice, chunk)

    def _choice(self, choice: Body, chunk: Body) -> None:
        index = choice.get("index")
        if index != self._answer and isinstance(index, int) and isinstance(self._answer, int):
            self.blocks.note_once("the provider sent several choices; only the first is read")
            return
        delta = choice.get("delta")
        if not isinstance(delta, dict):  # a whole reply; some servers repeat it next to the last, empty delta
            delta = choice.get("message")
        if isinstance(delta, dict):
            channel = text_channel(delta, choice, chunk) or self._channel
            self._delta(delta, channel)
            if len(delta) == 1 and _is_plain(choice, chunk):
                place, text = _one_string(delta)
                emit = self.blocks.on_channel(channel) if place is None else self._calls.feeder(place)
                self.plain = (text, emit) if text and emit is not None else None
        elif choice.get("text"):  # the older completions API
            self._delta({"content": choice["text"]}, self._channel)
        reason = choice.get("finish_reason")
        if reason and isinstance(reason, str):
            self._reason = reason
        if choice.get("logprobs") or not _CHOICE_KEYS.issuperset(choice):
            for key in choice.keys() - (_CHOICE_KEYS - {"logprobs"}):
                _keep(self._choice_extra, key, choice[key])

    def _delta(self, delta: Body, channel: str | None) -> None:
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if thought and isinstance(thought, str):
            self._has_reasoning_text = True
            self.blocks.reasoning(thought)
        details = delta.get("reasoning_details")
        if details and isinstance(details, list):
            self._take_details(details)
        content, refusal, images = delta.get("content"), delta.get("refusal"), delta.get("images")
        calls, legacy = delta.get("tool_calls"), delta.get("function_call")
        if legacy and not calls and isinstance(legacy, dict):
            calls = [{"index": 0, "function": legacy}]
        if self._details and (content or refusal or images or calls):
            self._end_reasoning()
        if content:
            self._content(content, channel)
        if refusal and isinstance(refusal, str):
            self._refused = True
            self.blocks.text(refusal, "refusal")
        if images and isinstance(images, list):
            self._parts(images, channel)
        if calls:
            for call in calls if isinstance(calls, list) else (calls,):
                self._calls.take(call)
        if not _DELTA_KEYS.issuperset(delta):
            for key in delta.keys() - _DELTA_KEYS:
                _keep(self._message_extra, key, delta[key])

    # -- content that is more than a string

    def _content(self, content: Any, channel: str | None) -> None:
        if isinstance(content, str):
            self.blocks.text(content, channel)
        elif isinstance(content, list):
            self._parts(content, channel)
        elif isinstance(content, dict) and "type" in content:
            self._parts([content], channel)
        else:  # JSON was requested, and is not in a string
            self.blocks.text(dumps(content), channel)

    def _parts(self, content: list[Any], channel: str | None) -> None:
        """Content as a list, as Mistral's reasoning models stream it."""
        for part in content:
            if isinstance(part, str):
                self.blocks.text(part, channel)
            elif not isinstance(part, dict):
                self.blocks.notes.append(f"a part of the content was not recognized: {preview(part)}")
            elif part.get("thinking"):
                self.blocks.reasoning(_thought(part["thinking"]))
            elif isinstance(part.get("text"), str):
                self.blocks.text(part["text"], channel)
            else:
                self._other_part(part)

    def _other_part(self, part: Body) -> None:
        try:
            self.blocks.part(read_part(part))
        except CallerError:
            self.blocks.part(Opaque(WIRE, part))

    # -- reasoning_details: fragments of the same index and type are one

    def _take_details(self, details: list[Any]) -> None:
        if self.blocks.open_kind != "reasoning":
            self.blocks.open_reasoning()
        for detail in details:
            if not isinstance(detail, dict):
                continue
            if not self._has_reasoning_text:
                text = detail.get("text") or detail.get("summary")
                if isinstance(text, str):
                    self.blocks.reasoning(text)
            earlier = self._same_detail(detail) if "index" in detail else None
            if earlier is not None:
                _join_detail(earlier, detail)
            else:
                self._details.append(dict(detail))

    def _same_detail(self, detail: Body) -> Body | None:
        for earlier in reversed(self._details):
            if all(earlier.get(key) == detail.get(key) for key in ("index", "type")):
                return earlier  # type: ignore[no-any-return]
        return None

    def _end_reasoning(self) -> None:
        if self._details:
            self.blocks.add_extra({WIRE: {"reasoning_details": self._details}})
            self._details = []
            self.blocks.end_block()

    # -- ends

    def done(self) -> None:
        if self._reason == "error":
            self.blocks.fail(UpstreamError("the provider ended the reply with an error", code="error"))
        elif self._reason is not None:
            self._finish(self._reason)
        elif self._seen:
            self.blocks.notes.append("the provider sent no finish_reason")
            self._finish(None)

    def cut(self) -> None:
        if self._reason is not None:
            self.done()

    def _finish(self, word: str | None) -> None:
        unknown: StopReason = "stop" if self.blocks.calls else "other"
        reason = REASON_IN.get(word.lower(), unknown) if word else "stop"
        if reason == "stop" and self._refused and not self.blocks.calls:
            reason = "filter"
        self._end_reasoning()
        self._calls.close(cut=reason == "length")
        if self._message_extra:
            self._choice_extra["message"] = self._message_extra
        if self._choice_extra:
            self._extra["choices"] = [self._choice_extra]
        self.blocks.finish(reason, word, read_usage(self._usage), extra={WIRE: self._extra} if self._extra else {})


def _is_plain(choice: Body, chunk: Body) -> bool:
    """Whether nothing besides the delta accumulates, or signals the end."""
    ends = choice.get("finish_reason") or choice.get("logprobs") or chunk.get("usage")
    return not ends and len(chunk["choices"]) == 1 and _CHOICE_KEYS.issuperset(choice)


def _one_string(delta: Body) -> tuple[Any, str | None]:
    """The only string of a delta, and the index of the call that it continues; None: it is text, or there is more."""
    match delta:
        case {"content": str(text)}:
            return None, text
        case {"tool_calls": [{"index": int(place), "function": {"arguments": str(text), **more}, **others}]}:
            return place, None if more or others else text
    return None, None


def _thought(thinking: Any) -> str:
    """A string, or a list of text parts."""
    if isinstance(thinking, list):
        return "".join(map(_thought, thinking))
    if isinstance(thinking, dict):
        return _thought(thinking.get("text") or "")
    return thinking if isinstance(thinking, str) else dumps(thinking)


def _join_detail(earlier: Body, more: Body) -> None:
    for key, value in more.items():
        if key in ("text", "summary") and isinstance(value, str) and isinstance(earlier.get(key), str):
            earlier[key] += value
        elif value is not None:
            earlier[key] = value


def _keep(obj: Body, key: str, value: Any) -> None:
    """Keeps unknown fields. Lists and objects that come in pieces are merged; otherwise the last value counts."""
    old = obj.get(key)
    if value is None or value in ("", [], {}):
        return
    if isinstance(value, dict):
        inner = obj[key] = old if isinstance(old, dict) else {}
        for name in value:
            _keep(inner, name, value[name])
    elif isinstance(value, list):
        if isinstance(old, list):
            old.extend(value)
        else:
            obj[key] = list(value)
    elif key in _PIECES and isinstance(old, str) and isinstance(value, str):
        obj[key] = old + value
    else:
        obj[key] = value
