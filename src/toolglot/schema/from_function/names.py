"""Resolves type hints: forward references and `from __future__ import annotations`."""

from __future__ import annotations

import sys
import typing
from typing import Any

from toolglot.errors import CallerError


def hints_of(owner: Any) -> dict[str, Any]:
    """The hints of a function or class. Local names of enclosing functions that are still running are resolved too."""
    try:
        return typing.get_type_hints(owner, include_extras=True)
    except NameError:
        pass
    except TypeError as error:
        raise CallerError(f"a hint can't be read: {error}") from None
    try:
        return typing.get_type_hints(owner, localns=_around(owner), include_extras=True)
    except (NameError, TypeError) as error:
        raise CallerError(
            f"a hint can't be resolved: {error}; define it before, and import it outside of TYPE_CHECKING"
        ) from None


def _around(owner: Any) -> dict[str, Any]:
    """The local names of the enclosing functions that are still running."""
    found: dict[str, Any] = {}
    code = getattr(owner, "__code__", None)
    if code is not None and owner.__closure__:
        cells = zip(code.co_freevars, owner.__closure__, strict=True)
        found = {name: cell.cell_contents for name, cell in cells if not _empty(cell)}
    outer, inside, _ = owner.__qualname__.rpartition(".<locals>.")
    frame = sys._getframe() if inside else None
    while frame is not None:
        name = frame.f_code.co_qualname
        if frame.f_globals.get("__name__") == owner.__module__ and (outer == name or outer.startswith(f"{name}.<locals>.")):
            found = {**frame.f_locals, **found}
        frame = frame.f_back
    return found


def _empty(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018  (read for its error)
    except ValueError:
        return True
    return False
