"""What other packages add: entry points of a group, found by name."""

from __future__ import annotations


def from_entry_points(group: str, name: str) -> object:
    """What an installed package offers under this name; None if none does."""
    from importlib.metadata import entry_points  # noqa: PLC0415  (slow to import, and rarely needed)

    found = entry_points(group=group, name=name)
    return next(iter(found)).load() if found else None
