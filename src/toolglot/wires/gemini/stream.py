"""Reads Gemini's streams and whole replies. Each chunk has the form of a reply."""

from __future__ import annotations

from toolglot.core.events import Event
from toolglot.core.messages import Extra, Opaque, ToolResult
from toolglot.errors import CallerError
from toolglot.io.block_builder import BlockBuilder
from toolglot.io.json_codec import dumps
from toolglot.io.reply_values import identifier, merge_usage, non_empty_string
from toolglot.io.request_validation import Body, unknown_keys
from toolglot.io.sse import SseFrames
from toolglot.io.stream_reader import StreamReader, read_whole_reply
from toolglot.io.streamed_call import StreamedCall
from toolglot.wires.gemini.partial import PartialArguments
from toolglot.wires.gemini.parts import TEXT_KEYS, inner_extra, read_part, read_state
from toolglot.wires.gemini.shapes import REASON_IN, SIGNATURE, WIRE, camel, read_usage

_KNOWN = frozenset({"candidates", "usageMetadata", "modelVersion", "responseId", "createTime", "error"})
_FUNCTION_KEYS = frozenset({"id", "name", "args", "partialArgs", "willContinue"})
_CALL_KEY = frozenset({"functionCall"})
_BAD_CALL = "MALFORMED_FUNCTION_CALL"  # the model wrote a call, and only this value is left of it
_KNOWN_OF_CANDIDATE = frozenset({"content", "finishReason", "index"})


def reader(channel: str | None = None) -> StreamReader:
    return StreamReader(SseFrames(), GeminiChunks(channel))


def read_events(body: Body, channel: str | None = None) -> list[Event]:
    """The events of a whole reply."""
    return read_whole_reply(GeminiChunks(channel), body)


