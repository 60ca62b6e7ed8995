"""Requests as spans and metrics of OpenTelemetry's GenAI conventions, with `toolglot.*` attributes.

No message contents: only names of models and upstreams, counts, times and codes.
Source: opentelemetry.io/docs/specs/semconv/gen-ai, spans and metrics, since 1.37 (`gen_ai.provider.name`).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any
from urllib.parse import urlsplit

import msgspec
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from toolglot import __version__
from toolglot.gateway.metrics import LabelSet
from toolglot.gateway.records import CLIENT_CLOSED, Record
from toolglot.gateway.state import Gateway
from toolglot.wires import find_wire

_PROPAGATOR = TraceContextTextMapPropagator()
_SHUTDOWN_TIMEOUT = 3000  # milliseconds to send the last metrics

_DURATION = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_TOKENS = tuple(4**power for power in range(14))


class Destination(msgspec.Struct, frozen=True):
    """The upstream of a request."""

    provider: str = "unknown"
    host: str = ""
    port: int | None = None


class Telemetry:
    """A background job of the gateway that observes records. It flushes at shutdown."""

    def __init__(self, tracers: TracerProvider, meters: MeterProvider) -> None:
        self._tracers, self._meters = tracers, meters
        self._tracer = tracers.get_tracer("toolglot", __version__)
        self._models = LabelSet()
        self._errors = LabelSet(50)
        meter = meters.get_meter("toolglot", __version__)

        def histogram(name: str, unit: str, description: str, bounds: tuple[float, ...]) -> Any:
            return meter.create_histogram(name, unit, description, explicit_bucket_boundaries_advisory=list(bounds))

        self._duration = histogram("gen_ai.client.operation.duration", "s", "Request duration.", _DURATION)
        self._first = histogram("gen_ai.client.operation.time_to_first_chunk", "s", "Time to the first chunk.", _DURATION)
        self._tokens = histogram("gen_ai.client.token.usage", "{token}", "Tokens as counted by upstreams.", _TOKENS)
        self._calls = meter.create_counter("toolglot.calls", "{call}", "Tool calls by outcome.")
        self._rescued = meter.create_counter("toolglot.rescued", "{call}", "Calls recovered from text.")
        self._decisions = meter.create_counter("toolglot.decisions", "{decision}", "Decisions by reason code.")
        self._retried = meter.create_counter("toolglot.retried", "{request}", "Requests to repair a rejected call.")

    async def __call__(self, gateway: Gateway) -> None:
        def observe(record: Record) -> None:
            self.observe(record, _destination(gateway, record.upstream))

        gateway.records.observers.append(observe)
        try:
            await asyncio.Event().wait()
        finally:
            gateway.records.observers.remove(observe)
            flushes = asyncio.to_thread(self._tracers.shutdown), asyncio.to_thread(self._meters.shutdown, _SHUTDOWN_TIMEOUT)
            await asyncio.gather(*flushes)

    def observe(self, record: Record, to: Destination) -> None:
        common = _common(record, to)
        self._span(record, common)
        attributes = {**common, "gen_ai.request.model": self._models.label(common["gen_ai.request.model"])}
        if "error.type" in common:
            attributes["error.type"] = self._errors.label(common["error.type"])
        self._measure(record, attributes)

    # -- one span

    def _span(self, record: Record, common: dict[str, Any]) -> None:
        """Created after the request with its real times, so that it costs nothing while the request runs."""
        begin = int(record.began * 1e9)
        span = self._tracer.start_span(
            f"{common['gen_ai.operation.name']} {common['gen_ai.request.model']}".rstrip(),
            context=_PROPAGATOR.extract({"traceparent": record.traceparent}),
            kind=SpanKind.CLIENT,
            start_time=begin,
            attributes={**common, **_span_attributes(record)},
        )
        if "error.type" in common:
            span.set_status(Status(StatusCode.ERROR))
        span.end(begin + int(record.seconds * 1e9))

    # -- metrics

    def _measure(self, record: Record, common: dict[str, Any]) -> None:
        self._duration.record(record.seconds, common)
        if record.first is not None and record.stream:
            self._first.record(record.first, common)
        for kind, count in (("input", record.input), ("output", record.output)):
            if count is not None:
                self._tokens.record(count, {**common, "gen_ai.token.type": kind})
        model = {"gen_ai.request.model": common["gen_ai.request.model"]}
        for call in record.calls:
            outcome = {"toolglot.outcome": call.outcome, "toolglot.dialect": call.dialect, "toolglot.code": call.code}
            self._calls.add(1, {**model, **outcome})
        for decision in record.decisions:
            self._decisions.add(1, {**model, "toolglot.code": decision.code})
        if rescued := _rescued(record):
            self._rescued.add(rescued, model)
        if record.retried:
            self._retried.add(record.retried, model)


def _operation(wire: str) -> str:
    found = find_wire(wire)
    return found.operation if found is not None else "chat"


def _common(record: Record, to: Destination) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": _operation(record.upstream_wire),
        "gen_ai.provider.name": to.provider,
        "gen_ai.request.model": record.target or record.model,
    }
    if to.host:
        attributes["server.address"] = to.host
        if to.port is not None:
            attributes["server.port"] = to.port
    if record.code or record.status >= 400:
        attributes["error.type"] = "client_left" if record.status == CLIENT_CLOSED else record.code or str(record.status)
    return attributes


def _span_attributes(record: Record) -> dict[str, Any]:
    outcomes = Counter(call.outcome for call in record.calls)
    attributes = {
        "gen_ai.request.stream": record.stream,
        "gen_ai.response.time_to_first_chunk": record.first if record.stream else None,
        "gen_ai.usage.input_tokens": record.input,
        "gen_ai.usage.output_tokens": record.output,
        "toolglot.request.id": record.id,
        "toolglot.request.model": record.model,
        "toolglot.request.wire": record.wire,
        "toolglot.upstream": record.upstream or None,
        "toolglot.upstream.wire": record.upstream_wire or None,
        "toolglot.tool_mode": record.tool_mode or None,
        "toolglot.status": record.status,
        "toolglot.decisions": [one.code for one in record.decisions] or None,
        "toolglot.calls.passed": outcomes["passed"],
        "toolglot.calls.fixed": outcomes["fixed"],
        "toolglot.calls.refused": outcomes["refused"],
        "toolglot.rescued": _rescued(record),
        "toolglot.retried": record.retried,
    }
    return {name: value for name, value in attributes.items() if value is not None}


def _rescued(record: Record) -> int:
    return sum(one.code == "rescued_text" for one in record.decisions)


def _destination(gateway: Gateway, name: str) -> Destination:
    upstream = gateway.live.config.upstreams.get(name)
    if upstream is None:
        return Destination()
    provider = upstream.row.telemetry_name or upstream.row.name
    parts = urlsplit(upstream.row.base_url)
    if upstream.embedded or not parts.hostname:
        return Destination(provider)
    return Destination(provider, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80))
