"""`toolglot probe`: ask a running server a few tool questions in each tool mode, and report what works and what is wrong."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import click
import msgspec

from toolglot.cli.completion import complete_models
from toolglot.cli.named_options import key_by_name
from toolglot.cli.output import clear_line, show_progress
from toolglot.client.mode_stats import ModeStats
from toolglot.client.probe.observations import FAULTS, Finding
from toolglot.client.probe.verdict import ToolModeResult, Verdict
from toolglot.client.probing import probe
from toolglot.client.transports import Transports
from toolglot.errors import CallerError
from toolglot.io.json_codec import encode

EXAMPLES = """\b
Examples:
  toolglot probe ollama/qwen3:8b                   every tool mode, seven questions each
  toolglot probe llamacpp/any --quick              three questions, and fewer modes
  toolglot probe vllm/my-model --base-url http://10.0.0.5:8000/v1 --api-key env:VLLM_KEY
  toolglot probe local/smollm2 --modes native,constrained,tagged
  toolglot probe ollama/qwen3:8b --json | jq -r .recommended

\b
Exit codes: 0 success (a tool mode works), 1 failure (none works, or the server can't be reached), 2 usage error.
"""

HEADS = ("MODE", "VERDICT", "RIGHT", "VALID", "TOOL", "ARGUMENTS", "FALSE CALLS", "TOKENS", "SECONDS")
_LINE = 110  # `toolglot models NAME` shows the rest
_COLOURS = {"works well": "green", "works": "yellow", "fails": "red", "refused": "red"}


@click.command("probe", epilog=EXAMPLES)
@click.argument("model", shell_complete=complete_models)
@click.option("--base-url", help="The server's address, if not the provider's default.")
@click.option("--api-key", metavar="env:NAME", help="The variable with the API key, if not the provider's default.")
@click.option("--modes", default="", help="Only these tool modes, separated by commas: native, constrained, a dialect's name.")
@click.option("--quick", is_flag=True, help="Three questions, and fewer modes.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(model: str, as_json: bool, **options: Any) -> None:
    """Probe MODEL (provider/model): ask its server what it supports, then ask it a few tool questions.

    Each question is asked in each tool mode: native tools, the model's dialect, general dialects, and constrained decoding if
    the server supports it; one of them also streamed. toolglot counts on this machine how many calls of each mode were good;
    TOOLGLOT_REMEMBER=0 turns that off.
    """
    try:
        found = asyncio.run(_probe(model, options))
    except CallerError as error:
        if error.where == "tool_modes":
            error.where = "--modes"
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    click.echo(encode(as_object(found)) if as_json else as_text(found))
    sys.exit(0 if found.works else 1)


async def _probe(model: str, options: dict[str, Any]) -> Verdict:
    transport, stats = Transports(), ModeStats()
    try:
        return await probe(
            model,
            transport,
            base_url=options["base_url"],
            api_key=key_by_name(options["api_key"]),
            tool_modes=[tool_mode.strip() for tool_mode in options["modes"].split(",") if tool_mode.strip()],
            quick=options["quick"],
            mode_stats=stats,
            progress=show_progress,
        )
    finally:
        clear_line()
        await transport.aclose()
        for note in stats.notes:
            click.echo(f"note: {note}", err=True)


def as_object(found: Verdict) -> dict[str, Any]:
    """Every field, including defaults."""
    fields: dict[str, Any] = msgspec.to_builtins(found)
    return fields


def as_text(found: Verdict) -> str:
    head = [click.style(found.model, bold=True) + f" at {found.base_url}"]
    if found.source:
        head.append(f"  {found.source if len(found.source) <= _LINE else found.source[:_LINE] + ' ...'}")
    head += [f"  note: {note}" for note in found.notes]
    parts = ["\n".join(head)]
    if any(tool_mode.due or tool_mode.no_call_due for tool_mode in found.tool_modes):
        parts.append(table(found.tool_modes))
    parts += [_finding(finding) for finding in found.findings]
    parts.append(click.style(found.summary, bold=True, fg="green" if found.works else "red"))
    if found.toml is not None:
        indented = "\n".join(f"  {line}" for line in found.toml.splitlines())
        parts.append(
            f"To use this mode from now on, put this into toolglot.toml, or set `ask` in the route there:\n\n{indented}"
        )
    return "\n\n".join(parts)


def table(tool_modes: tuple[ToolModeResult, ...]) -> str:
    rows = [HEADS, *(_cells(tool_mode) for tool_mode in tool_modes)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    lines = []
    for number, row in enumerate(rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        if number:
            cells[1] = click.style(cells[1], fg=_COLOURS[tool_modes[number - 1].mark])
        line = "  ".join(cells).rstrip()
        lines.append(line if number else click.style(line, bold=True))
    return "\n".join(lines)


def _cells(tool_mode: ToolModeResult) -> tuple[str, ...]:
    if tool_mode.mark == "refused":
        return (tool_mode.tool_mode, tool_mode.mark, *["-"] * (len(HEADS) - 2))
    return (
        tool_mode.tool_mode,
        tool_mode.mark,
        f"{tool_mode.right}/{tool_mode.asked}",
        f"{tool_mode.valid}/{tool_mode.due}",
        f"{tool_mode.right_tool}/{tool_mode.due}",
        f"{tool_mode.right_arguments}/{tool_mode.due}",
        f"{tool_mode.false_calls}/{tool_mode.no_call_due}",
        "-" if tool_mode.tokens is None else str(tool_mode.tokens),
        f"{tool_mode.seconds:.1f}",
    )


def _finding(finding: Finding) -> str:
    kind, colour = ("fault", "red") if finding.grave else ("warning", "yellow")
    mode = f" (mode {finding.tool_mode})" if finding.tool_mode else ""
    head = f"{click.style(f'{kind}: {finding.code}', fg=colour)}{mode}: {FAULTS[finding.code]}"
    return f"{head}\n  seen: {finding.evidence}\n  do:   {finding.advice}"
