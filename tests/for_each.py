"""Many small cases in one test. Pytest spends milliseconds on each test, more than these cases take."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any


def for_each(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `pytest.mark.parametrize`, in one test. It runs every case and reports all that fail, each with its values."""
    keys = (names,) if isinstance(names, str) else tuple(names)
    rows = [(case,) if isinstance(names, str) else tuple(case) for case in cases]
    assert rows, "no cases"

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**given: Any) -> None:
            failures = []
            for row in rows:
                values = dict(zip(keys, row, strict=True))
                try:
                    test(**given, **values)
                except Exception as error:  # noqa: BLE001
                    error.add_note(f"with {values!r}"[:500])
                    failures.append(error)
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(rows)} cases failed", failures)

        signature = inspect.signature(test)
        kept = [value for key, value in signature.parameters.items() if key not in keys]
        run.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]  # what pytest has to give
        return run

    return decorated
