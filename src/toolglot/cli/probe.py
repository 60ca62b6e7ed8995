"""`toolglot probe`: asks a running server a few tool questions in each way, and says what works and what is wrong."""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import Any

import click
import msgspec

from toolglot.cli.completing import complete_models
from toolglot.cli.named_options import key_by_name
from toolglot.cli.telling import tell, told_all
from toolglot.client.carriers import Carriers
from toolglot.client.probe.seen import FAULTS, Finding
from toolglot.client.probe.verdict import Verdict, WayResult
from toolglot.client.probing import probe
from toolglot.client.remembered import Remembered
from toolglot.errors import CallerError
from toolglot.text.json_text import encode

EXAMPLES = """\b
Examples:
  toolglot probe ollama/qwen3:8b                   every way of asking, seven questions each
  toolglot probe llamacpp/any --quick              three questions, and fewer ways
  toolglot probe vllm/my-model --base-url http://10.0.0.5:8000/v1 --api-key env:VLLM_KEY
  toolglot probe local/smollm2 --ways native,constrained,tagged
  toolglot probe ollama/qwen3:8b --json | jq -r .recommended

\b
Exit codes: 0 some way works, 1 none does or the server can't be reached, 2 wrong use.
"""

HEADS = ("WAY", "VERDICT", "RIGHT", "VALID", "TOOL", "ARGUMENTS", "FALSE CALLS", "TOKENS", "SECONDS")
_LINE = 110  # `toolglot models NAME` tells the rest
_COLOURS = {"works well": "green", "works": "yellow", "fails": "red", "refused": "red"}


@click.command("probe", epilog=EXAMPLES)
@click.argument("model", shell_complete=complete_models)
@click.option("--base-url", help="Where the server is, if not at its usual address.")
@click.option("--api-key", metavar="env:NAME", help="The variable that holds the key, if not the provider's usual one.")
@click.option("--ways", default="", help="Ask in these only: native, constrained, a dialect's name; with commas between.")
@click.option("--quick", is_flag=True, help="Three questions, and fewer ways.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(model: str, as_json: bool, **options: Any) -> None:
    """Probe MODEL, which is provider/model: ask its server what it can do, then ask it a few tool questions.

    Each question goes out in each way of asking: the server's own tools, the model's own dialect, general ones, and under a
    schema where the server can; one of them streamed as well. What works is remembered on this machine, as counts only;
    TOOLGLOT_REMEMBER=0 turns that off.
    """
    try:
        found = asyncio.run(_probed(model, options))
    except CallerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    click.echo(encode(as_object(found)) if as_json else shown(found))
    sys.exit(0 if found.works else 1)


async def _probed(model: str, options: dict[str, Any]) -> Verdict:
    transport, known, log = Carriers(), Remembered(), logging.getLogger("toolglot")
    disabled, log.disabled = log.disabled, True  # refused calls are what is looked for: the verdict tells of them
    try:
        return await probe(
            model,
            transport,
            base_url=options["base_url"],
            api_key=key_by_name(options["api_key"]),
            ways=[way.strip() for way in options["ways"].split(",") if way.strip()],
            quick=options["quick"],
            remembered=known,
            progress=tell,
        )
    finally:
        told_all()
        log.disabled = disabled
        await transport.aclose()
        for note in known.notes:
            click.echo(f"note: {note}", err=True)


def as_object(found: Verdict) -> dict[str, Any]:
    """Every field, also those that have their default."""
    plain: dict[str, Any] = msgspec.to_builtins(found)
    return plain


def shown(found: Verdict) -> str:
    head = [click.style(found.model, bold=True) + f" at {found.base_url}"]
    if found.source:
        head.append(f"  {found.source if len(found.source) <= _LINE else found.source[:_LINE] + ' ...'}")
    head += [f"  note: {note}" for note in found.notes]
    parts = ["\n".join(head)]
    if any(way.due or way.no_call_due for way in found.ways):
        parts.append(table(found.ways))
    parts += [_finding(finding) for finding in found.findings]
    parts.append(click.style(found.said, bold=True, fg="green" if found.works else "red"))
    if found.toml is not None:
        indented = "\n".join(f"  {line}" for line in found.toml.splitlines())
        parts.append(
            f"To have it asked so from now on, put this into toolglot.toml, or give ask there to the route:\n\n{indented}"
        )
    return "\n\n".join(parts)


def table(ways: tuple[WayResult, ...]) -> str:
    rows = [HEADS, *(_cells(way) for way in ways)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    lines = []
    for number, row in enumerate(rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        if number:
            cells[1] = click.style(cells[1], fg=_COLOURS[ways[number - 1].mark])
        line = "  ".join(cells).rstrip()
        lines.append(line if number else click.style(line, bold=True))
    return "\n".join(lines)


def _cells(way: WayResult) -> tuple[str, ...]:
    if way.mark == "refused":
        return (way.way, way.mark, *["-"] * (len(HEADS) - 2))
    return (
        way.way,
        way.mark,
        f"{way.right}/{way.asked}",
        f"{way.valid}/{way.due}",
        f"{way.right_tool}/{way.due}",
        f"{way.right_arguments}/{way.due}",
        f"{way.false_calls}/{way.no_call_due}",
        "-" if way.tokens is None else str(way.tokens),
        f"{way.seconds:.1f}",
    )


def _finding(finding: Finding) -> str:
    kind, colour = ("fault", "red") if finding.grave else ("warning", "yellow")
    way = f" (asked {finding.way})" if finding.way else ""
    head = f"{click.style(f'{kind}: {finding.code}', fg=colour)}{way}: {FAULTS[finding.code]}"
    return f"{head}\n  seen: {finding.evidence}\n  do:   {finding.advice}"
