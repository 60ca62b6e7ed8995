"""Reads Gemini Interactions' streams, and whole interactions, whose steps are read as if each came in one piece."""

from __future__ import annotations

from typing import Any

from toolglot.core.events import Event
from toolglot.core.messages import Opaque
from toolglot.core.neighbour_state import NEIGHBOUR_STATE, belongs_to_next
from toolglot.errors import UpstreamError
from toolglot.io.block_builder import BlockBuilder
from toolglot.io.json_codec import dumps
from toolglot.io.reply_values import identifier, merge_usage, non_empty_string
from toolglot.io.request_validation import Body, unknown_keys
from toolglot.io.sse import SseFrames
from toolglot.io.stream_reader import StreamReader, read_whole_reply
from toolglot.io.streamed_call import StreamedCall
from toolglot.io.upstream_errors import find_error
from toolglot.wires.gemini_interactions.content import CONTENT_TYPES, read_one, text_state, type_of
from toolglot.wires.gemini_interactions.shapes import STATUS_IN, WIRE, read_usage
from toolglot.wires.gemini_interactions.steps import read_thought

_START, _DELTA, _STOP = "step.start", "step.delta", "step.stop"
_HEAD, _STATUS, _END = "interaction.created", "interaction.status_update", "interaction.completed"
_UPDATES = frozenset({_START, _DELTA, _STOP})
_NOT_THE_MODELS = frozenset({"user_input", "function_result"})  # in a stored interaction
_CALL_KEYS = frozenset({"type", "id", "name", "arguments"})
_THOUGHT_DELTA = frozenset({"type", "content", "text"})
# fields of an interaction that are read elsewhere, or echo the request
_ECHOES = frozenset(
    {"id", "object", "role", "status", "model", "agent", "created", "updated", "steps", "usage", "input", "errors", "error"}
    | {"previous_interaction_id", "generation_config", "system_instruction", "tools", "response_format", "event_type"}
    | {"response_mime_type", "response_modalities", "output_text", "labels", "agent_config", "safety_settings", "store"}
    | {"background", "stream", "cached_content", "environment", "webhook_config", "continuation_ids"}
)


def reader(channel: str | None = None) -> StreamReader:
    return StreamReader(SseFrames(), InteractionChunks(channel))


def read_events(body: Body, channel: str | None = None) -> list[Event]:
    """The events of a whole interaction."""
    return read_whole_reply(InteractionChunks(channel), body)


