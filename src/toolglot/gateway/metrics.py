"""Prometheus metrics. Requests only increment counters; the text is rendered on GET /metrics."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

from toolglot.gateway.records import Record

MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4.encode()
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
_BOUNDS = (*map(str, _SECONDS), "+Inf")


class LabelSet:
    """Limits the number of label values: model names may come from clients."""

    OTHER = "other"

    def __init__(self, max_labels: int = 200) -> None:
        self._max_labels = max_labels
        self._known: set[str] = set()

    def label(self, name: str) -> str:
        """The name, or "other" if there are too many."""
        if name not in self._known:
            if len(self._known) >= self._max_labels:
                return self.OTHER
            self._known.add(name)
        return name


class _Counter:
    def __init__(self, name: str, description: str, labels: list[str]) -> None:
        self._name, self._description = name, description
        self._labels = labels
        self.by: defaultdict[tuple[str, ...], float] = defaultdict(int)

    def family(self) -> Metric:
        family = CounterMetricFamily(self._name, self._description, labels=self._labels)
        for labels, number in self.by.items():
            family.add_metric(labels, number)
        return family


class _Histogram:
    def __init__(self, name: str, description: str, labels: list[str]) -> None:
        self._name, self._description = name, description
        self._labels = labels
        self._by: dict[tuple[str, ...], list[float]] = {}  # a count per bucket, then the sum

    def observe(self, labels: tuple[str, ...], seconds: float) -> None:
        counts = self._by.get(labels)
        if counts is None:
            counts = self._by[labels] = [0.0] * (len(_BOUNDS) + 1)
        counts[bisect_left(_SECONDS, seconds)] += 1
        counts[-1] += seconds

    def family(self) -> Metric:
        family = HistogramMetricFamily(self._name, self._description, labels=self._labels)
        for labels, (*buckets, total) in self._by.items():
            cumulative = [sum(buckets[: at + 1]) for at in range(len(_BOUNDS))]
            family.add_metric(labels, list(zip(_BOUNDS, cumulative, strict=True)), total)
        return family


class Metrics(Collector):
    """An observer of records."""

    def __init__(self) -> None:
        by = ["wire", "model"]
        self._requests = _Counter("toolglot_requests", "Requests by outcome.", [*by, "upstream", "status"])
        self._seconds = _Histogram("toolglot_request_seconds", "Request duration.", by)
        self._first = _Histogram("toolglot_first_token_seconds", "Time to the first chunk of a stream.", by)
        self._tokens = _Counter("toolglot_tokens", "Tokens as counted by upstreams.", ["model", "key", "kind"])
        self._cost = _Counter("toolglot_cost_dollars", "Cost of requests whose model has a price.", ["model", "key"])
        self._calls = _Counter("toolglot_calls", "Tool calls by outcome.", ["model", "dialect", "outcome", "code"])
        self._decisions = _Counter("toolglot_decisions", "Decisions by reason code.", ["model", "code"])
        self._retried = _Counter("toolglot_retried", "Requests to a model to repair a rejected call.", ["model"])
        self._sent = _Counter("toolglot_upstream_requests", "HTTP requests to upstreams for requests of clients.", [])
        resent = "Of these: sent again, because the upstream had closed a kept connection."
        self._resent = _Counter("toolglot_upstream_resent", resent, [])
        self._models, self._keys = LabelSet(), LabelSet()
        self.running = 0
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def __call__(self, record: Record) -> None:
        model = self._models.label(record.target)
        self._requests.by[record.wire, model, record.upstream, str(record.status)] += 1
        self._seconds.observe((record.wire, model), record.seconds)
        if record.first is not None and record.stream:
            self._first.observe((record.wire, model), record.first)
        if record.input or record.output or record.cost:
            key = self._keys.label(record.owner)
            self._tokens.by[model, key, "input"] += record.input or 0
            self._tokens.by[model, key, "output"] += record.output or 0
            if record.cost:
                self._cost.by[model, key] += record.cost
        for call in record.calls:
            self._calls.by[model, call.dialect, call.outcome, call.code] += 1
        for decision in record.decisions:
            self._decisions.by[model, decision.code] += 1
        if record.retried:
            self._retried.by[model,] += record.retried
        self._sent.by[()] += record.sent
        self._resent.by[()] += record.resent

    def collect(self) -> Iterator[Metric]:
        metrics = (self._requests, self._seconds, self._first, self._tokens, self._cost, self._calls, self._decisions)
        yield from (metric.family() for metric in metrics)
        yield from (metric.family() for metric in (self._retried, self._sent, self._resent))
        yield self._success()
        yield GaugeMetricFamily("toolglot_running_requests", "Requests in progress.", value=self.running)

    def _success(self) -> Metric:
        """Since the start. For other periods, use toolglot_calls."""
        total: defaultdict[str, float] = defaultdict(float)
        accepted: defaultdict[str, float] = defaultdict(float)
        for (model, _, outcome, _), number in self._calls.by.items():
            total[model] += number
            accepted[model] += number if outcome != "refused" else 0
        family = GaugeMetricFamily(
            "toolglot_call_success_ratio", "Share of a model's calls that were not rejected.", labels=["model"]
        )
        for model, number in total.items():
            family.add_metric([model], accepted[model] / number)
        return family

    def exposition(self) -> bytes:
        return generate_latest(self._registry)
