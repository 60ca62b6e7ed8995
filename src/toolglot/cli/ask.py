"""`toolglot ask`: a question to a model with tools. The answer goes to stdout as it comes, what happens meanwhile to stderr."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
from contextlib import aclosing, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import msgspec

from toolglot.agent.agent import Agent, RunStream
from toolglot.agent.mcp_connection import FAILED
from toolglot.agent.record import encode_run
from toolglot.agent.run import Run
from toolglot.agent.runnable import in_thread
from toolglot.agent.structured import MISSED
from toolglot.agent.tool_file import load_tools
from toolglot.cli.asking_view import View, plain
from toolglot.cli.completing import complete_models
from toolglot.cli.named_options import key_by_name, named_options
from toolglot.cli.streams import results_apart, uncoloured
from toolglot.core.messages import Message, Text, ToolCall
from toolglot.errors import CallerError, UpstreamError
from toolglot.text.json_text import BadJson, decode_leniently, encode, sound

EXAMPLES = """\b
Examples:
  toolglot ask "Why is the sky blue?"                                 the embedded model; no key, no server
  toolglot ask "Weather in Paris?" -m ollama/qwen3:8b --tools my_tools.py
  toolglot ask "Tidy up this folder" -m anthropic/claude-sonnet-5 --mcp "uvx mcp-server-filesystem ." --approve
  toolglot ask "Copy the notes" --mcp "old=uvx mcp-server-filesystem old" --mcp "new=uvx mcp-server-filesystem new"
  git diff | toolglot ask "Review this" -m openai/gpt-5
  toolglot ask "Name and age: Ada, 36" --schema person.json -m llamacpp/any
  toolglot ask "Weather?" -m groq/qwen3-32b --tools my_tools.py --dry-run    what would be sent, without sending it
  toolglot ask -m ollama/qwen3:8b --tools my_tools.py                 a chat
  toolglot ask "..." --record runs.jsonl; toolglot explain runs.jsonl
"""
DEFAULT_MODEL = "local/smollm2"
_NAMED = re.compile(r"([A-Za-z][\w-]*)=")
TERMINAL = "CON" if os.name == "nt" else "/dev/tty"


@click.command("ask", epilog=EXAMPLES)
@click.argument("question", nargs=-1)
@click.option(
    "-m",
    "--model",
    default=DEFAULT_MODEL,
    envvar="TOOLGLOT_MODEL",
    show_default=True,
    help="provider/model",
    shell_complete=complete_models,
)
@click.option(
    "--tools",
    "files",
    multiple=True,
    metavar="FILE.py",
    type=click.Path(),
    help="Its @tools, or its typed functions; may be repeated.",
)
@click.option(
    "--mcp",
    multiple=True,
    metavar="[NAME=]CMD_OR_URL",
    help="An MCP server's tools; may be repeated. NAME goes before theirs, to tell those of two servers apart.",
)
@click.option("--approve", is_flag=True, help="Ask before each call is run.")
@click.option(
    "--max-turns", type=click.IntRange(1), default=12, show_default=True, help="How often the model is asked at most."
)
@click.option("--schema", type=click.File("rb"), help="A JSON Schema that the answer has to satisfy.")
@click.option("--system", help="The system prompt.")
@click.option("-o", "--option", "options", multiple=True, metavar="NAME=VALUE", help="As in OpenAI Chat: -o temperature=0")
@click.option(
    "--record",
    metavar="FILE",
    type=click.Path(),
    envvar="TOOLGLOT_RECORD",
    help="Keep the run (.jsonl or .sqlite), for `explain`.",
)
@click.option("--base-url", help="Where the provider is, if not at its usual address.")
@click.option("--api-key", metavar="env:NAME", help="The variable that holds the key, if not the provider's usual one.")
@click.option("--dry-run", is_flag=True, help="Print what would be sent, and send nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole run as JSON.")
@click.pass_context
def command(ctx: click.Context, /, question: tuple[str, ...], as_json: bool, dry_run: bool, **given: Any) -> None:
    """Ask a model, let it use tools, and stream its answer.

    Calls, results and fixes are shown on stderr as they happen; the answer alone is on stdout. What is piped in is put behind
    the question. Without a question, on a terminal, it is a chat.

    Exit codes: 0 it was answered, 1 it was not (stderr says why), 2 wrong use.
    """
    if uncoloured():
        ctx.color = False
    for name in ("toolglot", "mcp"):  # the view shows what the log would say; mcp's shows whole tracebacks
        logging.getLogger(name).addHandler(logging.NullHandler())
    try:
        agent = _agent(given)  # first, for a schema may be piped in
        asked = _question(question)
        if dry_run:
            click.echo(asyncio.run(_prepared(agent, asked or "...", as_json=as_json)))
        elif asked is None and as_json:
            raise CallerError("a chat is for people; give a question", "--json")
        elif asked is None:
            _chat(agent)
        else:
            _end(asyncio.run(_shown(agent.stream(asked), quiet=as_json)), as_json=as_json)
    except CallerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    except UpstreamError as error:
        click.echo(f"error: {error}" if error.code == FAILED else f"error: {given['model']}: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        click.echo("stopped", err=True)
        sys.exit(1)


# -- what was given


def _question(words: tuple[str, ...]) -> str | None:
    """The words and what is piped in. None: there is neither, but a person who can be asked for one."""
    said = sound(" ".join(words)).strip()
    if sys.stdin is not None and sys.stdin.isatty():
        return said or None
    piped = sys.stdin.read().strip() if sys.stdin is not None else ""  # None: it was closed
    if not said and not piped:
        raise CallerError('there is no question: toolglot ask "..."')
    return "\n\n".join(part for part in (said, piped) if part)


def _agent(given: dict[str, Any]) -> Agent:
    options = named_options(given["options"])
    if given["schema"] is not None:
        options["response_schema"] = _schema(given["schema"])
    key_by_name(given["api_key"])
    client = {name: given[name] for name in ("base_url", "api_key") if given[name] is not None}
    with results_apart():  # what the files print is no result
        tools = [tool for path in given["files"] for tool in load_tools(path)]
    return Agent(
        given["model"],
        tools,
        given["system"],
        max_turns=given["max_turns"],
        approve=_approve if given["approve"] else None,
        record=given["record"],
        mcp=[_server(said) for said in given["mcp"]],
        **client,
        **options,
    )


def _server(said: str) -> dict[str, str | None]:
    """As `mcp_tools` takes it. No address begins with a name and =, and no command that is in use."""
    named = _NAMED.match(said)
    return {"server": said[named.end() :] if named else said, "namespace": named[1] if named else None}


def _schema(file: Any) -> Any:
    try:
        return decode_leniently(file.read())
    except BadJson as error:
        raise CallerError(f"{file.name} is no JSON: {error}", "--schema") from None


# -- one question


async def _shown(stream: RunStream, *, quiet: bool = False) -> Run:
    with results_apart() as out:  # what tools print is no result
        view = View(out, quiet=quiet)
        async with aclosing(stream):
            async for event in stream:
                view.show(event)
        view.close(stream.run)
    return stream.run


def _end(run: Run, *, as_json: bool) -> None:
    if as_json:
        click.echo(encode(as_object(run)))
    structured = not any(note.startswith(MISSED) for note in run.notes)
    sys.exit(0 if run.ok and structured else 1)


def as_object(run: Run) -> dict[str, Any]:
    """A run for other programs: as it is, with its messages in OpenAI Chat's form."""
    held = encode_run(run)
    held.pop("history", None)
    held["calls"] = [
        {"id": call.id, "name": call.full_name, "arguments": call.arguments, "raw": call.raw, "fixes": list(call.fixes)}
        for call in run.calls
    ]
    told = [{"code": one.code, "message": one.message, "call": one.call and one.call.id} for one in run.decisions]
    return {**held, "decisions": told, "notes": list(run.notes), "messages": run.messages}


