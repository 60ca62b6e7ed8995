"""A request as OpenTelemetry's GenAI conventions tell it: one span and some measurements; ours for rescue and repair.

Nothing that was said is in it: names of models and upstreams, counts, times and codes.
Source: opentelemetry.io/docs/specs/semconv/gen-ai, spans and metrics, as they are since 1.37 (`gen_ai.provider.name`).
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
from toolglot.gateway.known_names import KnownNames
from toolglot.gateway.records import Record
from toolglot.gateway.state import Gateway

_PROPAGATOR = TraceContextTextMapPropagator()
_LEFT = 499
_LAST = 3000  # milliseconds that the last measurements may take to leave

# our providers whose name in the conventions' list is another one; those not listed there keep ours
_PROVIDERS = {"gemini": "gcp.gemini", "mistral": "mistral_ai", "openai-responses": "openai"}
_OPERATIONS = {"gemini": "generate_content"}  # by the wire that is asked; all others are "chat"
_DURATION = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_TOKENS = tuple(4**power for power in range(14))


class Where(msgspec.Struct, frozen=True):
    """Whom a request was sent to."""

    provider: str = "unknown"
    host: str = ""
    port: int | None = None


class Telemetry:
    """An observer of records, and part of `Gateway.around`: what is left to send is sent when the server stops."""

    def __init__(self, tracers: TracerProvider, meters: MeterProvider) -> None:
        self._tracers, self._meters = tracers, meters
        self._tracer = tracers.get_tracer("toolglot", __version__)
        self._models = KnownNames()
        self._errors = KnownNames(50)
        meter = meters.get_meter("toolglot", __version__)

        def histogram(name: str, unit: str, what: str, bounds: tuple[float, ...]) -> Any:
            return meter.create_histogram(name, unit, what, explicit_bucket_boundaries_advisory=list(bounds))

        self._duration = histogram("gen_ai.client.operation.duration", "s", "How long requests took.", _DURATION)
        self._first = histogram("gen_ai.client.operation.time_to_first_chunk", "s", "Time to the first piece.", _DURATION)
        self._tokens = histogram("gen_ai.client.token.usage", "{token}", "Tokens as upstreams count them.", _TOKENS)
        self._calls = meter.create_counter("toolglot.calls", "{call}", "Calls, and what became of them.")
        self._rescued = meter.create_counter("toolglot.rescued", "{call}", "Calls that were read from text.")
        self._decisions = meter.create_counter("toolglot.decisions", "{decision}", "Decisions by reason code.")
        self._mended = meter.create_counter("toolglot.mended", "{request}", "Times a model was asked again.")

    async def __call__(self, gateway: Gateway) -> None:
        def observe(record: Record) -> None:
            self.observe(record, _where(gateway, record.upstream))

        gateway.records.observers.append(observe)
        try:
            await asyncio.Event().wait()
        finally:
            gateway.records.observers.remove(observe)
            last = asyncio.to_thread(self._tracers.shutdown), asyncio.to_thread(self._meters.shutdown, _LAST)
            await asyncio.gather(*last)

    def observe(self, record: Record, where: Where) -> None:
        common = _common(record, where)
        self._span(record, common)
        measured = {**common, "gen_ai.request.model": self._models.told_apart(common["gen_ai.request.model"])}
        if "error.type" in common:
            measured["error.type"] = self._errors.told_apart(common["error.type"])
        self._measure(record, measured)

    # -- one span

    def _span(self, record: Record, common: dict[str, Any]) -> None:
        """Made when the request is over, with the times it had: nothing is paid for while it runs."""
        begin = int(record.began * 1e9)
        span = self._tracer.start_span(
            f"{common['gen_ai.operation.name']} {common['gen_ai.request.model']}".rstrip(),
            context=_PROPAGATOR.extract({"traceparent": record.traceparent}),
            kind=SpanKind.CLIENT,
            start_time=begin,
            attributes={**common, **_of_span(record)},
        )
        if "error.type" in common:
            span.set_status(Status(StatusCode.ERROR))
        span.end(begin + int(record.seconds * 1e9))

    # -- measurements

    def _measure(self, record: Record, common: dict[str, Any]) -> None:
        self._duration.record(record.seconds, common)
        if record.first is not None and record.stream:
            self._first.record(record.first, common)
        for kind, count in (("input", record.input), ("output", record.output)):
            if count is not None:
                self._tokens.record(count, {**common, "gen_ai.token.type": kind})
        model = {"gen_ai.request.model": common["gen_ai.request.model"]}
        for call in record.calls:
            said = {"toolglot.outcome": call.outcome, "toolglot.dialect": call.dialect, "toolglot.code": call.code}
            self._calls.add(1, {**model, **said})
        for decision in record.decisions:
            self._decisions.add(1, {**model, "toolglot.code": decision.code})
        if rescued := _rescued(record):
            self._rescued.add(rescued, model)
        if record.mended:
            self._mended.add(record.mended, model)


def _common(record: Record, where: Where) -> dict[str, Any]:
    held: dict[str, Any] = {
        "gen_ai.operation.name": _OPERATIONS.get(record.upstream_wire, "chat"),
        "gen_ai.provider.name": where.provider,
        "gen_ai.request.model": record.target or record.model,
    }
    if where.host:
        held["server.address"] = where.host
        if where.port is not None:
            held["server.port"] = where.port
    if record.code or record.status >= 400:
        held["error.type"] = "client_left" if record.status == _LEFT else record.code or str(record.status)
    return held


def _of_span(record: Record) -> dict[str, Any]:
    outcomes = Counter(call.outcome for call in record.calls)
    held = {
        "gen_ai.request.stream": record.stream,
        "gen_ai.response.time_to_first_chunk": record.first if record.stream else None,
        "gen_ai.usage.input_tokens": record.input,
        "gen_ai.usage.output_tokens": record.output,
        "toolglot.request.id": record.id,
        "toolglot.request.model": record.model,
        "toolglot.request.wire": record.wire,
        "toolglot.upstream": record.upstream or None,
        "toolglot.upstream.wire": record.upstream_wire or None,
        "toolglot.way": record.way or None,
        "toolglot.status": record.status,
        "toolglot.decisions": [one.code for one in record.decisions] or None,
        "toolglot.calls.passed": outcomes["passed"],
        "toolglot.calls.fixed": outcomes["fixed"],
        "toolglot.calls.refused": outcomes["refused"],
        "toolglot.rescued": _rescued(record),
        "toolglot.mended": record.mended,
    }
    return {name: value for name, value in held.items() if value is not None}


def _rescued(record: Record) -> int:
    return sum(one.code == "rescued_text" for one in record.decisions)


def _where(gateway: Gateway, name: str) -> Where:
    upstream = gateway.live.config.upstreams.get(name)
    if upstream is None:
        return Where()
    provider = _PROVIDERS.get(upstream.row.name, upstream.row.name)
    parts = urlsplit(upstream.row.base_url)
    if upstream.embedded or not parts.hostname:
        return Where(provider)
    return Where(provider, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80))
