"""`/metrics`, for Prometheus. Requests only count; what they come to is written when somebody asks for it."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

from toolglot.gateway.known_names import KnownNames
from toolglot.gateway.records import Record

MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4.encode()
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
_BOUNDS = (*map(str, _SECONDS), "+Inf")


class _Counter:
    def __init__(self, name: str, about: str, labels: list[str]) -> None:
        self._told = (name, about)
        self._labels = labels
        self.by: defaultdict[tuple[str, ...], int] = defaultdict(int)

    def shown(self) -> Metric:
        family = CounterMetricFamily(*self._told, labels=self._labels)
        for labels, number in self.by.items():
            family.add_metric(labels, number)
        return family


class _Histogram:
    def __init__(self, name: str, about: str, labels: list[str]) -> None:
        self._told = (name, about)
        self._labels = labels
        self._by: dict[tuple[str, ...], list[float]] = {}  # so many in each step, and their sum

    def observe(self, labels: tuple[str, ...], seconds: float) -> None:
        held = self._by.get(labels)
        if held is None:
            held = self._by[labels] = [0.0] * (len(_BOUNDS) + 1)
        held[bisect_left(_SECONDS, seconds)] += 1
        held[-1] += seconds

    def shown(self) -> Metric:
        family = HistogramMetricFamily(*self._told, labels=self._labels)
        for labels, (*steps, total) in self._by.items():
            below = [sum(steps[: at + 1]) for at in range(len(_BOUNDS))]
            family.add_metric(labels, list(zip(_BOUNDS, below, strict=True)), total)
        return family


class Metrics(Collector):
    """An observer of records."""

    def __init__(self) -> None:
        by = ["wire", "model"]
        self._requests = _Counter("toolglot_requests", "Requests by outcome.", [*by, "upstream", "status"])
        self._seconds = _Histogram("toolglot_request_seconds", "How long requests took.", by)
        self._first = _Histogram("toolglot_first_token_seconds", "Time to the first piece of a stream.", by)
        self._tokens = _Counter("toolglot_tokens", "Tokens as upstreams count them.", ["model", "kind"])
        self._calls = _Counter(
            "toolglot_calls", "Calls that models made, and what became of them.", ["model", "dialect", "outcome", "code"]
        )
        self._decisions = _Counter("toolglot_decisions", "Decisions by reason code.", ["model", "code"])
        self._mended = _Counter("toolglot_mended", "Times a model was asked again for a refused call.", ["model"])
        self._models = KnownNames()
        self.running = 0
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def __call__(self, record: Record) -> None:
        model = self._models.told_apart(record.target)
        self._requests.by[record.wire, model, record.upstream, str(record.status)] += 1
        self._seconds.observe((record.wire, model), record.seconds)
        if record.first is not None and record.stream:
            self._first.observe((record.wire, model), record.first)
        if record.input:
            self._tokens.by[model, "input"] += record.input
        if record.output:
            self._tokens.by[model, "output"] += record.output
        for call in record.calls:
            self._calls.by[model, call.dialect, call.outcome, call.code] += 1
        for decision in record.decisions:
            self._decisions.by[model, decision.code] += 1
        if record.mended:
            self._mended.by[model,] += record.mended

    def collect(self) -> Iterator[Metric]:
        held = (self._requests, self._seconds, self._first, self._tokens, self._calls, self._decisions, self._mended)
        yield from (one.shown() for one in held)
        yield self._success()
        yield GaugeMetricFamily("toolglot_running_requests", "Requests that run now.", value=self.running)

    def _success(self) -> Metric:
        """Since the start; a rate over any other time is made of toolglot_calls."""
        made: defaultdict[str, int] = defaultdict(int)
        left: defaultdict[str, int] = defaultdict(int)
        for (model, _, outcome, _), number in self._calls.by.items():
            made[model] += number
            left[model] += number if outcome != "refused" else 0
        family = GaugeMetricFamily("toolglot_call_success_ratio", "Share of a model's calls that left.", labels=["model"])
        for model, number in made.items():
            family.add_metric([model], left[model] / number)
        return family

    def page(self) -> bytes:
        return generate_latest(self._registry)