async def _prepared(agent: Agent, question: str, *, as_json: bool) -> bytes:
    call = await agent.prepare(question)
    line = encode(call)
    return line if as_json else msgspec.json.format(line, indent=2)


# -- approval


async def _approve(call: ToolCall) -> bool | str:
    """Asked on the terminal itself, for standard input may be a pipe."""
    click.secho(f"? {plain(call.full_name)}({plain(call.arguments_json)})", fg="yellow", err=True)
    if call.fixes:
        click.echo(f"    as the model wrote it: {plain(call.raw.strip())}", err=True)
    click.echo("  run it? [y]es, [n]o, or say why not: ", err=True, nl=False)
    try:
        line = await _typed()
    except OSError:
        click.echo("there is nobody to ask", err=True)
        return "there is nobody to ask"
    if not line:  # Ctrl-D, which leaves the line open
        click.echo(err=True)
    said = line.strip()
    if said.lower() in ("y", "yes"):
        return True
    return False if said.lower() in ("", "n", "no") else said


async def _typed() -> str:
    """A line of the terminal. Where the wait is interrupted, nobody is left who reads on."""
    with Path(TERMINAL).open("r", encoding="utf-8", errors="replace") as terminal:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        try:
            loop.add_reader(terminal.fileno(), ready.set)
        except (OSError, NotImplementedError):  # what this event loop can't wait for
            return await in_thread(terminal.readline, "approval")
        try:
            await ready.wait()
        finally:
            loop.remove_reader(terminal.fileno())
        return terminal.readline()


# -- a chat


def _chat(agent: Agent) -> None:
    """Question after question, the conversation kept; the tools' servers stay up in between."""
    with suppress(ImportError):
        import_module("readline")  # being there, it lets `input` edit lines
    click.echo(f"{agent.model}. /new begins anew, Ctrl-D ends.", err=True)
    history: tuple[Message, ...] = ()
    with asyncio.Runner() as runner:
        runner.run(agent.__aenter__())
        try:
            while (line := _line()) is not None:
                if line == "/new":
                    history = ()
                elif line:
                    history = _turn(runner, agent, (*history, Message("user", (Text(line),))))
        finally:
            runner.run(agent.__aexit__(None, None, None))


def _line() -> str | None:
    """What is typed; None at the end. The prompt is no result: where stdout is a file, it goes elsewhere."""
    prompt = "> " if sys.stdout.isatty() else ""
    try:
        if not prompt:
            click.echo("> ", nl=False, err=True)
        return input(prompt).strip()
    except (EOFError, KeyboardInterrupt):
        click.echo(err=True)
        return None


def _turn(runner: asyncio.Runner, agent: Agent, asked: tuple[Message, ...]) -> tuple[Message, ...]:
    """One question; what goes wrong is told, and the conversation goes on. What was done by then is not forgotten."""
    stream = agent.stream(asked)
    try:
        return runner.run(_shown(stream)).history
    except UpstreamError as error:
        click.echo(f"error: {error}", err=True)
    except KeyboardInterrupt:
        click.echo("stopped", err=True)
        with suppress(CallerError):  # it had not begun
            return stream.run.history if stream.run.calls else asked[:-1]
    return asked[:-1]
