"""Plugins: entry points of installed packages, found by name. A package that can't be loaded does not stop the others."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from toolglot.core.log import log

GROUPS = ("toolglot.dialects", "toolglot.wires", "toolglot.providers", "toolglot.models")


class Plugin(msgspec.Struct, frozen=True):
    group: str
    name: str
    value: str  # module:attribute
    package: str  # the distribution and its version


@cache
def plugins() -> tuple[Plugin, ...]:
    """All that are installed, by group and name. Read once."""
    from importlib.metadata import entry_points  # noqa: PLC0415  (slow to import, and rarely needed)

    points = entry_points()
    found = [
        Plugin(group, point.name, point.value, _package(point)) for group in GROUPS for point in points.select(group=group)
    ]
    return tuple(sorted(found, key=lambda one: (GROUPS.index(one.group), one.name)))


def _package(point: Any) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else ""


def load(plugin: Plugin) -> object:
    from importlib.metadata import EntryPoint  # noqa: PLC0415

    return EntryPoint(plugin.name, plugin.value, plugin.group).load()


def from_entry_points(group: str, name: str) -> object:
    """The object that an installed package provides under this name, or None."""
    found = next((one for one in plugins() if (one.group, one.name) == (group, name)), None)
    return None if found is None else load(found)


def loaded(group: str) -> list[tuple[Plugin, object]]:
    """What the installed packages provide in this group. What can't be loaded is logged."""
    found = []
    for plugin in plugins():
        if plugin.group == group:
            try:
                found.append((plugin, load(plugin)))
            except Exception as error:  # noqa: BLE001  (it is another package's code)
                report(plugin, error)
    return found


def report(plugin: Plugin, error: object) -> None:
    log.warning("%s %s of %s can't be loaded: %s", plugin.group.removeprefix("toolglot."), plugin.name, plugin.package, error)
