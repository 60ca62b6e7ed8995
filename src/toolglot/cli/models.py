"""`toolglot models`: what is known of models, and where each fact comes from."""

from __future__ import annotations

import sys
from typing import Any

import click
import msgspec

from toolglot.catalog.profile import Profile
from toolglot.catalog.profiles import families, profile
from toolglot.errors import CallerError
from toolglot.text.json_text import encode

EXAMPLES = """\b
Examples:
  toolglot models                                  every family
  toolglot models qwen2.5-coder:7b                 one model, and where each fact comes from
  toolglot models gemma3:4b --provider ollama      as it is on that server
  toolglot models --json | jq '.[] | select(.supports_tools)'
"""

HEADS = ("MODEL", "TOOLS", "DIALECT", "ASK", "MAX", "PARALLEL", "STREAMED", "TURNS", "CONTEXT")
_YES = {True: "yes", False: "no"}


@click.command("models", epilog=EXAMPLES)
@click.argument("name", required=False)
@click.option("--provider", help="As it is on this provider's kind of server.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(name: str | None, provider: str | None, as_json: bool) -> None:
    """Show what is known of models: a table of all families, or of NAME every fact with its source.

    NAME may be spelt as a server, a hub or a file spells it: ollama/qwen3:8b, meta-llama/Llama-3.3-70B-Instruct, a GGUF file.
    Your own rows in ./toolglot.toml or in your configuration count.
    """
    try:
        if name is not None:
            found = profile(name, provider)
            click.echo(encode(as_object(found)).decode() if as_json else detail(found))
        elif provider is not None:
            raise CallerError("--provider needs the name of a model")
        else:
            known = families()
            click.echo(encode([as_object(one) for one in known]).decode() if as_json else table(known))
    except CallerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)


def as_object(known: Profile) -> dict[str, Any]:
    """Every field, also those that are as by default."""
    return {field: getattr(known, field) for field in known.__struct_fields__}


def table(known: tuple[Profile, ...]) -> str:
    rows = [HEADS, *(_cells(one) for one in known)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([click.style(lines[0], bold=True), *lines[1:]])


def _cells(known: Profile) -> tuple[str, ...]:
    return (
        known.family,
        tools_taken(known),
        known.dialect or "-",
        known.ask or "-",
        str(known.max_tools),
        _YES[known.supports_parallel],
        _YES[known.supports_streaming],
        known.multi_turn,
        str(known.context_length or "-"),
    )


def tools_taken(known: Profile) -> str:
    """`yes`, `no`, and the kinds of servers where it is otherwise: `yes, not on llamacpp`."""
    otherwise = sorted(kind for kind, taken in known.native.items() if taken != known.supports_tools)
    if not otherwise:
        return _YES[known.supports_tools]
    return f"{_YES[known.supports_tools]}, {'not' if known.supports_tools else 'but'} on {', '.join(otherwise)}"


def detail(known: Profile) -> str:
    """Each fact on a line, with its origin where that is not the row itself; what no row gives is a default."""
    lines = [click.style(known.model, bold=True), f"  family   {known.family}", f"  source   {known.source}", ""]
    given = msgspec.structs.asdict(known)
    for field in ("supports_tools", "native", *given):
        if field in {"model", "family", "source", "facts", "notes"} or field not in given:
            continue
        value = given.pop(field)
        origin = known.facts.get(field)
        lines.append(f"  {field:<20}{_shown(value):<24}" + (click.style(origin, fg="bright_black") if origin else ""))
    lines += [click.style(f"  note: {note}", fg="yellow") for note in known.notes]
    return "\n".join(line.rstrip() for line in lines)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return _YES[value]
    if isinstance(value, dict):
        return ", ".join(f"{key} {_YES[so]}" for key, so in sorted(value.items())) or "-"
    if isinstance(value, tuple):
        return " ".join(value) or "-"
    return "-" if value is None else str(value)
