"""Shell completion. Nothing here asks a server: a key press must not wait for a request."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click

Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def _from(words: Callable[[], Iterable[str]]) -> Complete:
    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
        return sorted(word for word in words() if word.startswith(incomplete))

    return complete


def _providers() -> Iterable[str]:
    from toolglot.catalog.providers import providers  # noqa: PLC0415

    return providers()


def _models() -> Iterable[str]:
    """The embedded models by name; for others only the provider, because only its server knows the names."""
    from toolglot.client.weights import ROWS  # noqa: PLC0415

    return ["local", *(f"local/{name}" for name in ROWS), *(f"{name}/" for name in _providers() if name != "local")]


def _apis() -> Iterable[str]:
    from toolglot.wires import NAMES  # noqa: PLC0415

    return {*NAMES, *_providers()}


def _dialects() -> Iterable[str]:
    from toolglot.dialects import known_dialects  # noqa: PLC0415

    return known_dialects()


def _agents() -> Iterable[str]:
    from toolglot.cli.agents import agents  # noqa: PLC0415

    return agents()


complete_agents = _from(_agents)
complete_models = _from(_models)
complete_providers = _from(_providers)
complete_apis = _from(_apis)
complete_dialects = _from(lambda: ["auto", *_dialects()])
complete_modes = _from(lambda: ["auto", "native", "constrained", *_dialects()])
