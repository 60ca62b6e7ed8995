"""The free resources of this machine: idle cores and memory."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_LOAD = Path("/proc/loadavg")
_MEMORY = Path("/proc/meminfo")
_LIMIT, _USED = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")


def free_cores() -> int:
    """Cores for this process that are idle now, at least one.

    Threads of llama.cpp wait for each other after every step: with more threads than idle cores all of them wait for the one
    that does not run, and two threads take ten times as long as one (docs/decisions/0007-embedded-model.md).
    """
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return max(1, min(cores, round(cores * (1 - _load() / (os.cpu_count() or 1)))))


def _load() -> float:
    """How many cores are in use: the average of the last minute, or what runs right now if that is more."""
    try:
        average, _, _, running, _ = _LOAD.read_text().split()
        return max(float(average), int(running.partition("/")[0]) - 1.0)  # one of them reads this
    except (OSError, ValueError):
        return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def free_memory() -> int | None:
    """Bytes that can be used without swapping, within the container's limit. None: unknown on this system."""
    try:
        lines = dict(line.split(":", 1) for line in _MEMORY.read_text().splitlines())
        free = int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None
    try:
        return min(free, int(_LIMIT.read_text()) - int(_USED.read_text()))
    except (OSError, ValueError):  # no limit
        return free
