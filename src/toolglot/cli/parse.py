"""`toolglot parse`: the calls in a model's text, and the decision about each."""

from __future__ import annotations

import sys
from typing import Any, BinaryIO

import click

from toolglot.cli.completion import complete_dialects
from toolglot.cli.convert import checked_tools, read_json
from toolglot.cli.terminal import colour, plain
from toolglot.core.extraction import Extraction, call_fields
from toolglot.errors import CallerError, unreadable
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.response_template import dialect_from_template
from toolglot.io.json_codec import encode
from toolglot.pipeline.response.extract import extract

EXAMPLES = """\b
Examples:
  toolglot parse --tools tools.json < reply.txt
  toolglot parse --tools tools.json --dialect qwen3_coder --policy strict reply.txt
  toolglot parse --tools tools.json --dialect template:tokenizer_config.json reply.txt
  toolglot parse --tools my_tools.py --json reply.txt | jq .calls

\b
Exit codes: 0 success (with or without calls), 1 failure, 2 usage error.
"""


@click.command("parse", epilog=EXAMPLES)
@click.argument("file", type=click.File("rb"), default="-")
@click.option(
    "--tools",
    "files",
    multiple=True,
    metavar="FILE",
    type=click.Path(),
    help="The registered tools: JSON in the format of any API, or a Python file (FILE.py) as in `ask`; may be repeated.",
)
@click.option(
    "--dialect",
    default="auto",
    show_default=True,
    help="How the model writes calls; template:FILE takes it from a checkpoint's response_template.",
    shell_complete=complete_dialects,
)
@click.option("--policy", type=click.Choice(["strict", "balanced", "eager"]), default="balanced", show_default=True)
@click.option("--starts-in-reasoning", is_flag=True, help="The opening think tag was in the prompt.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON even on a terminal.")
def command(
    file: BinaryIO, files: tuple[str, ...], dialect: str, policy: Any, starts_in_reasoning: bool, as_json: bool
) -> None:
    """Extract the calls from a model's text in FILE, or standard input.

    Prints {"calls", "text", "reasoning", "decisions", "dialect"} as JSON; on a terminal, a readable view: the text, the calls,
    what was fixed or rejected, and why.
    """
    try:
        known = [tool for path in files for tool in checked_tools(path)]
        text = file.read().decode("utf-8", "replace")
        found = extract(text, known, dialect=_dialect(dialect), policy=policy, starts_in_reasoning=starts_in_reasoning)
    except (CallerError, OSError) as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    if as_json or not sys.stdout.isatty():
        click.echo(encode(as_object(found)))
    else:
        show(found)


def _dialect(name: str) -> str | Dialect:
    kind, _, path = name.partition(":")
    if kind != "template":
        return name
    try:
        with open(path, "rb") as file:
            return dialect_from_template(read_json(file, path))
    except OSError as error:
        raise CallerError(str(unreadable(path, error)), "--dialect") from None


def as_object(found: Extraction) -> dict[str, Any]:
    decisions = [{"code": one.code, "message": one.message, "call": one.call and one.call.name} for one in found.decisions]
    return {
        "calls": [call_fields(call) for call in found.calls],
        "text": found.text,
        "reasoning": found.reasoning,
        "decisions": decisions,
        "dialect": found.dialect,
    }


def show(found: Extraction) -> None:
    """The view for a terminal."""
    for title, text, shade in (("reasoning", found.reasoning, "bright_black"), ("text", found.text, None)):
        if text.strip():
            click.secho(title, bold=True)
            click.secho("  " + plain(text).strip().replace("\n", "\n  "), fg=shade)
    for call in found.calls:
        click.secho("call", bold=True, nl=False)
        click.echo(
            f"  {click.style(plain(call.full_name), fg='green')}({plain(call.arguments_json)})  {plain(call.id)}, {call.source}"
        )
        if call.fixes:
            click.echo(f"      fixed: {', '.join(call.fixes)}")
            click.secho(f"      as written: {plain(call.raw.strip())[:300]}", fg="bright_black")
    if not found.calls:
        click.secho("no call", bold=True)
    for one in found.decisions:
        click.echo(f"  {click.style(one.code, fg=colour(one.code))}  {plain(one.message)}")