class InteractionChunks:
    """One event, or a whole interaction, at a time."""

    def __init__(self, channel: str | None = None) -> None:
        self.blocks = BlockBuilder()
        self._channel = channel
        self._steps: dict[Any, _Step] = {}  # by index
        self._beside: list[str] = []  # sealed state of the next text or call
        self._seen = 0
        self._status: str | None = None
        self._usage: Body = {}
        self._last: Body = {}

    def take(self, chunk: Body, event: str | None = None) -> None:
        kind = non_empty_string(chunk.get("event_type")) or event
        if kind in _UPDATES:
            self._step(kind, chunk)
        elif kind in (_HEAD, _END):
            interaction = chunk.get("interaction")
            self._interaction(interaction if isinstance(interaction, dict) else {}, ended=kind == _END)
        elif kind == _STATUS:
            self._status = non_empty_string(chunk.get("status")) or self._status
            merge_usage(self._usage, chunk.get("usage"))
        elif isinstance(chunk.get("steps"), list) or chunk.get("object") == "interaction":
            self._interaction(chunk, ended=event != "error")

    def _interaction(self, interaction: Body, *, ended: bool) -> None:
        model = interaction.get("model") or interaction.get("agent")
        self.blocks.start(interaction.get("id"), model, interaction.get("created"))
        self._status = non_empty_string(interaction.get("status")) or self._status
        merge_usage(self._usage, interaction.get("usage"))
        self._last.update(interaction)
        steps = interaction.get("steps")
        if isinstance(steps, list) and not self._seen:  # in a stream's last event they are repeated, if they are there at all
            self._whole_steps(steps)
        if ended:
            self.done()

    # -- steps

    def _whole_steps(self, steps: list[Any]) -> None:
        """Those after the user's last input: a stored interaction contains the input, too."""
        begin = max((at + 1 for at, step in enumerate(steps) if type_of(step) in _NOT_THE_MODELS), default=0)
        for at, step in enumerate(steps[begin:]):
            if isinstance(step, dict):
                self._step(_START, {"index": at, "step": step})
                self._step(_STOP, {"index": at})
            else:
                self.blocks.malformed("a step is not an object", step)

    def _step(self, kind: str, chunk: Body) -> None:
        index = chunk.get("index")
        key = index if type(index) is int else len(self._steps) - (kind != _START)
        if kind == _START:
            body = chunk.get("step")
            if isinstance(body, dict) and type_of(body):
                self._open(key, body)
            else:  # its deltas show what it is
                self.blocks.malformed("a step has no type", body)
            return
        step = self._steps.get(key)
        delta = chunk.get("delta")
        if kind == _STOP:
            self._close(key)
        elif isinstance(delta, dict):
            if step is None:
                step = self._open(key, {"type": _STEP_OF_DELTA.get(type_of(delta), "model_output")})
            step.take(delta)

    def _open(self, key: Any, body: Body) -> _Step:
        self._close(key)
        self._seen += 1
        step = self._steps[key] = _STEPS.get(type_of(body), _OtherStep)(body, self)
        return step

    def _close(self, key: Any) -> None:
        step = self._steps.pop(key, None)
        if step is not None:
            step.end()

    def state_of_next(self, fields: Body) -> Body:
        return {**fields, NEIGHBOUR_STATE: self._beside.pop()} if self._beside else fields

    # -- ends

    def done(self) -> None:
        """The interaction is complete. A call that was not ended stays open, and is cut short."""
        if not self.blocks.started or self.blocks.ended:
            return
        for key in [key for key, step in self._steps.items() if not isinstance(step, _CallStep) or self._status == "completed"]:
            self._close(key)
        if self._status is None:
            self.blocks.notes.append("the provider sent no status")
        if self._status == "failed":
            self.blocks.fail(self._error())
            return
        more = unknown_keys(self._last, _ECHOES)
        reason = STATUS_IN.get(self._status or "completed", "other")
        self.blocks.finish(reason, self._status, read_usage(self._usage), extra={WIRE: more} if more else {})

    def _error(self) -> UpstreamError:
        errors = self._last.get("errors")
        first = errors[0] if isinstance(errors, list) and errors else self._last.get("error")
        return find_error({"error": first}) or UpstreamError("the interaction failed", code="failed")

    def cut(self) -> None:
        """Only `interaction.completed` is the end."""


class _Step:
    """A step while it streams. Its first form may contain what others send in deltas."""

    def __init__(self, first: Body, chunks: InteractionChunks) -> None:
        self.first = first
        self._chunks = chunks
        self._blocks = chunks.blocks
        self._blocks.end_block()
        self.begin()

    def begin(self) -> None: ...
    def take(self, delta: Body) -> None: ...
    def end(self) -> None: ...


class _OutputStep(_Step):
    """The model's output: texts, and content of other kinds."""

    def begin(self) -> None:
        content = self.first.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        for item in content if isinstance(content, list) else ():
            if isinstance(item, dict):
                self._blocks.end_block()
                self.take(item)

    def take(self, delta: Body) -> None:
        kind, text = type_of(delta), delta.get("text")
        if kind == "text" or (not kind and isinstance(text, str)):
            if isinstance(text, str) and text:
                self._text(text)
            self._add(text_state(delta))
        elif kind == "text_annotation_delta":
            self._add({"annotations": delta.get("annotations")})
        elif kind in CONTENT_TYPES:
            self._blocks.part(_part(delta))
        else:
            self._blocks.part(Opaque(WIRE, delta))

    def _text(self, piece: str) -> None:
        if self._blocks.open_kind != "text":
            fields = self._chunks.state_of_next({})
            self._blocks.open_text(self._chunks._channel, {WIRE: fields} if fields else {})
        self._blocks.text(piece, self._chunks._channel)

    def _add(self, fields: Body) -> None:
        """Annotations of the open text: those of several deltas together."""
        fields = {key: value for key, value in fields.items() if value}
        if fields and self._blocks.open_kind == "text":
            self._blocks.add_extra({WIRE: fields})

    def end(self) -> None:
        self._blocks.end_block()


