"""What the adapters in Python share: the loop over JSON lines. An operation is a function of its name."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

Body = dict[str, Any]


class UnsupportedError(Exception):
    """Answered with `unsupported`."""


def pieces(data: Any, size: int | None) -> Iterator[Any]:
    """Text or bytes in pieces; all at once without a size."""
    if not size:
        yield data
        return
    for at in range(0, len(data), size):
        yield data[at : at + size]


def serve(operations: dict[str, Callable[[Body], Body]]) -> None:
    """Answer each line of standard input. What an operation raises is its answer's `error`."""
    output = sys.stdout
    sys.stdout = sys.stderr  # what a library prints is not an answer
    for line in sys.stdin:
        given = json.loads(line)
        try:
            answer = operations[given["op"]](given) if given["op"] in operations else {"unsupported": True}
        except UnsupportedError:
            answer = {"unsupported": True}
        except Exception as error:  # noqa: BLE001  (an implementation may raise anything, and that is a result)
            answer = {"error": f"{type(error).__name__}: {error}"[:500]}
        output.write(json.dumps(answer) + "\n")
        output.flush()
