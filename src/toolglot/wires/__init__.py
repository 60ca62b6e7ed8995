"""Layer 2: the chat APIs, each a package that exports WIRE; imported on demand."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module

from toolglot.core.interfaces import Wire
from toolglot.core.messages import Extra
from toolglot.core.plugins import from_entry_points

DEFAULT = "openai-chat"  # where a caller names no API
NAMES = ("anthropic", "gemini", "gemini-interactions", "ollama", "openai-chat", "openai-responses")


@cache
def find_wire(name: str) -> Wire | None:
    """The wire with this name: built in, or an entry point of an installed package; None if there is none."""
    if name in NAMES:
        wire = import_module(f"toolglot.wires.{name.replace('-', '_')}").WIRE
    else:
        wire = from_entry_points("toolglot.wires", name)
    return wire if isinstance(wire, Wire) else None


def wires(first: Wire | None = None) -> Iterator[Wire]:
    """`first`, and then all built-in wires."""
    if first is not None:
        yield first
    for name in NAMES:
        wire = find_wire(name)
        if wire is not None and wire is not first:
            yield wire


def continues_stored(extra: Extra) -> bool:
    """Whether a request with these fields continues a conversation that its server stores."""
    return any(fields.get(key) for name, fields in extra.items() if (wire := find_wire(name)) for key in wire.continues)
