"""`toolglot connect`: the lasting settings of a coding agent for the gateway, printed or written, with a backup and an undo."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec

from toolglot.cli.agents import Agent, find_agent
from toolglot.cli.completion import complete_agents
from toolglot.cli.gateway_client import GATEWAY, KEY_VARIABLE, GatewayClient
from toolglot.cli.launch import check_model, first_model
from toolglot.cli.settings_files import Written, edited, undo, write
from toolglot.client.user_dirs import at_home, open_private
from toolglot.errors import CallerError, ToolglotError
from toolglot.io.json_codec import JSON_ERRORS, encode

EXAMPLES = """\b
Examples:
  toolglot connect claude                    print what would be written
  toolglot connect claude -m qwen3-coder:30b --write
  toolglot connect codex --gateway http://10.0.0.5:8484 --write
  toolglot connect claude --undo             restore the files as they were

\b
Exit codes: 0 success, 1 failure, 2 usage error.
"""
_NOTES = "~/.config/toolglot/connected"  # one file for each agent: what was written, for --undo
_NO_KEY = "any"
_KEY = "{key}"  # the placeholder


@click.command("connect", epilog=EXAMPLES)
@click.argument("agent", shell_complete=complete_agents)
@click.option("-m", "--model", envvar="TOOLGLOT_MODEL", help="A model of the gateway; default: its first one.")
@click.option("--gateway", metavar="URL", default=GATEWAY, show_default=True, help="The gateway that the agent will use.")
@click.option("--write", "is_written", is_flag=True, help="Write the settings. A backup of each file is kept beside it.")
@click.option("--undo", "is_undone", is_flag=True, help="Restore the files as they were before --write.")
@click.option("--force", is_flag=True, help="Also if the model can't be checked, or if a file was changed since --write.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(agent: str, model: str | None, gateway: str, as_json: bool, **flags: bool) -> None:
    """Print or write the settings with which AGENT always uses the gateway.

    Existing settings in the files are kept. To try an agent without changing its files, use `toolglot launch`.
    """
    try:
        row = find_agent(agent)
        if flags["is_undone"]:
            if flags["is_written"]:
                raise CallerError("--write and --undo: one at a time")
            done = _undo(row, force=flags["force"])
            click.echo(encode({"undone": done}) if as_json else "\n".join(done))
            return
        if not row.settings:
            raise CallerError(f"{row.title} has no file for these settings: use `toolglot launch {agent}`")
        client = GatewayClient(gateway)
        name = _model(client, row, model, force=flags["force"])
        shown = client.key if flags["is_written"] else f"${KEY_VARIABLE}"
        filled = row.filled(url=client.url, key=shown if client.key else _NO_KEY, model=name)
        if flags["is_written"]:
            files = [one.path for one in _write(filled)]
            click.echo(encode({"written": files}) if as_json else "\n".join(f"written: {file}" for file in files))
            _say_next(filled, client)
        else:
            click.echo(_plan(filled, as_json))
    except CallerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    except (ToolglotError, OSError) as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)


def _model(client: GatewayClient, agent: Agent, model: str | None, *, force: bool) -> str:
    if force and model is not None:
        return model
    return check_model(client, agent, model or first_model(client), force=force)


def _write(agent: Agent) -> list[Written]:
    """All files are edited before the first is written: one that can't be edited leaves all as they are."""
    notes = _notes_of(agent)
    before = {one.path: one for one in _read_notes(notes)}
    edits = [(path := at_home(one.file), edited(path, _text(path), one.values)) for one in agent.settings]
    done = [write(path, text, before.get(str(path.resolve()))) for path, text in edits]
    with open(open_private(notes), "wb") as file:
        file.truncate(0)
        file.write(encode(msgspec.to_builtins(done)))
    return done


def _undo(agent: Agent, *, force: bool) -> list[str]:
    notes = _notes_of(agent)
    written = _read_notes(notes)
    if not written:
        raise CallerError(f"there is nothing to undo: `toolglot connect {agent.name} --write` was not used here", "--undo")
    done = [undo(one, force=force) for one in written]
    notes.unlink()
    return done


def _notes_of(agent: Agent) -> Path:
    return at_home(_NOTES) / f"{agent.name}.json"


def _read_notes(notes: Path) -> list[Written]:
    try:
        return msgspec.json.decode(notes.read_bytes(), type=list[Written])
    except (OSError, *JSON_ERRORS):
        return []


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _plan(agent: Agent, as_json: bool) -> bytes | str:
    if as_json:
        files = [{"file": one.file, "values": one.values} for one in agent.settings]
        return encode({"agent": agent.name, "files": files})
    parts = []
    for one in agent.settings:
        parts += [click.style(f"{one.file}", bold=True), edited(Path(one.file), "", one.values)]
    return "\n".join([*parts, f"`toolglot connect {agent.name} --write` merges this into the files, with a backup."])


def _say_next(agent: Agent, client: GatewayClient) -> None:
    click.echo(f"{agent.title} uses the gateway at {client.url}. `toolglot connect {agent.name} --undo` restores it.", err=True)
    row = find_agent(agent.name)
    if any(_KEY in str(one.values) for one in row.settings):
        return
    for name in (name for name, value in row.env.items() if value == _KEY):  # no file has the key
        hint = f" ({agent.env[name]})" if agent.env[name] == _NO_KEY else ""
        click.echo(f"Set {name} in the environment of {agent.title}{hint}", err=True)