class GeminiChunks:
    """One chunk, or a whole reply, at a time."""

    def __init__(self, channel: str | None = None) -> None:
        self.blocks = BlockBuilder()
        self._channel = channel
        self._partial: _PartialCall | None = None
        self._reason: str | None = None
        self._blocked: str | None = None
        self._usage: Body = {}
        self._extra: Body = {}
        self._of_candidate: Body = {}
        self.blocks.at_end.append(self._abandon)

    def take(self, chunk: Body, event: str | None = None) -> None:
        if not chunk.keys() <= _KNOWN:
            chunk = self._unusual(chunk)
        merge_usage(self._usage, chunk.get("usageMetadata"))
        candidates = chunk.get("candidates")
        if isinstance(candidates, list):
            for candidate in candidates:
                if isinstance(candidate, dict):
                    self._start(chunk)
                    self._candidate(candidate)

    def _unusual(self, chunk: Body) -> Body:
        """A chunk with unknown keys, or in snake_case: unknown keys are kept."""
        chunk = camel(chunk)
        if "candidates" not in chunk:
            chunk = _unwrapped(chunk)
        for key in chunk:
            if key not in _KNOWN:
                self._extra[key] = chunk[key]
        feedback = chunk.get("promptFeedback")
        if isinstance(feedback, dict) and (non_empty_string := camel(feedback).get("blockReason")):
            self._start(chunk)
            self._blocked = str(non_empty_string)
        return chunk

    def _start(self, chunk: Body) -> None:
        self.blocks.start(chunk.get("responseId"), chunk.get("modelVersion"), chunk.get("createTime"))

    def _candidate(self, candidate: Body) -> None:
        if not candidate.keys() <= _KNOWN_OF_CANDIDATE:
            candidate = camel(candidate)
            self._of_candidate.update(unknown_keys(candidate, _KNOWN_OF_CANDIDATE))
        if candidate.get("index"):
            self.blocks.note_once("the provider sent several choices; only the first is read")
            return
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        for part in parts if isinstance(parts, list) else () if parts is None else (parts,):
            if isinstance(part, dict):
                self._part(part)
            else:
                self.blocks.malformed("a part is not an object", part)
        reason = candidate.get("finishReason")
        if reason and isinstance(reason, str):
            self._reason = reason

    # -- parts

    def _part(self, part: Body) -> None:
        text = part.get("text")
        if len(part) == 1 and isinstance(text, str):
            self.blocks.text(text, self._channel)
            return
        part = camel(part)
        function = part.get("functionCall")
        if isinstance(function, dict):
            self._function(camel(function), part)
        elif isinstance(text, str):
            self._text_part(text, part)
        elif part.get(SIGNATURE) and not part.keys() - {"thought", SIGNATURE}:
            self._text_part("", part)
        else:
            self._whole(part)

    def _text_part(self, text: str, part: Body) -> None:
        """A piece of text or reasoning. A signature ends its block, and may come without text."""
        thought = bool(part.get("thought"))
        if thought:
            self.blocks.reasoning(text)
        else:
            self.blocks.text(text, self._channel)
        more = unknown_keys(part, TEXT_KEYS)
        if not more:
            return
        if thought and self.blocks.open_kind != "reasoning":
            self.blocks.open_reasoning()
        elif not thought and self.blocks.open_kind != "text":
            self.blocks.open_text(self._channel)
        self.blocks.add_extra(read_state(more, keep=True))
        if SIGNATURE in more:
            self.blocks.end_block()

    def _whole(self, part: Body) -> None:
        """Media, or an opaque block; a damaged part is kept as it came."""
        try:
            read = read_part(part)
        except CallerError:
            read = Opaque(WIRE, part)
        if read is not None:
            self.blocks.part(Opaque(WIRE, part) if isinstance(read, ToolResult) else read)

    # -- calls

    def _function(self, function: Body, part: Body) -> None:
        extra = read_state(unknown_keys(part, _CALL_KEY), keep=True) if len(part) > 1 else {}
        if self._partial is not None:
            if self._partial.goes_on(function):
                self._continue(self._partial, function, extra)
                return
            self._end_partial(sealed=not self._partial.arguments.pending)
        name, call_id = non_empty_string(function.get("name")), identifier(function.get("id"))
        if name is None:
            self.blocks.malformed("a functionCall came without a name", function)
            return
        if more := unknown_keys(function, _FUNCTION_KEYS):
            extra = inner_extra(extra, "functionCall", more)
        if function.get("willContinue") or function.get("partialArgs"):
            self._partial = _PartialCall(self.blocks.open_call(name, call_id, extra=extra), name, call_id)
            self._continue(self._partial, function, {})
            return
        arguments = function.get("args")
        if isinstance(arguments, str):
            call = StreamedCall(self.blocks, name, call_id, extra=extra)
            call.feed(arguments)
            call.close()
            return
        index = self.blocks.open_call(name, call_id, extra=extra)
        self.blocks.call_text(index, "{}" if arguments is None else dumps(arguments))
        self.blocks.close_call(index)

    def _continue(self, call: _PartialCall, function: Body, extra: Extra) -> None:
        call.arguments.take(function)
        call.extra = extra or call.extra
        goes_on = function.get("willContinue")
        if goes_on is False or (not goes_on and not call.arguments.pending):
            self._end_partial(sealed=True)

    def _end_partial(self, *, sealed: bool) -> None:
        call, self._partial = self._partial, None
        if call is not None:
            self.blocks.call_text(call.index, dumps(call.arguments.whole()))
            self.blocks.close_call(call.index, sealed=sealed, extra=call.extra)

    def _abandon(self) -> None:
        """The stream ends inside a call's arguments: the call is emitted, but not to be run."""
        self._end_partial(sealed=False)

    # -- ends

    def done(self) -> None:
        if self._partial is not None and self._reason == "STOP":
            self._end_partial(sealed=not self._partial.arguments.pending)
        if self._of_candidate:
            self._extra["candidate"] = self._of_candidate
        extra: Extra = {WIRE: self._extra} if self._extra else {}
        usage = read_usage(camel(self._usage))
        if self._reason == _BAD_CALL:
            message = self._of_candidate.get("finishMessage") or _BAD_CALL
            self.blocks.malformed("the provider could not read the model's call", message)
        if self._reason is not None:
            self.blocks.finish(REASON_IN.get(self._reason, "other"), self._reason, usage, extra=extra)
        elif self._blocked is not None:
            self.blocks.finish("filter", self._blocked, usage, extra=extra)
        elif self.blocks.started:
            self.blocks.notes.append("the provider sent no finishReason")
            self.blocks.finish("stop", None, usage, extra=extra)

    def cut(self) -> None:
        """There is no end marker: after a finish reason, the end of the bytes is the end of the reply."""
        if self._reason is not None or self._blocked is not None:
            self.done()


class _PartialCall:
    """A call whose arguments are still coming."""

    __slots__ = ("arguments", "extra", "id", "index", "name")

    def __init__(self, index: int, name: str, call_id: str | None) -> None:
        self.index = index
        self.name = name
        self.id = call_id
        self.arguments = PartialArguments()
        self.extra: Extra = {}

    def goes_on(self, function: Body) -> bool:
        name, call_id = function.get("name"), identifier(function.get("id"))
        if call_id and self.id:
            return call_id == self.id
        return not name or name == self.name


def _unwrapped(chunk: Body) -> Body:
    """A reply in an envelope (Code Assist), a candidate alone, or a content alone."""
    inner = chunk.get("response")
    if isinstance(inner, dict):
        return camel(inner)
    if isinstance(chunk.get("content"), dict):
        return {"candidates": [chunk]}
    if isinstance(chunk.get("parts"), list):
        return {"candidates": [{"content": chunk}]}
    return chunk
