"""Requests, calls, tokens, cost and seconds over time per model, in ring buffers with a fixed number of steps."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from operator import add
from typing import Any

from toolglot.gateway.metrics import LabelSet
from toolglot.gateway.records import CLIENT_CLOSED, Record

STEPS = 60
SPANS = {"hour": 60, "day": 24 * 60}  # seconds per step
_MAX_MODELS = 64
_MAX_OWNERS = 16  # the one without requests for the longest time is dropped first
_ALL = "*"
_NO_ROUTE = "no route"
COLUMNS = ("passed", "fixed", "refused", "requests", "failed", "rescued", "rescued_fixed", "input", "output", "cost")
_PER_DOUBLING = 8  # buckets of seconds: each is 9% longer than the one before
_MAX_BUCKET = _PER_DOUBLING * 22  # 70 minutes

_Seconds = dict[int, int]  # bucket -> number of responses


class _Row:
    """One model in one step."""

    __slots__ = ("counts", "seconds")

    def __init__(self) -> None:
        self.counts: list[float] = [0] * len(COLUMNS)
        self.seconds: _Seconds = {}


class _Ring:
    def __init__(self, step: int) -> None:
        self._step = step
        self._rows: dict[int, dict[str, _Row]] = {}  # step -> model

    def add(self, at: float, model: str, changes: list[float], bucket: int | None) -> None:
        now = int(at // self._step)
        rows = self._rows.get(now)
        if rows is None:
            self._rows = {step: rows for step, rows in self._rows.items() if now - STEPS < step < now}
            rows = self._rows[now] = {}
        row = rows.get(model)
        if row is None:
            row = rows[model] = _Row()
        row.counts = [*map(add, row.counts, changes)]
        if bucket is not None:
            row.seconds[bucket] = row.seconds.get(bucket, 0) + 1

    def rows(self, at: float) -> dict[str, list[tuple[int, _Row]]]:
        """For each model, how many steps ago, and what was counted."""
        now = int(at // self._step)
        by_model: dict[str, list[tuple[int, _Row]]] = {}
        for step in sorted(self._rows):
            if now - STEPS < step <= now:
                for model, row in self._rows[step].items():
                    by_model.setdefault(model, []).append((now - step, row))
        return by_model


def _new_rings() -> dict[str, _Ring]:
    return {name: _Ring(step) for name, step in SPANS.items()}


class History:
    """An observer of records."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._rings: OrderedDict[str, dict[str, _Ring]] = OrderedDict({_ALL: _new_rings()})  # by owner
        self._models = LabelSet(_MAX_MODELS)
        self.failed: dict[str, dict[str, Any]] = {}  # upstream -> its last error

    def __call__(self, record: Record) -> None:
        now = self._clock()
        failed = (bool(record.code) or record.status >= 400) and record.status != CLIENT_CLOSED  # not the fault of the model
        model = self._models.label(record.target or _NO_ROUTE)
        changes = _changes(record, failed)
        bucket = None if failed or record.status == CLIENT_CLOSED else _bucket(record.seconds)
        for ring in (*self._rings[_ALL].values(), *self._rings_of(record.owner).values()):
            ring.add(now, model, changes, bucket)
        if failed and record.upstream:
            self.failed[record.upstream] = {"code": record.code, "status": record.status, "at": now}

    def _rings_of(self, owner: str) -> dict[str, _Ring]:
        rings = self._rings.pop(owner, None) or _new_rings()
        self._rings[owner] = rings
        if len(self._rings) > _MAX_OWNERS:
            self._rings.move_to_end(_ALL)
            self._rings.popitem(last=False)
        return rings

    def to_dict(self, span: str, owner: str | None = None) -> dict[str, Any]:
        """Of one owner; None: of all. A model's rows begin with how many steps ago; `seconds` are its p50 and p95."""
        found = self._rings.get(_ALL if owner is None else owner, _new_rings())[span].rows(self._clock())
        seconds = {model: _merged(row.seconds for _, row in rows) for model, rows in found.items()}
        return {
            "span": span,
            "step": SPANS[span],
            "steps": STEPS,
            "columns": COLUMNS,
            "models": {model: [[ago, *row.counts] for ago, row in rows] for model, rows in found.items()},
            "seconds": {model: _percentiles(each) for model, each in seconds.items()},
            "all_seconds": _percentiles(_merged(seconds.values())),
        }


def _changes(record: Record, failed: bool) -> list[float]:
    """In the order of COLUMNS."""
    counts: dict[str, float] = dict.fromkeys(COLUMNS, 0)
    counts.update(requests=1, failed=failed, input=record.input or 0, output=record.output or 0, cost=record.cost or 0.0)
    for call in record.calls:
        counts[call.outcome] += 1
        if call.dialect != "native" and call.outcome != "refused":
            counts["rescued"] += 1
            counts["rescued_fixed"] += call.outcome == "fixed"
    return [*counts.values()]


# -- seconds


def _bucket(seconds: float) -> int:
    return min(_MAX_BUCKET, max(0, math.ceil(math.log2(max(seconds, 0.001) * 1000) * _PER_DOUBLING)))


def _merged(each: Iterable[_Seconds]) -> _Seconds:
    merged: _Seconds = {}
    for seconds in each:
        for bucket, number in seconds.items():
            merged[bucket] = merged.get(bucket, 0) + number
    return merged


def _percentiles(seconds: _Seconds) -> list[float] | None:
    """The median and the 95th percentile, to 5%; None: there is no response."""
    total = sum(seconds.values())
    if not total:
        return None
    found = []
    for share in (0.5, 0.95):
        seen = 0
        for bucket in sorted(seconds):
            seen += seconds[bucket]
            if seen >= share * total:
                found.append(round(2 ** ((bucket - 0.5) / _PER_DOUBLING) / 1000, 4))
                break
    return found
