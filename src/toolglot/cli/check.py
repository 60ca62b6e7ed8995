"""`toolglot check`: validate a configuration, and reach each upstream and model that it names."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from toolglot.catalog.user_rows import also_read
from toolglot.cli.output import plural
from toolglot.cli.streams import no_color
from toolglot.client.transports import Transports
from toolglot.errors import CallerError, ToolglotError
from toolglot.gateway.checked_model import ModelCheck
from toolglot.gateway.config import Config, RouteRow, read_config, read_text
from toolglot.gateway.configured_tools import ConfiguredTool, ToolSource
from toolglot.gateway.model_check import check_model, check_upstream
from toolglot.gateway.routing import Routing
from toolglot.gateway.upstream_network import upstream_transport
from toolglot.io.json_codec import encode

EXAMPLES = """\b
Examples:
  toolglot check                    ./toolglot.toml
  toolglot check my.toml --offline  only the file
  toolglot check --json | jq '.routes[] | select(.problem != "")'

\b
Exit codes: 0 success, 1 failure (an upstream or a model can't be used), 2 usage error (an invalid configuration).
"""
DEFAULT_FILE = "toolglot.toml"


class RouteCheck(msgspec.Struct, frozen=True):
    """`found` is None for a route with a wildcard: which model it reaches depends on the client."""

    model: str
    to: str
    upstream: str
    problem: str
    found: ModelCheck | None = None


class ToolCheck(msgspec.Struct, frozen=True):
    """A `[[server_tool]]`, and which tool runs it."""

    name: str
    tool: str
    problem: str


@click.command("check", epilog=EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path), default=DEFAULT_FILE)
@click.option("--offline", is_flag=True, help="Only validate the file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, /, file: Path, offline: bool, as_json: bool) -> None:
    """Validate a configuration, ask each upstream whether it has the models of the routes, and find the server tools.

    Nothing is asked of the models themselves: `toolglot probe` does that.
    """
    if no_color():
        ctx.color = False
    try:
        if not file.is_file():
            raise CallerError("there is no such file; `toolglot init` writes one", str(file))
        also_read(str(file))
        config = read_config(read_text(file), str(file))
    except CallerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    routes = [] if offline else asyncio.run(check_config(config))
    tools = [] if offline else asyncio.run(check_server_tools(config))
    if as_json:
        found = {"routes": routes, **({"server_tools": tools} if config.server_tools else {})}
        click.echo(encode({"file": str(file), **msgspec.to_builtins(found)}))
    else:
        click.echo(f"{file} is valid: {plural(len(config.upstreams), 'upstream')}, {plural(len(config.routes), 'route')}")
        for one in routes:
            click.echo(_line(one))
        for tool in tools:
            click.echo(f"  {_mark(tool.problem)} server tool {tool.name}  {tool.problem or tool.tool}")
        for budget in config.budgets:
            if config.keys and not any(budget.is_for(key.owner) for key in config.keys):
                click.echo(f"warning: no key has the name {budget.key!r} of a [[budget]]", err=True)
        if not config.routes:
            click.echo("there are no routes yet: a [[route]] maps a model name to an upstream", err=True)
    sys.exit(1 if any(one.problem for one in routes) or any(tool.problem for tool in tools) else 0)


async def check_config(config: Config) -> list[RouteCheck]:
    own, routing = Transports(), Routing(config)
    transport = upstream_transport(config.upstreams.values(), own)

    async def check(row: RouteRow) -> RouteCheck:
        upstream = config.upstreams[row.upstream]
        if "*" in row.target:
            return RouteCheck(row.model, row.to, upstream.name, await check_upstream(upstream, transport))
        found = await check_model(routing.candidate(row, row.target), transport)
        return RouteCheck(row.model, row.to, upstream.name, found.problem, found)

    try:
        return list(await asyncio.gather(*map(check, config.routes)))
    finally:
        await transport.aclose()
        await own.aclose()


async def check_server_tools(config: Config) -> list[ToolCheck]:
    """Starts their MCP servers, or connects to them."""

    async def check(source: ToolSource) -> ToolCheck:
        tool = ConfiguredTool(source)
        try:
            return ToolCheck(source.row.name, (await tool.definition()).name, "")
        except ToolglotError as error:
            return ToolCheck(source.row.name, "", str(error))
        finally:
            await tool.retire()

    return list(await asyncio.gather(*map(check, config.server_tools)))


def _mark(problem: str) -> str:
    return click.style("fail", fg="red", bold=True) if problem else click.style("ok", fg="green", bold=True) + "  "


def _line(one: RouteCheck) -> str:
    mark = _mark(one.problem)
    details: list[Any] = [one.problem] if one.problem else []
    if one.found is not None and not one.problem:
        details += [f"{one.found.window:,} tokens"] if one.found.window else []
        details += [] if one.found.supports_tools else ["no native tools: toolglot puts them into the prompt"]
        details += one.found.notes
    return f"  {mark} {one.model} -> {one.to}" + (f"  {'; '.join(details)}" if details else "")
