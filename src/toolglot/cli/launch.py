"""`toolglot launch`: run a coding agent with any model. The user's own files are not changed."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click

from toolglot.catalog.providers import providers
from toolglot.cli.agents import Agent, agents, find_agent
from toolglot.cli.completion import complete_agents, complete_models
from toolglot.cli.gateway_client import GATEWAY, KEY_VARIABLE, GatewayClient
from toolglot.cli.named_options import key_by_name
from toolglot.client.embedded import SCHEME, demo_note, embedded_names, locate
from toolglot.errors import CallerError, ToolglotError, UpstreamError
from toolglot.io.json_codec import encode

EXAMPLES = """\b
Examples:
  toolglot launch                                   the agents, and which are installed
  toolglot launch claude -m ollama/qwen3-coder:30b
  toolglot launch codex -m vllm/my-model --base-url http://10.0.0.5:8000 -- exec "Fix the tests"
  toolglot launch gemini                            with the routes of ./toolglot.toml or of the running gateway
  toolglot launch opencode -m anthropic/claude-sonnet-5 --dry-run

\b
Exit codes: 0 success, 1 failure (not installed, the model can't be used), 2 usage error; else that of the agent.
"""
_UNSAFE = frozenset("\"'\\{}`$ ")
_CONFIG = "toolglot.toml"


@click.command("launch", epilog=EXAMPLES)
@click.argument("agent", required=False, shell_complete=complete_agents)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "-m",
    "--model",
    envvar="TOOLGLOT_MODEL",
    help="provider/model, or a name that a route matches.",
    shell_complete=complete_models,
)
@click.option("--config", "path", type=click.Path(path_type=Path), help="Start a gateway with it; default: ./toolglot.toml.")
@click.option(
    "--gateway", metavar="URL", help=f"Use this gateway. Default: the one at {GATEWAY} if it has the model, else a new one."
)
@click.option("--base-url", help="The model server's address, if not the provider's default.")
@click.option("--api-key", metavar="env:NAME", help="The variable with the model's API key, if not the provider's default.")
@click.option("--force", is_flag=True, help="Start the agent even if the check of the model fails.")
@click.option("--dry-run", is_flag=True, help="Print the command and the environment, and start nothing.")
@click.option("--json", "as_json", is_flag=True, help="With --dry-run, or without AGENT: print JSON.")
def command(agent: str | None, arguments: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Run a coding agent with any model: claude, codex, gemini, opencode, qwen, goose, aider, pi, copilot, cline.

    ARGUMENTS after `--` go to the agent. If no gateway runs, one is started on a free port and ends with the agent. The agent
    gets its settings as environment variables and temporary files; your own files are not changed. Its log is printed by
    `toolglot logs`.
    """
    if agent is None:
        _print_agents(as_json)
        return
    try:
        row = find_agent(agent)
        if as_json and not options["dry_run"]:
            raise CallerError("needs --dry-run: the agent's output is not JSON", "--json")
        key_by_name(options["api_key"])
        program = shutil.which(row.program)
        if program is None and not options["dry_run"]:
            raise UpstreamError(f"{row.title} is not installed ({row.program} is not on PATH): {row.install}")
        with _gateway(options) as gateway, tempfile.TemporaryDirectory(prefix="toolglot-") as folder:
            flags = {"force": options["force"], "downloads": not options["dry_run"]}
            model = check_model(gateway, row, options["model"] or first_model(gateway), **flags)
            filled = row.filled(url=gateway.url, key=gateway.key or "any", model=model, folder=folder)
            words = [program or row.program, *filled.arguments, *arguments]
            if options["dry_run"]:
                shown = row.filled(url=gateway.url, key=f"${KEY_VARIABLE}", model=model, folder="FOLDER")
                _print_plan(shown, [row.program, *shown.arguments, *arguments], as_json)
                return
            filled.write_files(Path(folder))
            code = _run(words, environment(filled, os.environ))
    except CallerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    except ToolglotError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)
    sys.exit(code)


# -- the gateway and the model


@contextmanager
def _gateway(options: Mapping[str, Any]) -> Iterator[GatewayClient]:
    """A running gateway that leads to the model, or a new one."""
    from toolglot.cli.own_gateway import file_config, found_config, model_config, running_gateway  # noqa: PLC0415

    model, path, is_new = options["model"], options["path"], options["base_url"] or options["api_key"]
    if options["gateway"] is not None:
        client = GatewayClient(options["gateway"])
        if not client.is_running():
            raise client.missing()
        yield client
        return
    if path is None and not is_new:
        client = GatewayClient(GATEWAY)
        if _leads_to(client, model):
            yield client
            return
        path = Path(_CONFIG) if Path(_CONFIG).is_file() else None
    if path is not None:
        with running_gateway(file_config(path)) as (url, key):
            client = GatewayClient(url, key)
            if options["path"] is not None or _leads_to(client, model):
                yield client
                return
    if model is None:
        config = found_config()
    else:
        config = model_config(model, options["base_url"], options["api_key"])
    with running_gateway(config) as (url, key):
        yield GatewayClient(url, key)


