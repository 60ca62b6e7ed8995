"""`toolglot models`: what is known about models, where each fact comes from, what the server reports, and what has worked."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import click
import msgspec

from toolglot.catalog.model_names import bare_name
from toolglot.catalog.profile import Profile
from toolglot.catalog.profiles import families, profile
from toolglot.catalog.providers import Provider, providers
from toolglot.cli.completion import complete_providers
from toolglot.client.address import with_address
from toolglot.client.detect import ANSWERS, NoAnswer, detect
from toolglot.client.embedded import SCHEME, Embedded
from toolglot.client.http import HttpTransport
from toolglot.client.http.url import check_base
from toolglot.client.keys import auth_headers, find_key
from toolglot.client.mode_stats import Entry, ModeStats
from toolglot.client.transport import Transport
from toolglot.errors import CallerError
from toolglot.io.json_codec import encode
from toolglot.pipeline.request.route import check_dialects, resolve

EXAMPLES = """\b
Examples:
  toolglot models                                  every family
  toolglot models qwen2.5-coder:7b                 one model, and where each fact comes from
  toolglot models gemma3:4b --provider ollama      on that provider's servers
  toolglot models ollama/gemma3:4b --ask-server    ask the running server too, with a note for each difference
  toolglot models --export modes.json              export the counts of good calls, to share them; --import adds them
  toolglot models --forget ollama/gemma3:4b        delete the counts of a model; without a name, all
  toolglot models --json | jq '.[] | select(.supports_tools)'

\b
Exit codes: 0 success, 1 failure, 2 usage error.
"""

HEADS = ("MODEL", "TOOLS", "DIALECT", "ASK", "MAX", "PARALLEL", "STREAMED", "TURNS", "CONTEXT")
_YES = {True: "yes", False: "no"}
_STATS_OPTIONS = {"--export": "export_file", "--import": "import_file", "--forget": "forget"}


@click.command("models", epilog=EXAMPLES)
@click.argument("name", required=False)
@click.option("--provider", help="Show the model as served by this provider.", shell_complete=complete_providers)
@click.option("--ask-server", is_flag=True, help="Ask the running server about NAME (provider/model).")
@click.option("--base-url", help="The server's address, if not the provider's default; with --ask-server.")
@click.option("--export", "export_file", type=click.File("wb"), help="Write the counts of good calls to a file (- is stdout).")
@click.option("--import", "import_file", type=click.File("rb"), help="Add the counts of an exported file.")
@click.option("--forget", is_flag=True, help="Delete the counts of NAME, or all.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(name: str | None, as_json: bool, **options: Any) -> None:
    """Show what is known about models: a table of all families, or every fact about NAME with its source.

    NAME may be written as on a server, a hub or in a file name: ollama/qwen3:8b, meta-llama/Llama-3.3-70B-Instruct, a GGUF
    file. Model rows in ./toolglot.toml or in your configuration apply. toolglot counts on this machine how many calls of each
    tool mode were good; nothing else is stored. TOOLGLOT_REMEMBER=0 turns that off.
    """
    try:
        stats = ModeStats()
        if options["base_url"] and not options["ask_server"]:
            raise CallerError("--base-url needs --ask-server")
        stats_options = [option for option, parameter in _STATS_OPTIONS.items() if options[parameter]]
        if len(stats_options) > 1:
            raise CallerError(f"{' and '.join(stats_options)}: one at a time")
        if stats_options:
            click.echo(_change_stats(stats, name, options), err=True)
        elif name is not None:
            found, failure = _detect(name, options) if options["ask_server"] else (_known(name, options["provider"]), "")
            entries = entries_of(stats, name, options["provider"])
            output = {**as_object(found), "mode_stats": entries}
            click.echo(encode(output) if as_json else "\n".join([detail(found), *stats_lines(entries)]))
            if failure:
                click.echo(f"error: the server could not be queried: {failure}", err=True)
                sys.exit(1)
        elif needs_name := [option for option in ("provider", "ask_server") if options[option]]:
            raise CallerError(f"--{needs_name[0].replace('_', '-')} needs the name of a model")
        else:
            rows = families()
            click.echo(encode([as_object(one) for one in rows]) if as_json else table(rows))
    except CallerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)


def _change_stats(stats: ModeStats, name: str | None, options: dict[str, Any]) -> str:
    """Export, import or delete counts; returns the message for the user."""
    if source := options["import_file"]:
        try:
            return f"imported: {stats.add_exported(source.read())}"
        except CallerError as error:
            raise error.within(source.name) from None
    if target := options["export_file"]:
        target.write(stats.export() + b"\n")
        target.flush()  # a full disk must be found before the message says that the file is written
        return f"written to {target.name}; servers with a custom address are left out"
    if name is None:
        return f"forgotten: {stats.clear()}"
    deleted = [stats.clear(entry.server, entry.model) for entry in entries_of(stats, name, options["provider"])]
    return f"forgotten: {sum(deleted)}"


def _known(name: str, provider: str | None) -> Profile:
    return check_dialects(profile(name, provider))


def _detect(name: str, options: dict[str, Any]) -> tuple[Profile, str]:
    """The profile with the server's facts, and why there are none. Without an API key it asks anyway: many servers answer."""
    provider = options["provider"]
    route = resolve(name if provider is None else f"{provider}/{name.removeprefix(f'{provider}/')}")
    row = with_address(route.provider, check_base(options["base_url"]) if options["base_url"] else None)
    try:
        headers = auth_headers(row, find_key(row))
    except CallerError:
        headers = {}
    found = asyncio.run(_detect_async(route.model, row, headers))
    answer = ANSWERS.get(row.base_url, route.model)
    return found, answer.why if isinstance(answer, NoAnswer) else ""


