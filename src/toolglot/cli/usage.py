"""`toolglot usage`: requests, tokens and cost of each key and model, by day, and what is left of budgets."""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase
from typing import Any

import click

from toolglot.cli.gateway_client import GATEWAY, GatewayClient
from toolglot.cli.streams import no_color
from toolglot.errors import CallerError, ToolglotError
from toolglot.gateway.request_log import dollars
from toolglot.gateway.usage import MAX_DAYS
from toolglot.io.json_codec import encode

EXAMPLES = """\b
Examples:
  toolglot usage                              today, by key and model
  toolglot usage --days 7 --key ada           a week, newest day first
  toolglot usage --days 35 --json | jq '[.usage[].cost] | add'

\b
Exit codes: 0 success, 1 failure (no gateway answers), 2 usage error (it rejects the key).
"""
_NUMBERS = ("requests", "input_tokens", "output_tokens", "cost")
_HEADS = ("day (UTC)", "key", "model", "requests", "tokens in", "tokens out", "cost")


@click.command("usage", epilog=EXAMPLES)
@click.option("--days", type=click.IntRange(1, MAX_DAYS), default=1, show_default=True, help="How many, with today.")
@click.option("--key", default="*", metavar="GLOB", help="Only keys with this name.")
@click.option("--model", default="*", metavar="GLOB", help="Only this model, as the upstream names it.")
@click.option("--gateway", metavar="URL", default=GATEWAY, show_default=True, help="The running gateway.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, days: int, key: str, model: str, gateway: str, as_json: bool) -> None:
    """Print what a running gateway counted: requests, tokens and cost per key, model and day, and the budgets.

    An admin key sees all keys, another one its own usage: set TOOLGLOT_KEY. A model without a price has no cost. Without
    `[server] state`, counts begin with the start of the gateway.
    """
    if no_color():
        ctx.color = False
    try:
        report = GatewayClient(gateway).get(f"/toolglot/usage?days={days}")
    except ToolglotError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2 if isinstance(error, CallerError) else 1)
    rows = [row for row in report["usage"] if fnmatchcase(row["owner"], key) and fnmatchcase(row["model"], model)]
    budgets = [row for row in report.get("budgets", ()) if fnmatchcase(row["owner"], key)]
    if as_json:
        click.echo(encode({"usage": rows, "budgets": budgets}))
        return
    _print_table([_HEADS, *map(_cells, rows), _cells({"day": "total", **_sum(rows)})])
    for row in budgets:
        click.echo(_budget(row))


def _sum(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: sum(row.get(name) or 0 for row in rows) for name in _NUMBERS}


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    numbers = (f"{row.get(name, 0):,}" for name in _NUMBERS[:3])
    cost = dollars(row["cost"]) if row.get("cost") else ""
    return (row["day"], row.get("owner", ""), row.get("model", ""), *numbers, cost)


def _print_table(rows: list[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for at, row in enumerate(rows):
        line = "  ".join((*map(str.ljust, row[:3], widths), *map(str.rjust, row[3:], widths[3:]))).rstrip()
        click.echo(click.style(line, bold=True) if at in {0, len(rows) - 1} else line)


def _budget(row: dict[str, Any]) -> str:
    parts = []
    if "dollars" in row:
        parts.append(f"{dollars(row['spent_dollars'])} of {dollars(row['dollars'])}")
    if "tokens" in row:
        parts.append(f"{row['spent_tokens']:,} of {row['tokens']:,} tokens")
    is_spent = any(row[f"spent_{name}"] >= row[name] for name in ("dollars", "tokens") if name in row)
    line = f"budget of {row['owner']} per {row['period']}: {', '.join(parts)}; it starts again at {row['ends']}"
    return click.style(line, fg="red") if is_spent else line
