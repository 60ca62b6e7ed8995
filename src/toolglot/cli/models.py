"""`toolglot models`: what is known of models, where each fact comes from, what the server says, and what has worked."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import click
import msgspec

from toolglot.catalog.bare_names import bare_name
from toolglot.catalog.profile import Profile
from toolglot.catalog.profiles import families, profile
from toolglot.catalog.providers import Provider, providers
from toolglot.cli.completing import complete_providers
from toolglot.client.detect import detect
from toolglot.client.embedded import SCHEME, Embedded
from toolglot.client.http import HttpTransport
from toolglot.client.http.url import check_base
from toolglot.client.keys import auth_headers, find_key
from toolglot.client.remembered import Entry, Remembered
from toolglot.client.transport import Transport
from toolglot.errors import CallerError
from toolglot.pipeline.route import check_dialects, resolve
from toolglot.text.json_text import encode

EXAMPLES = """\b
Examples:
  toolglot models                                  every family
  toolglot models qwen2.5-coder:7b                 one model, and where each fact comes from
  toolglot models gemma3:4b --provider ollama      as it is on that server
  toolglot models ollama/gemma3:4b --ask-server    asked of the running server, with notes where it says otherwise
  toolglot models --export ways.json               what has worked, to share; --import takes it in
  toolglot models --forget ollama/gemma3:4b        forget what has worked with it; without a name, all
  toolglot models --json | jq '.[] | select(.supports_tools)'

\b
Exit codes: 0 told, 2 wrong use.
"""

HEADS = ("MODEL", "TOOLS", "DIALECT", "ASK", "MAX", "PARALLEL", "STREAMED", "DECIDES", "TURNS", "CONTEXT")
_YES = {True: "yes", False: "no"}


_OF_MEMORY = {"--export": "out", "--import": "taken", "--forget": "forget"}


@click.command("models", epilog=EXAMPLES)
@click.argument("name", required=False)
@click.option("--provider", help="As it is on this provider's kind of server.", shell_complete=complete_providers)
@click.option("--ask-server", is_flag=True, help="Ask the running server about NAME, which is provider/model.")
@click.option("--base-url", help="Where the server is, if not at its usual address; with --ask-server.")
@click.option("--export", "out", type=click.File("wb"), help="Write what has worked to a file, or to - for stdout.")
@click.option("--import", "taken", type=click.File("rb"), help="Take in what another has exported.")
@click.option("--forget", is_flag=True, help="Forget what has worked: with NAME, or all.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(name: str | None, as_json: bool, **options: Any) -> None:
    """Show what is known of models: a table of all families, or of NAME every fact with its source.

    NAME may be spelt as a server, a hub or a file spells it: ollama/qwen3:8b, meta-llama/Llama-3.3-70B-Instruct, a GGUF file.
    Your own rows in ./toolglot.toml or in your configuration count. How often each way of asking gave a good call is
    remembered on this machine, as counts only; TOOLGLOT_REMEMBER=0 turns that off.
    """
    try:
        known = Remembered()
        if options["base_url"] and not options["ask_server"]:
            raise CallerError("--base-url goes with --ask-server")
        kept = [option for option, name_of in _OF_MEMORY.items() if options[name_of]]
        if len(kept) > 1:
            raise CallerError(f"{' and '.join(kept)}: one at a time")
        if kept:
            click.echo(_kept(known, name, options), err=True)
        elif name is not None:
            found = _asked(name, options) if options["ask_server"] else check_dialects(profile(name, options["provider"]))
            entries = remembered_of(known, name, options["provider"])
            shown = {**as_object(found), "remembered": entries}
            click.echo(encode(shown) if as_json else "\n".join([detail(found), *worked(entries)]))
        elif wanting := [option for option in ("provider", "ask_server") if options[option]]:
            raise CallerError(f"--{wanting[0].replace('_', '-')} needs the name of a model")
        else:
            rows = families()
            click.echo(encode([as_object(one) for one in rows]) if as_json else table(rows))
    except CallerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)


def _kept(known: Remembered, name: str | None, options: dict[str, Any]) -> str:
    """Export, import or forget; what was done."""
    if options["taken"]:
        try:
            return f"taken in: {known.take_in(options['taken'].read())}"
        except CallerError as error:
            raise error.within(options["taken"].name) from None
    if options["out"]:
        options["out"].write(known.export() + b"\n")
        options["out"].flush()  # a full disk is found now, not when it is said to be written
        return f"written to {options['out'].name}; servers at addresses of your own are left out"
    if name is None:
        return f"forgotten: {known.clear()}"
    gone = [known.clear(entry.server, entry.model) for entry in remembered_of(known, name, options["provider"])]
    return f"forgotten: {sum(gone)}"


def _asked(name: str, options: dict[str, Any]) -> Profile:
    """What the server says. Where a key is wanted and there is none, it is asked without: many tell this to everyone."""
    provider = options["provider"]
    route = resolve(name if provider is None else f"{provider}/{name.removeprefix(f'{provider}/')}")
    row = route.provider
    if options["base_url"]:
        row = msgspec.structs.replace(row, base_url=check_base(options["base_url"]))
    try:
        headers = auth_headers(row, find_key(row))
    except CallerError:
        headers = {}
    return asyncio.run(_detected(route.model, row, headers))


async def _detected(model: str, row: Provider, headers: dict[str, str]) -> Profile:
    transport: Transport = HttpTransport()
    if row.base_url.startswith(f"{SCHEME}:"):
        transport = Embedded(transport)
    try:
        return await detect(model, row, transport, headers=headers)
    finally:
        await transport.aclose()


def remembered_of(known: Remembered, name: str, provider: str | None) -> list[Entry]:
    """The entries of a model, however it is spelt; with a provider, only its."""
    first, slash, _ = name.partition("/")
    if provider is None and slash and first in providers():
        provider = first
    return [
        entry
        for entry in known.entries()
        if bare_name(entry.model) == bare_name(name) and provider in {None, entry.server.partition("@")[0]}
    ]


def worked(entries: list[Entry]) -> list[str]:
    """How often each way of asking gave a good call, the best first."""
    lines = []
    for entry in entries:
        lines += ["", f"  what has worked with {entry.model} on {entry.server}"]
        best_first = sorted(entry.ways.items(), key=lambda item: (-item[1][1] / item[1][0], item[0]))
        lines += [f"    {way:<22}{good} of {tried} calls were good" for way, (tried, good) in best_first]
    return lines


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
        _YES[known.decides],
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