async def _detect_async(model: str, row: Provider, headers: dict[str, str]) -> Profile:
    transport: Transport = HttpTransport()
    if row.base_url.startswith(f"{SCHEME}:"):
        transport = Embedded(transport)
    try:
        return await detect(model, row, transport, headers=headers)
    finally:
        await transport.aclose()


def entries_of(stats: ModeStats, name: str, provider: str | None) -> list[Entry]:
    """The entries of a model, in any spelling; with a provider, only those of that provider."""
    first, slash, _ = name.partition("/")
    if provider is None and slash and first in providers():
        provider = first
    return [
        entry
        for entry in stats.entries()
        if bare_name(entry.model) == bare_name(name) and provider in {None, entry.server.partition("@")[0]}
    ]


def stats_lines(entries: list[Entry]) -> list[str]:
    """How many calls of each tool mode were good, the best mode first."""
    lines = []
    for entry in entries:
        lines += ["", f"  what has worked with {entry.model} on {entry.server}"]
        best_first = sorted(entry.tool_modes.items(), key=lambda item: (-item[1][1] / item[1][0], item[0]))
        lines += [f"    {tool_mode:<22}{good} of {tried} calls were good" for tool_mode, (tried, good) in best_first]
    return lines


def as_object(known: Profile) -> dict[str, Any]:
    """Every field, including defaults."""
    return {field: getattr(known, field) for field in known.__struct_fields__}


def table(known: tuple[Profile, ...]) -> str:
    rows = [HEADS, *(_cells(one) for one in known)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([click.style(lines[0], bold=True), *lines[1:]])


def _cells(known: Profile) -> tuple[str, ...]:
    return (
        known.family,
        tool_support(known),
        known.dialect or "-",
        known.ask or "-",
        str(known.max_tools),
        _YES[known.supports_parallel],
        _YES[known.supports_streaming],
        known.multi_turn,
        str(known.context_length or "-"),
    )


def tool_support(known: Profile) -> str:
    """`yes` or `no`, and the kinds of servers that differ: `yes, not on llamacpp`."""
    exceptions = sorted(kind for kind, supported in known.native.items() if supported != known.supports_tools)
    if not exceptions:
        return _YES[known.supports_tools]
    return f"{_YES[known.supports_tools]}, {'not' if known.supports_tools else 'but'} on {', '.join(exceptions)}"


def detail(known: Profile) -> str:
    """Each fact on a line, with its origin unless that is the model's row."""
    evidence = f" ({known.facts['family']})" if "family" in known.facts else ""
    lines = [click.style(known.model, bold=True), f"  family   {known.family}{evidence}", f"  source   {known.source}", ""]
    values = msgspec.structs.asdict(known)
    for field in ("supports_tools", "native", *values):
        if field in {"model", "family", "source", "facts", "notes"} or field not in values:
            continue
        value = values.pop(field)
        origin = known.facts.get(field)
        lines.append(f"  {field:<20}{_format(value):<24}" + (click.style(origin, fg="bright_black") if origin else ""))
    lines += [click.style(f"  note: {note}", fg="yellow") for note in known.notes]
    return "\n".join(line.rstrip() for line in lines)


def _format(value: Any) -> str:
    if isinstance(value, bool):
        return _YES[value]
    if isinstance(value, dict):
        return ", ".join(f"{key} {_YES[flag]}" for key, flag in sorted(value.items())) or "-"
    if isinstance(value, tuple):
        return " ".join(value) or "-"
    return "-" if value is None else str(value)
