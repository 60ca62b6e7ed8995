"""Writes Gemini Interactions' stream: each block is a step, one after another."""

from __future__ import annotations

from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.fold import fold
from toolglot.core.interfaces import ResponseContext
from toolglot.core.messages import Extra, Part, Reasoning, Text, ToolCall
from toolglot.core.neighbour_state import sealed_neighbour_state, unsigned
from toolglot.io.event_writer import SequentialWriter
from toolglot.io.json_codec import encode
from toolglot.io.request_validation import Body, wire_extra
from toolglot.io.sse import encode_sse
from toolglot.wires.gemini_interactions.reply import (
    ReplyTurn,
    error_fields,
    thought_state,
    write_end,
    write_head,
)
from toolglot.wires.gemini_interactions.shapes import WIRE
from toolglot.wires.gemini_interactions.steps import write_call, write_thought

_FIRST_FORMS: dict[str, Body] = {"text": {"type": "model_output"}, "reasoning": {"type": "thought"}}
_DELTA_END = b',"event_type":"step.delta"}\n\n'
_DONE = b"event: done\ndata: [DONE]\n\n"
# kind of block -> what comes before and after a piece of text in its delta. Other kinds are written as a whole.
_DELTAS = {
    "text": (b'{"type":"text","text":', b"}"),
    "reasoning": (b'{"type":"thought_summary","content":{"type":"text","text":', b"}}"),
    "call": (b'{"type":"arguments_delta","arguments":', b"}"),
}


class InteractionsWriter(SequentialWriter):
    def __init__(self, context: ResponseContext, notes: list[str]) -> None:
        super().__init__(context, notes)
        self._head: Body = {}
        self._next = 0  # index of the next step
        self._open: Open | None = None
        self._events: list[Event] = []  # of the open block
        self._begun = False  # the open block's step was announced
        self._around_text = (b"", b"")  # in a delta of the open block

    # -- the interaction around the steps

    def on_start(self, event: Start) -> bytes:
        self._head = write_head(self._context, event.id, event.model, event.created)
        running = {**self._head, "status": "in_progress"}
        return _event("interaction.created", encode({"interaction": running})) + self._status("in_progress")

    def _status(self, status: str) -> bytes:
        return _event("interaction.status_update", encode({"interaction_id": self._head["id"], "status": status}))

    def on_finish(self, event: Finish) -> bytes:
        end = write_end(event.stop, event.usage)
        extra = wire_extra(event.extra, WIRE, "reply", self._notes) if event.extra else {}
        completed = _event("interaction.completed", encode({"interaction": {**self._head, **end, **extra}}))
        return self._status(end["status"]) + completed + _DONE

    def on_error(self, event: Fault) -> bytes:
        return _event("error", encode({"error": error_fields(event.error)})) + _DONE

    # -- steps

    def on_open(self, event: Open) -> bytes:
        self._open, self._events, self._begun = event, [event], False
        return self._begin(event) if event.kind == "call" else b""

    def on_delta(self, index: int, text: str) -> bytes:
        self._events.append(Delta(index, text))
        if self._open is None or self._open.kind not in _DELTAS or not text:
            return b""
        begun = b"" if self._begun else self._begin(self._open)
        before, after = self._around_text
        return begun + b"".join((before, encode(text), after))

    def on_close(self, event: Close) -> bytes:
        opened, self._open = self._open, None
        if opened is None:
            return b""
        part = fold([*self._events, event]).parts[0]
        late = sealed_neighbour_state(event.extra, WIRE, "last") if isinstance(part, (Text, ToolCall)) else None
        written = self._end(part, event.extra) if self._begun else b"".join(map(self._whole, self._steps_of(part)))
        return written + (self._whole(write_thought("", {"signature": late})) if late is not None else b"")

    def _steps_of(self, part: Part) -> list[Body]:
        steps: list[Body] = []
        ReplyTurn(steps, self._notes).add(part)
        return steps

    def _begin(self, opened: Open) -> bytes:
        """Announces the step of the open block."""
        self._begun = True
        written, step = b"", _FIRST_FORMS.get(opened.kind)
        sealed = sealed_neighbour_state(opened.extra, WIRE) if opened.kind != "reasoning" else None
        if sealed is not None:
            written = self._whole(write_thought("", {"signature": sealed}))
        if step is None:
            extra = unsigned(opened.extra, WIRE)
            call = ToolCall(opened.call_id or "", opened.name or "", "{}", opened.namespace, extra=extra)
            step = write_call(call, self._notes)
        before, after = _DELTAS[opened.kind]
        self._around_text = (b'event: step.delta\ndata: {"index":%d,"delta":%b' % (self._next, before), after + _DELTA_END)
        return written + self._start_step(step)

    def _end(self, part: Part, late: Extra) -> bytes:
        """Ends the open block's step, with what is known only now."""
        written = b""
        if isinstance(part, Reasoning):
            written = self._signature(thought_state(part.extra))
        elif isinstance(part, Text) and part.extra:
            annotations = wire_extra(unsigned(part.extra, WIRE), WIRE, "text", self._notes).get("annotations")
            if annotations:
                written = self._step_delta({"type": "text_annotation_delta", "annotations": annotations})
        elif late:
            wire_extra(unsigned(late, WIRE), WIRE, "call", self._notes)
        return written + self._stop_step()

    def _whole(self, step: Body) -> bytes:
        """A step in one piece, in the form in which the API streams such."""
        if step["type"] == "thought":
            summary = step.get("summary", ())
            deltas = b"".join(self._step_delta({"type": "thought_summary", "content": item}) for item in summary)
            return self._start_step({"type": "thought"}) + deltas + self._signature(step) + self._stop_step()
        if step["type"] == "model_output":
            deltas = b"".join(map(self._step_delta, step["content"]))
            return self._start_step({"type": "model_output"}) + deltas + self._stop_step()
        return self._start_step(step) + self._stop_step()

    def _signature(self, fields: Body) -> bytes:
        signature = fields.get("signature")
        return self._step_delta({"type": "thought_signature", "signature": signature}) if signature else b""

    def _start_step(self, step: Body) -> bytes:
        return _event("step.start", encode({"index": self._next, "step": step}))

    def _step_delta(self, delta: Body) -> bytes:
        return _event("step.delta", encode({"index": self._next, "delta": delta}))

    def _stop_step(self) -> bytes:
        self._next += 1
        return _event("step.stop", encode({"index": self._next - 1}))


def _event(kind: str, data: bytes) -> bytes:
    """An event; `data` is its object without the type."""
    return encode_sse(b'%b,"event_type":"%b"}' % (data[:-1], kind.encode()), kind)