class _ThoughtStep(_Step):
    def begin(self) -> None:
        self._text, self._fields = read_thought(self.first)
        self._open = False
        if self._text:
            self._reasoning(self._text)

    def take(self, delta: Body) -> None:
        if type_of(delta) == "thought_signature":
            self._fields.update(unknown_keys(delta, frozenset({"type"})))
            return
        content = delta.get("content")
        text = content.get("text") if isinstance(content, dict) else delta.get("text")
        if isinstance(text, str):
            self._reasoning(text)
        elif isinstance(content, dict):  # an image
            self._fields.setdefault("summary", []).append(content)

    def _reasoning(self, piece: str) -> None:
        self._begin()
        self._blocks.reasoning(piece)

    def _begin(self) -> None:
        if not self._open or self._blocks.open_kind != "reasoning":
            self._open = True
            self._blocks.open_reasoning()

    def end(self) -> None:
        signature = self._fields.get("signature")
        if not self._open and belongs_to_next(signature):
            self._chunks._beside.append(str(signature))
            return
        if self._fields:
            self._begin()
            self._blocks.add_extra({WIRE: self._fields})
        self._blocks.end_block()


class _CallStep(_Step):
    def begin(self) -> None:
        self._call: StreamedCall | None = None
        name = non_empty_string(self.first.get("name"))
        if name is None:
            self._blocks.malformed("a function_call came without a name", self.first)
            return
        fields = self._chunks.state_of_next(unknown_keys(self.first, _CALL_KEYS))
        call_id = identifier(self.first.get("id"))
        self._call = StreamedCall(self._blocks, name, call_id, extra={WIRE: fields} if fields else {})

    def take(self, delta: Body) -> None:
        piece = delta.get("arguments")
        if self._call is None or piece is None:
            return
        self._call.feed(piece if isinstance(piece, str) else dumps(piece))
        more = unknown_keys(delta, _CALL_KEYS)
        if more:
            self._call.add_extra({WIRE: more})

    def end(self) -> None:
        if self._call is not None:
            arguments = self.first.get("arguments")
            text = arguments if isinstance(arguments, str) or arguments is None else dumps(arguments)
            self._call.close(text)


class _OtherStep(_Step):
    """A step that only this API has (a server tool's call or result): its deltas are merged into it."""

    def begin(self) -> None:
        self._block = dict(self.first)

    def take(self, delta: Body) -> None:
        for key, value in delta.items():
            if key == "type" or value is None:
                continue
            known = self._block.get(key)
            if isinstance(value, list) and isinstance(known, list):
                self._block[key] = [*known, *value]
            elif isinstance(value, dict) and isinstance(known, dict):
                self._block[key] = {**known, **value}
            else:
                self._block[key] = value

    def end(self) -> None:
        self._blocks.part(Opaque(WIRE, self._block))


_STEPS: dict[str, type[_Step]] = {"model_output": _OutputStep, "thought": _ThoughtStep, "function_call": _CallStep}
# for a delta whose step was not announced
_STEP_OF_DELTA = {"thought_summary": "thought", "thought_signature": "thought", "arguments_delta": "function_call"}


def _part(delta: Body) -> Any:
    try:
        return read_one(delta)
    except ValueError:
        return Opaque(WIRE, delta)
