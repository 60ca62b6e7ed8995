"""`/metrics`, for Prometheus."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

from toolglot.gateway.known_names import KnownNames
from toolglot.gateway.records import Record

MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4.encode()
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)

Metric = TypeVar("Metric", Counter, Histogram)


class Metrics:
    """An observer of records."""

    def __init__(self) -> None:
        self._registry = held = CollectorRegistry()
        by = ["wire", "model"]
        self._requests = Counter("toolglot_requests", "Requests by outcome.", [*by, "upstream", "status"], registry=held)
        self._seconds = Histogram("toolglot_request_seconds", "How long requests took.", by, buckets=_SECONDS, registry=held)
        self._first = Histogram(
            "toolglot_first_token_seconds", "Time to the first piece of a stream.", by, buckets=_SECONDS, registry=held
        )
        self._tokens = Counter("toolglot_tokens", "Tokens as upstreams count them.", ["model", "kind"], registry=held)
        self._calls = Counter(
            "toolglot_calls",
            "Calls that models made, and what became of them.",
            ["model", "dialect", "outcome", "code"],
            registry=held,
        )
        self._decisions = Counter("toolglot_decisions", "Decisions by reason code.", ["model", "code"], registry=held)
        self._mended = Counter("toolglot_mended", "Times a model was asked again for a refused call.", ["model"], registry=held)
        self.running = Gauge("toolglot_running_requests", "Requests that run now.", registry=held)
        self._models = KnownNames()

    def __call__(self, record: Record) -> None:
        model = self._models.told_apart(record.target)
        _of(self._requests, record.wire, model, record.upstream, str(record.status)).inc()
        _of(self._seconds, record.wire, model).observe(record.seconds)
        if record.first is not None and record.stream:
            _of(self._first, record.wire, model).observe(record.first)
        if record.input:
            _of(self._tokens, model, "input").inc(record.input)
        if record.output:
            _of(self._tokens, model, "output").inc(record.output)
        for call in record.calls:
            _of(self._calls, model, call.dialect, call.outcome, call.code).inc()
        for decision in record.decisions:
            _of(self._decisions, model, decision.code).inc()
        if record.mended:
            _of(self._mended, model).inc(record.mended)

    def page(self) -> bytes:
        return generate_latest(self._registry)


@lru_cache(4096)
def _of(metric: Metric, *labels: str) -> Metric:
    """The child for these labels: found again without a lock, for every request asks for several."""
    return metric.labels(*labels)
