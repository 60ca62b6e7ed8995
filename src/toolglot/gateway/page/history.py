"""Call outcomes over time per model, in ring buffers with a fixed number of steps."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from toolglot.gateway.metrics import LabelSet
from toolglot.gateway.records import CLIENT_CLOSED, Record

STEPS = 60
SPANS = {"hour": 60, "day": 24 * 60}  # seconds per step
_MAX_MODELS = 40
_MAX_OWNERS = 64  # the one without requests for the longest time is dropped first
_ALL = "*"
_OUTCOMES = {"passed": 0, "fixed": 1, "refused": 2}


class _Ring:
    def __init__(self, step: int) -> None:
        self._step = step
        self._counts: dict[int, dict[str, list[int]]] = {}  # step -> model -> passed, fixed, refused, requests, failed

    def row(self, at: float, model: str) -> list[int]:
        now = int(at // self._step)
        if now not in self._counts:
            self._counts = {step: counts for step, counts in self._counts.items() if now - STEPS < step < now}
        return self._counts.setdefault(now, {}).setdefault(model, [0] * 5)

    def rows(self, at: float) -> dict[str, list[list[int]]]:
        """For each model, rows of [steps ago, passed, fixed, refused, requests, failed]."""
        now = int(at // self._step)
        by_model: dict[str, list[list[int]]] = {}
        for step in sorted(self._counts):
            if now - STEPS < step <= now:
                for model, counts in self._counts[step].items():
                    by_model.setdefault(model, []).append([now - step, *counts])
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
        if not record.target:
            return
        now = self._clock()
        failed = (bool(record.code) or record.status >= 400) and record.status != CLIENT_CLOSED  # not the fault of the model
        model = self._models.label(record.target)
        for ring in (*self._rings[_ALL].values(), *self._rings_of(record.owner).values()):
            row = ring.row(now, model)
            for call in record.calls:
                row[_OUTCOMES[call.outcome]] += 1
            row[3] += 1
            row[4] += failed
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
        """Of one owner; None: of all."""
        ring = self._rings.get(_ALL if owner is None else owner, _new_rings())[span]
        return {"span": span, "step": SPANS[span], "steps": STEPS, "models": ring.rows(self._clock())}
