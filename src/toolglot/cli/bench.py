"""`toolglot bench`: how fast the installed toolglot is on this machine, and what it adds to the time of a model request."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from toolglot import __version__
from toolglot.cli.bench_models import make_client, time_model
from toolglot.cli.completion import complete_models
from toolglot.cli.named_options import key_by_name
from toolglot.cli.output import clear_line, show_progress
from toolglot.client.async_client import AsyncClient
from toolglot.errors import CallerError, UpstreamError
from toolglot.io.json_codec import encode
from toolglot.speed.exchanges import Exchanges
from toolglot.speed.figures import Figures, measured
from toolglot.speed.parts import PARTS
from toolglot.speed.report import Setting, as_object, as_text

EXAMPLES = """\b
Examples:
  toolglot bench                                   everything that needs no model, in about ten seconds
  toolglot bench --only extract --only validate    only two parts
  toolglot bench --rounds 20                       more stable figures on a busy machine
  toolglot bench -m ollama/qwen3:8b                also the time a model takes, and toolglot's share of it
  toolglot bench -m local/smollm2 --only model     only that
  toolglot bench --json | jq '.translate[] | {name, us, ratio}'

\b
Exit codes: 0 success, 1 failure (the model did not answer), 2 usage error.
"""
MODEL = "model"


@click.command("bench", epilog=EXAMPLES)
@click.option(
    "--only",
    multiple=True,
    metavar="PART",
    type=click.Choice([*PARTS, MODEL]),
    help=f"{', '.join(PARTS)} or {MODEL}; may be repeated.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="How many times to measure everything and to ask each question.",
)
@click.option("-m", "--model", help="provider/model: also ask it a few small questions.", shell_complete=complete_models)
@click.option("--base-url", help="The server's address, if not the provider's default.")
@click.option("--api-key", metavar="env:NAME", help="The variable with the API key, if not the provider's default.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(only: tuple[str, ...], rounds: int, as_json: bool, **options: Any) -> None:
    """Measure how fast toolglot is on this machine. Uses no network unless -m names a model.

    Times are CPU time, the best of all runs. The floor is the time to decode and encode the same JSON, without toolglot. The
    calibration loop is a fixed piece of Python code: if it takes twice as long as elsewhere, expect the same of the rest.
    """
    try:
        client = _client(only, **options)
        found = _measure([part for part in PARTS if not only or part in only], rounds)
        replies, failure = _time_model(client, rounds)
    except CallerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        click.echo("\nstopped", err=True)
        sys.exit(1)
    setting = Setting(__version__, rounds, options["model"])
    if found.parts or replies:
        bold = partial(click.style, bold=True)
        text = encode(as_object(setting, found, replies)) if as_json else as_text(setting, found, replies, bold)
        click.echo(text)
    if failure is not None:
        click.echo(f"error: {setting.model}: {failure}", err=True)
        sys.exit(1)


def _client(only: Sequence[str], model: str | None, base_url: str | None, api_key: str | None) -> AsyncClient | None:
    """Checks the options before the measurement starts."""
    if model is None:
        if MODEL in only:
            raise CallerError("which model? -m provider/model, as in ollama/qwen3:8b", "--only model")
        for name, value in (("--base-url", base_url), ("--api-key", api_key)):
            if value is not None:
                raise CallerError("it needs -m provider/model", name)
        return None
    if only and MODEL not in only:
        raise CallerError(f"--only excludes the model; add --only {MODEL}", "--model")
    return make_client(model, base_url, key_by_name(api_key))


def _measure(parts: Sequence[str], rounds: int) -> Figures:
    if not parts:
        return Figures(0.0, {})
    try:
        return measured(parts, rounds, lambda number: show_progress(number, rounds, "measuring" if number else "warming up"))
    finally:
        clear_line()


def _time_model(client: AsyncClient | None, times: int) -> tuple[list[Exchanges], UpstreamError | None]:
    """Returns the model's error instead of raising it: the other figures are printed anyway."""
    if client is None:
        return [], None
    try:
        return asyncio.run(time_model(client, times, show_progress)), None
    except UpstreamError as error:
        return [], error
    finally:
        clear_line()
