"""What the shell offers when a word is half typed. Nothing here asks a server: a key press must not wait for one."""

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
    """The embedded ones by name; of others, whose names only their servers know, the provider."""
    from toolglot.client.weights import ROWS  # noqa: PLC0415

    return [*(f"local/{name}" for name in ROWS), *(f"{name}/" for name in _providers() if name != "local")]


def _ends() -> Iterable[str]:
    from toolglot.wires import NAMES  # noqa: PLC0415

    return {*NAMES, *_providers()}


def _dialects() -> Iterable[str]:
    from toolglot.dialects import dialect_names  # noqa: PLC0415

    return dialect_names()


complete_models = _from(_models)
complete_providers = _from(_providers)
complete_ends = _from(_ends)  # what a message may come from or go to: a wire or a provider
complete_dialects = _from(lambda: ["auto", *_dialects()])
complete_ways = _from(lambda: ["auto", "native", "constrained", *_dialects()])
