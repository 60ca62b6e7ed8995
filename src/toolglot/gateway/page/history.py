"""What became of calls over time, per model: counted in rings of equal steps, so that memory does not grow."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from toolglot.gateway.known_names import KnownNames
from toolglot.gateway.records import Record

STEPS = 60
SPANS = {"hour": 60, "day": 24 * 60}  # seconds of a step
_MODELS = 40
_OUTCOMES = {"passed": 0, "fixed": 1, "refused": 2}
_LEFT = 499  # the client's doing, not the model's


class _Ring:
    def __init__(self, step: int) -> None:
        self._step = step
        self._counts: dict[int, dict[str, list[int]]] = {}  # step -> model -> passed, fixed, refused, requests, failed

    def row(self, at: float, model: str) -> list[int]:
        now = int(at // self._step)
        if now not in self._counts:
            self._counts = {step: held for step, held in self._counts.items() if step > now - STEPS}
        return self._counts.setdefault(now, {}).setdefault(model, [0] * 5)

    def shown(self, at: float) -> dict[str, list[list[int]]]:
        """For each model rows of [steps ago, passed, fixed, refused, requests, failed]."""
        now = int(at // self._step)
        found: dict[str, list[list[int]]] = {}
        for step in sorted(self._counts):
            if now - STEPS < step <= now:
                for model, counted in self._counts[step].items():
                    found.setdefault(model, []).append([now - step, *counted])
        return found


class History:
    """An observer of records."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._rings = {name: _Ring(step) for name, step in SPANS.items()}
        self._models = KnownNames(_MODELS)
        self.failed: dict[str, dict[str, Any]] = {}  # upstream -> its last error

    def __call__(self, record: Record) -> None:
        if not record.target:
            return
        now = self._clock()
        failed = (bool(record.code) or record.status >= 400) and record.status != _LEFT
        model = self._models.told_apart(record.target)
        for ring in self._rings.values():
            row = ring.row(now, model)
            for call in record.calls:
                row[_OUTCOMES[call.outcome]] += 1
            row[3] += 1
            row[4] += failed
        if failed and record.upstream:
            self.failed[record.upstream] = {"code": record.code, "status": record.status, "at": now}

    def shown(self, span: str) -> dict[str, Any]:
        ring = self._rings[span]
        return {"span": span, "step": SPANS[span], "steps": STEPS, "models": ring.shown(self._clock())}