def _leads_to(client: GatewayClient, model: str | None) -> bool:
    """Whether a gateway runs there and has the model. With a provider in the name, a route "*" to another model is not it."""
    try:
        if not client.is_running():
            return False
        if model is None:
            return True
        found = client.check(model)
    except (CallerError, UpstreamError):
        return False
    name, _, rest = model.partition("/")
    return name not in providers() or (found.provider, found.target) == (name, rest or found.target)


def check_model(client: GatewayClient, agent: Agent, model: str, *, force: bool, downloads: bool = False) -> str:
    """The model, once it is checked. Prints what will be used on stderr."""
    if _UNSAFE & set(model) or not model.isprintable():
        raise CallerError(f"{model!r} can't be written into the settings of an agent", "--model")
    found = client.check(model)
    problems = [found.problem] if found.problem else []
    if found.window is not None and found.window < agent.prompt:
        problems.append(
            f"the context window of {model} is {found.window:,} tokens, and the first request of {agent.title} takes about "
            f"{agent.prompt:,}: choose another model or enlarge the window"
        )
    if problems and not force:
        raise UpstreamError(f"{'; '.join(problems)} (--force starts {agent.title} anyway)")
    for note in [*problems, *found.notes]:
        click.echo(f"warning: {note}", err=True)
    if found.cut_at is not None and found.cut_at < agent.prompt:
        click.echo(
            f"warning: {found.provider} cuts prompts after {found.cut_at:,} tokens unless it is configured otherwise "
            f"(OLLAMA_CONTEXT_LENGTH), and {agent.title} sends about {agent.prompt:,}",
            err=True,
        )
    window = "" if found.window is None else f", {found.window:,} tokens"
    click.echo(
        f"{agent.title} uses {found.target} of {found.upstream} ({found.address}){window}; gateway: {client.url}", err=True
    )
    if note := demo_note(f"{found.provider}/{found.target}"):
        click.echo(note, err=True)
        if downloads:
            locate(found.target)  # downloads here, not in the first request: the agent has the terminal then
    return model


def first_model(client: GatewayClient) -> str:
    """The first that is not one of our small demo models, unless there is no other."""
    names = client.models()
    if not names:
        raise CallerError("the routes name no model; name one that a route matches", "--model")
    return next((name for name in names if name.removeprefix(f"{SCHEME}/") not in embedded_names()), names[0])


# -- the agent


def environment(agent: Agent, environ: Mapping[str, str]) -> dict[str, str]:
    """For the agent. The gateway is on this machine: never through a proxy."""
    found = {name: value for name, value in environ.items() if name not in agent.unset}
    for name in ("NO_PROXY", "no_proxy"):
        exempt = [one for one in found.get(name, "").split(",") if one.strip()]
        found[name] = ",".join(dict.fromkeys([*exempt, "127.0.0.1", "localhost"]))
    return {**found, **agent.env}


def _run(words: list[str], environ: Mapping[str, str]) -> int:
    """Until it ends: its exit code. Signals reach it; from a terminal, Ctrl-C reaches it without us."""
    process: subprocess.Popen[bytes] | None = None
    early: list[int] = []  # came after it was started and before we knew it

    def forward(number: int, _: FrameType | None) -> None:
        if number == signal.SIGINT and sys.stdin.isatty():
            return
        if process is None:
            early.append(number)
        else:
            process.send_signal(number)

    names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.signal(number, forward) for number in numbers}
    try:
        with subprocess.Popen(words, env=dict(environ)) as process:  # noqa: S603
            for number in early:
                process.send_signal(number)
            code = process.wait()
    except OSError as error:
        raise UpstreamError(f"{words[0]} can't be started: {error.strerror or error}") from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return code if code >= 0 else 128 - code  # ended by a signal: as in a shell


# -- printing


def _print_plan(agent: Agent, words: list[str], as_json: bool) -> None:
    if as_json:
        plan = {"agent": agent.name, "command": words, "env": agent.env, "unset": agent.unset, "files": agent.files}
        click.echo(encode(plan))
        return
    for name in agent.unset:
        click.echo(f"unset {name}")
    for name, value in agent.env.items():
        click.echo(f"{name}={value}")
    for name, values in agent.files.items():
        click.echo(f"FOLDER/{name}: {encode(values).decode()}")
    click.echo(shlex.join(words))


def _print_agents(as_json: bool) -> None:
    rows = [(row, shutil.which(row.program)) for row in agents().values()]
    if as_json:
        listed = [{"agent": row.name, "title": row.title, "program": program, "install": row.install} for row, program in rows]
        click.echo(encode(listed))
        return
    for row, program in rows:
        where = program or click.style(f"not installed: {row.install}", fg="bright_black")
        click.echo(f"{row.name:<10}{row.title:<14}{where}")
