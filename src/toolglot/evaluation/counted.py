"""Work counted in lines of our own Python: a law about cost that no loaded machine can break, as a clock would."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines_run(job: Callable[[], object]) -> int:
    """How many lines of toolglot's run in it."""
    count = 0

    def each(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal count
        count += event == "line"
        return each

    def entered(frame: FrameType, event: str, arg: object) -> Any:
        return each if "toolglot" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        job()
    finally:
        sys.settrace(before)
    return count
