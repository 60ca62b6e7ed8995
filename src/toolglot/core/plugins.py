"""Plugins: entry points of installed packages, found by name."""

from __future__ import annotations


def from_entry_points(group: str, name: str) -> object:
    """The object that an installed package provides under this name, or None."""
    from importlib.metadata import entry_points  # noqa: PLC0415  (slow to import, and rarely needed)

    found = entry_points(group=group, name=name)
    return next(iter(found)).load() if found else None


def entry_point_names(group: str) -> tuple[str, ...]:
    """The names that installed packages provide in this group, sorted."""
    from importlib.metadata import entry_points  # noqa: PLC0415

    return tuple(sorted(entry_points(group=group).names))
