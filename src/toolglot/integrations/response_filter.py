"""A server's response with the calls recovered and validated, in the same API: bytes in, bytes out, no I/O.

With a tool mode other than native tools, the request is rewritten: `body` is what to send instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, TypedDict

import msgspec

from toolglot.catalog.profiles import profile
from toolglot.catalog.providers import provider
from toolglot.client.exchange import channel, new_call_id
from toolglot.core.events import Event, Finish
from toolglot.core.fold import fold, unfold_part
from toolglot.core.interfaces import Body, ResponseContext, Wire
from toolglot.core.messages import Text
from toolglot.core.reply import Decision
from toolglot.core.request import Request
from toolglot.errors import ToolglotError
from toolglot.io.json_codec import encode, loads_object
from toolglot.pipeline.convert import open_reader, write_request
from toolglot.pipeline.request.fit_request import fit_request
from toolglot.pipeline.request.route import Route, WireFormat
from toolglot.pipeline.request.tool_mode import read_mode
from toolglot.pipeline.response.call_validator import Policy, check_options
from toolglot.pipeline.response.rejected_text import explain_rejected
from toolglot.pipeline.response.response_pipeline import ResponsePipeline

_ANY_SERVER = "openai-compatible"
_DATA = b"data: "


class TurnOptions(TypedDict, total=False):
    """Of what wraps a model."""

    policy: Policy
    weak_forms: bool | None
    on_decision: Callable[[Decision], None] | None


class TransportOptions(TurnOptions, total=False):
    """Of what reads HTTP."""

    ask: str
    calls: Literal["hold", "pass"]


class Options(msgspec.Struct, frozen=True):
    ask: str = "native"  # the tool mode: native, auto (by the model's profile) or dialect:<name>
    policy: Policy = "balanced"
    calls: Literal["hold", "pass"] = "hold"
    weak_forms: bool | None = None  # scan text for calls without a marker; None: by the model's profile
    on_decision: Callable[[Decision], None] | None = None  # called for each decision, when the response has ended

    def __post_init__(self) -> None:
        check_options(self.policy, self.calls)
        if self.ask != "auto":
            read_mode(self.ask, provider(_ANY_SERVER))


class EventFilter:
    """For one response: its events, with the calls recovered and validated."""

    def __init__(self, wire: Wire, request: Request, options: Options) -> None:
        route = Route(provider(_ANY_SERVER), wire, request.model, profile(request.model))
        plan = fit_request(request, route, ask=options.ask, weak_forms=options.weak_forms)
        self.prompted = plan.tool_mode.kind != "native"
        self._plan = plan if self.prompted else msgspec.structs.replace(plan, notes=())  # else the request is not changed
        self._pipeline = ResponsePipeline(self._plan, policy=options.policy, calls=options.calls, make_id=new_call_id)
        self._wire, self._request, self._on_decision = wire, request, options.on_decision

    @property
    def body(self) -> Body:
        """The request in its tool mode."""
        body = write_request(self._plan.request, WireFormat(self._wire, self._plan.route.provider.quirks), [])
        return {key: value for key, value in body.items() if key not in self._wire.path_keys}

    def events(self, events: list[Event]) -> list[Event]:
        out = self._pipeline.feed(events)
        last = out[-1] if out else None
        if not isinstance(last, Finish):
            return out
        if not self._pipeline.sent.blocks and (text := explain_rejected(last.decisions)):
            out[-1:] = [*unfold_part(0, Text(text)), last]
        for decision in self._pipeline.sent.decisions if self._on_decision is not None else ():
            self._on_decision(decision)  # type: ignore[misc]
        return out


class ResponseFilter(EventFilter):
    """Call `whole`, or `feed` for each piece of a stream and then `close`."""

    def __init__(self, wire: Wire, request: Request, options: Options) -> None:
        super().__init__(wire, request, options)
        self._channel = channel(self._plan)
        self._reader = open_reader(WireFormat(wire), self._channel)
        self._writer = wire.writer(ResponseContext(request=request, stream_usage=request.stream_usage), [])

    def whole(self, body: bytes) -> bytes:
        """A whole response. The same bytes, if nothing is to be changed."""
        content = loads_object(body.decode(errors="replace"))
        if content is None:
            return body
        events = self._wire.read_events(content, self._channel)
        before, after = fold(events), fold(self.events(events))
        if after.error is not None or (after.parts, after.stop) == (before.parts, before.stop):
            return body
        return encode(self._wire.write_reply(after, ResponseContext(request=self._request), []))

    def feed(self, piece: bytes) -> bytes:
        return self._written(self._reader.feed(piece))

    def close(self) -> bytes:
        return self._written(self._reader.close()) + self._writer.close()

    def feed_chunk(self, chunk: bytes) -> Iterator[Body]:
        """For hosts that have chunks instead of bytes: the JSON of one, and the objects that replace it."""
        return _objects(self.feed(_DATA + chunk + b"\n\n"))

    def close_chunks(self) -> Iterator[Body]:
        return _objects(self.feed(_DATA + b"[DONE]\n\n") + self.close())

    def _written(self, events: list[Event]) -> bytes:
        return b"".join([self._writer.feed(event) for event in self.events(events)])


def _objects(written: bytes) -> Iterator[Body]:
    for line in written.splitlines():
        content = loads_object(line.removeprefix(_DATA).decode()) if line.startswith(_DATA + b"{") else None
        if content is not None:
            yield content


def response_filter(
    wires: Iterable[tuple[str, Wire]], path: str, body: bytes, options: Options, **more: Any
) -> ResponseFilter | None:
    """The filter for a request to this path. None: it has no tools, or can't be read, and its response passes unchanged.

    `wires`: how the paths of each API end. `more`: parts of the request that are not in its body.
    """
    wire = next((wire for end, wire in wires if path.rstrip("/").endswith(end)), None)
    content = loads_object(body.decode(errors="replace")) if wire is not None else None
    return None if wire is None or content is None else filter_for(wire, {**content, **more}, options)


def filter_for(wire: Wire, content: dict[str, Any], options: Options) -> ResponseFilter | None:
    """The filter for this request. None: it has no tools, or can't be read."""
    try:
        request = wire.read_request(content)
    except ToolglotError:
        return None  # the server reports what is wrong with it
    return ResponseFilter(wire, request, options) if request.tools else None
