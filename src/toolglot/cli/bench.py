"""`toolglot bench`: how fast toolglot is on this machine, as it is installed, and what it adds to asking a model."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from toolglot import __version__
from toolglot.cli.bench_asking import asked, asking
from toolglot.cli.completing import complete_models
from toolglot.cli.named_options import key_by_name
from toolglot.cli.telling import tell, told_all
from toolglot.client.asking import AsyncClient
from toolglot.errors import CallerError, UpstreamError
from toolglot.speed.exchanges import Exchanges
from toolglot.speed.figures import Figures, measured
from toolglot.speed.parts import PARTS
from toolglot.speed.report import Setting, as_object, as_text
from toolglot.text.json_text import encode

EXAMPLES = """\b
Examples:
  toolglot bench                                   all that needs no model, in some ten seconds
  toolglot bench --only hear --only guard          two parts of it
  toolglot bench --rounds 20                       steadier figures, on a machine that has other work
  toolglot bench -m ollama/qwen3:8b                also how long a model takes, and what of it is toolglot's
  toolglot bench -m local/smollm2 --only model     that alone
  toolglot bench --json | jq '.translate[] | {name, us, ratio}'

\b
Exit codes: 0 measured, 1 the model did not answer, 2 wrong use.
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
    help="How often everything is measured, and each question asked.",
)
@click.option("-m", "--model", help="provider/model: ask it a few small questions as well.", shell_complete=complete_models)
@click.option("--base-url", help="Where the server is, if not at its usual address.")
@click.option("--api-key", metavar="env:NAME", help="The variable that holds the key, if not the provider's usual one.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(only: tuple[str, ...], rounds: int, as_json: bool, **given: Any) -> None:
    """Measure how fast toolglot is on this machine: nothing is fetched, and no server is asked unless -m names a model.

    Times are CPU time, the best of the rounds. The floor is what nobody can do without: to decode and encode the same JSON. The
    calibration loop is a fixed piece of Python: where it takes twice as long, expect all else to.
    """
    log = logging.getLogger("toolglot")
    disabled, log.disabled = log.disabled, True  # one of the calls is refused, thousands of times
    try:
        client = _client(only, **given)
        found = _measured([part for part in PARTS if not only or part in only], rounds)
        replies, failed = _asked(client, rounds)
    except CallerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        click.echo("\nstopped", err=True)
        sys.exit(1)
    finally:
        log.disabled = disabled
    setting = Setting(__version__, rounds, given["model"])
    if found.parts or replies:
        bold = partial(click.style, bold=True)
        text = encode(as_object(setting, found, replies)) if as_json else as_text(setting, found, replies, bold)
        click.echo(text)
    if failed is not None:
        click.echo(f"error: {setting.model}: {failed}", err=True)
        sys.exit(1)


def _client(only: Sequence[str], model: str | None, base_url: str | None, api_key: str | None) -> AsyncClient | None:
    """Before anything is measured: half a minute later is too late."""
    if model is None:
        if MODEL in only:
            raise CallerError("which model? -m provider/model, as in ollama/qwen3:8b", "--only model")
        for name, value in (("--base-url", base_url), ("--api-key", api_key)):
            if value is not None:
                raise CallerError("it goes with -m provider/model", name)
        return None
    if only and MODEL not in only:
        raise CallerError(f"--only leaves the model out; add --only {MODEL}", "--model")
    return asking(model, base_url, key_by_name(api_key))


def _measured(parts: Sequence[str], rounds: int) -> Figures:
    if not parts:
        return Figures(0.0, {})
    try:
        return measured(parts, rounds, lambda number: tell(number, rounds, "measuring" if number else "warming up"))
    finally:
        told_all()


def _asked(client: AsyncClient | None, times: int) -> tuple[list[Exchanges], UpstreamError | None]:
    """What was measured before is told also where the model fails."""
    if client is None:
        return [], None
    try:
        return asyncio.run(asked(client, times, tell)), None
    except UpstreamError as error:
        return [], error
    finally:
        told_all()
