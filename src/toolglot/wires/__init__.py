"""Layer 2: the five chat APIs, each a package that exports WIRE; imported only when asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from toolglot.core.interfaces import Wire

NAMES = ("anthropic", "gemini", "ollama", "openai-chat", "openai-responses")


@cache
def find_wire(name: str) -> Wire | None:
    """The wire of that name: ours, or one that an installed package offers as an entry point; None if there is none."""
    if name in NAMES:
        wire = import_module(f"toolglot.wires.{name.replace('-', '_')}").WIRE
    else:
        wire = _from_entry_points(name)
    return wire if isinstance(wire, Wire) else None


def _from_entry_points(name: str) -> object:
    from importlib.metadata import entry_points  # noqa: PLC0415  (slow to import, and rarely needed)

    found = entry_points(group="toolglot.wires", name=name)
    return next(iter(found)).load() if found else None
