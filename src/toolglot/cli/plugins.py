"""`toolglot plugins`: the dialects, wires, providers and model rows of installed packages, and whether each is usable."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click
import msgspec

from toolglot.catalog.providers import plugin_providers, providers, read_provider
from toolglot.catalog.rows import read_rows
from toolglot.core.interfaces import Wire
from toolglot.core.plugins import GROUPS, Plugin, load, plugins
from toolglot.dialects import dialect_names
from toolglot.grammars.dialect import Dialect
from toolglot.io.json_codec import encode
from toolglot.wires import NAMES

EXAMPLES = """\b
Examples:
  toolglot plugins
  toolglot plugins --json | jq -r '.[] | select(.problem) | .name'

\b
Exit codes: 0 success (also if there are none), 1 failure (one of them can't be used).
"""


@click.command("plugins", epilog=EXAMPLES)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """List the dialects, wires, providers and model rows that installed packages add, and what is wrong with one.

    Packages declare them as entry points of the groups toolglot.dialects, toolglot.wires, toolglot.providers and
    toolglot.models.
    """
    found = [(plugin, _problem(plugin)) for plugin in plugins()]
    if as_json:
        click.echo(encode([{**msgspec.structs.asdict(plugin), "problem": problem} for plugin, problem in found]))
    for plugin, problem in () if as_json else found:
        kind = plugin.group.removeprefix("toolglot.")
        state = click.style(problem, fg="red") if problem else "ok"
        click.echo(f"{kind:10} {click.style(plugin.name, bold=True)}  {plugin.package}, {plugin.value}: {state}")
    if not found and not as_json:
        click.echo("no plugins are installed")
    sys.exit(1 if any(problem for _, problem in found) else 0)


def _problem(plugin: Plugin) -> str:
    """What is wrong with it; empty if nothing is."""
    try:
        return _CHECKS[plugin.group](plugin, load(plugin))
    except Exception as error:  # noqa: BLE001  (it is another package's code)
        return f"it can't be loaded: {error}"


def _dialect(plugin: Plugin, found: Any) -> str:
    return _named(plugin, found, Dialect, dialect_names())


def _wire(plugin: Plugin, found: Any) -> str:
    return _named(plugin, found, Wire, NAMES)


def _named(plugin: Plugin, found: Any, kind: type, ours: tuple[str, ...]) -> str:
    if not isinstance(found, kind):
        return f"it is not a {kind.__name__} but {type(found).__name__}"
    if plugin.name in ours:
        return "not used: toolglot has one of this name"
    name = found.name  # type: ignore[attr-defined]
    return "" if name == plugin.name else f"its own name is {name}; both must be the same"


def _provider(plugin: Plugin, found: Any) -> str:
    row = read_provider(plugin.name, found)
    known = plugin_providers().get(plugin.name)
    return "" if providers().get(plugin.name) == known == row else "not used: toolglot has one of this name"


def _models(plugin: Plugin, found: Any) -> str:
    read_rows(found, plugin.value)
    return ""


_CHECKS: dict[str, Callable[[Plugin, Any], str]] = dict(zip(GROUPS, (_dialect, _wire, _provider, _models), strict=True))
