"""Work counted in lines of Python: a law about cost that no loaded machine can break, as a clock would."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable
from types import FrameType
from typing import Any

_OTHERS = ("<", sysconfig.get_paths()["stdlib"])


def lines_run(job: Callable[[], object]) -> int:
    """How many lines run in it: toolglot's, and those of a dialect that is being checked; not the standard library's."""
    count = 0

    def each(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal count
        count += event == "line"
        return each

    def entered(frame: FrameType, event: str, arg: object) -> Any:
        file = frame.f_code.co_filename
        return each if "toolglot" in file or not file.startswith(_OTHERS) else None

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        job()
    finally:
        sys.settrace(before)
    return count
