"""One turn of a framework with its model, whose messages are classes of its own: what to send, and what comes back.

The framework's module writes its messages and tools as Chat's, and makes its own parts of `Part`s.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from toolglot.catalog.profiles import DEFAULT_DIALECT, profile
from toolglot.core.events import Close, Delta, Event, Open
from toolglot.core.interfaces import Body
from toolglot.core.messages import Part, Reasoning, Text, ToolCall
from toolglot.integrations.response_filter import EventFilter, Options
from toolglot.io.block_builder import BlockBuilder
from toolglot.wires import DEFAULT, find_wire

_UNKNOWN = "unknown"  # a model whose name the framework does not tell


class ModelTurn:
    """`sent`: the messages in Chat's form if the tools are in the prompt; None: send what there is, with native tools.

    Call `whole`, or `feed` for the parts of a stream and then `close`. `native`: whether the framework can send tools at all.
    """

    def __init__(
        self, messages: list[Body], tools: list[Body], options: Options, *, native: bool = True, **request: Any
    ) -> None:
        request["model"] = request.get("model") or _UNKNOWN
        if options.ask == "auto" and not native:
            options = msgspec.structs.replace(options, ask=f"dialect:{profile(request['model']).dialect or DEFAULT_DIALECT}")
        wire = find_wire(DEFAULT)
        assert wire is not None  # noqa: S101
        body = {"messages": messages, "tools": tools, **request}
        self._filter = EventFilter(wire, wire.read_request({key: one for key, one in body.items() if one is not None}), options)
        self.sent: list[Body] | None = self._filter.body["messages"] if self._filter.prompted else None
        self._in = BlockBuilder()
        self._out: dict[int, tuple[Open, list[str]]] = {}

    def whole(self, parts: Iterable[Part]) -> list[Part]:
        found: list[Part] = []
        for part in [*self.feed(*parts), *self.close()]:
            last = found[-1] if found else None
            if isinstance(part, Text) and isinstance(last, Text):
                found[-1] = Text(last.text + part.text)
            else:
                found.append(part)
        return found

    def feed(self, *parts: Part) -> list[Part]:
        for part in parts:
            if isinstance(part, Text):
                self._in.text(part.text)
            elif isinstance(part, Reasoning):
                self._in.reasoning(part.text)
            else:
                self._in.part(part)
        return self._parts(self._filter.events(self._in.take_events()))

    def close(self) -> list[Part]:
        self._in.finish("stop")
        return self._parts(self._filter.events(self._in.take_events()))

    def _parts(self, events: Iterable[Event]) -> list[Part]:
        found = []
        for event in events:
            if isinstance(event, Open):
                self._out[event.index] = (event, [])
            elif isinstance(event, Delta | Close):
                part = self._part(event)
                found += [] if part is None else [part]
        return found

    def _part(self, event: Delta | Close) -> Part | None:
        """Text and reasoning piece by piece, a call when it is whole."""
        opened, pieces = self._out[event.index]
        if isinstance(event, Delta):
            if opened.kind != "call":
                return Text(event.text) if opened.kind == "text" else Reasoning(event.text)
            pieces.append(event.text)
        elif opened.kind == "call" and event.sealed:
            return ToolCall(opened.call_id or "", opened.full_name, "".join(pieces), fixes=event.fixes)
        return None


def chat_tool(name: str, description: str | None, schema: Any) -> Body:
    return {"type": "function", "function": {"name": name, "description": description or "", "parameters": schema}}


def chat_call(id: str | None, name: str, arguments: str) -> Body:
    return {"id": id or name, "type": "function", "function": {"name": name, "arguments": arguments}}


def chat_assistant(text: str, calls: list[Body]) -> Body:
    return {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}


def chat_result(id: str | None, name: str, text: str) -> Body:
    return {"role": "tool", "tool_call_id": id or name, "content": text}
