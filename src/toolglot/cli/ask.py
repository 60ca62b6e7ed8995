"""`toolglot ask`: ask a model that can use tools. The answer is streamed to stdout; calls and results go to stderr."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
from contextlib import aclosing, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import click
import msgspec

from toolglot.agent.agent import Agent, RunStream
from toolglot.agent.mcp_connection import MCP_FAILED
from toolglot.agent.record import encode_run
from toolglot.agent.results import without_secrets
from toolglot.agent.run import Run, ToolRun
from toolglot.agent.runnable import in_thread
from toolglot.agent.tool_file import load_tools
from toolglot.cli.ask_view import View
from toolglot.cli.completion import complete_models
from toolglot.cli.convert import check_schemas
from toolglot.cli.named_options import key_by_name, named_options
from toolglot.cli.streams import no_color, reserve_stdout
from toolglot.cli.terminal import plain
from toolglot.client.embedded import demo_note
from toolglot.core.events import Event
from toolglot.core.messages import Message, Text, ToolCall
from toolglot.errors import CallerError, ToolglotError, UpstreamError
from toolglot.io.json_codec import JSON_ERRORS, decode_lenient, encode, replace_surrogates

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

\b
Exit codes: 0 success, 1 failure (stderr says why), 2 usage error.
"""
DEFAULT_MODEL = "local"
_NAMESPACE = re.compile(r"([A-Za-z][\w-]*)=")
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
    help="Use the @tools of a file, or its typed functions; may be repeated.",
)
@click.option(
    "--mcp",
    multiple=True,
    metavar="[NAME=]CMD_OR_URL",
    help="Use an MCP server's tools; may be repeated. NAME is a prefix for its tool names.",
)
@click.option("--approve", is_flag=True, help="Ask before running each call.")
@click.option("--max-turns", type=click.IntRange(1), default=12, show_default=True, help="The most requests to the model.")
@click.option("--schema", type=click.File("rb"), help="A JSON Schema for the answer.")
@click.option("--system", help="The system prompt.")
@click.option("-o", "--option", "options", multiple=True, metavar="NAME=VALUE", help="As in OpenAI Chat: -o temperature=0")
@click.option(
    "--record",
    metavar="FILE",
    type=click.Path(),
    envvar="TOOLGLOT_RECORD",
    help="Record the run (.jsonl or .sqlite), for `explain`.",
)
@click.option("--base-url", help="The server's address, if not the provider's default.")
@click.option("--api-key", metavar="env:NAME", help="The variable with the API key, if not the provider's default.")
@click.option("--dry-run", is_flag=True, help="Print the request without sending it.")
@click.option("-v", "--verbose", is_flag=True, help="Also show notes, and what was done to each call.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole run as JSON.")
@click.pass_context
def command(
    ctx: click.Context, /, question: tuple[str, ...], as_json: bool, dry_run: bool, verbose: bool, **options: Any
) -> None:
    """Ask a model, let it use tools, and stream its answer.

    Calls and results are shown on stderr as they happen; only the answer is on stdout. Piped input is appended to the
    question. Without a question, on a terminal, it starts a chat.
    """
    if no_color():
        ctx.color = False
    quiet_logs()
    try:
        agent = make_agent(options)  # first, because the schema may be piped in
        prompt = _question(question)
        if dry_run:
            click.echo(asyncio.run(_prepared(agent, prompt or "...", as_json=as_json)))
            return
        if prompt is None and as_json:
            raise CallerError("a chat can't be printed as JSON; give a question", "--json")
        for note in (demo_note(options["model"]) if verbose or prompt is None else "", unapproved(agent, options)):
            if note:
                click.echo(note, err=True)
        if prompt is None:
            chat(agent, verbose=verbose)
        else:
            shown = _show_run(agent.stream(prompt), quiet=as_json, verbose=verbose, at_end=options["schema"] is not None)
            _exit(asyncio.run(shown), as_json=as_json)
    except ToolglotError as error:
        fail(error, options["model"])
    except KeyboardInterrupt:
        click.echo("stopped", err=True)
        sys.exit(1)


def quiet_logs() -> None:
    logging.getLogger("mcp").addHandler(logging.NullHandler())  # it logs whole tracebacks


def fail(error: ToolglotError, model: str) -> NoReturn:
    if isinstance(error, CallerError):
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    is_mcp = isinstance(error, UpstreamError) and error.code == MCP_FAILED
    status = f" (status {error.status})" if isinstance(error, UpstreamError) and error.status is not None else ""
    click.echo(f"error: {error}" if is_mcp else f"error: {model}: {error}{status}", err=True)
    sys.exit(1)


# -- arguments and options


def _question(words: tuple[str, ...]) -> str | None:
    """The words and the piped input. None if there is neither and stdin is a terminal."""
    typed = replace_surrogates(" ".join(words)).strip()
    if sys.stdin is not None and sys.stdin.isatty():
        return typed or None
    piped = sys.stdin.read().strip() if sys.stdin is not None else ""  # None: closed
    if not typed and not piped:
        raise CallerError('there is no question: toolglot ask "..."')
    return "\n\n".join(part for part in (typed, piped) if part)


def make_agent(options: dict[str, Any]) -> Agent:
    request_options = named_options(options["options"])
    if options["schema"] is not None:
        request_options["response_schema"] = _schema(options["schema"])
    key_by_name(options["api_key"])
    client = {name: options[name] for name in ("base_url", "api_key") if options[name] is not None}
    with reserve_stdout():  # tool files may print while they are loaded
        tools = [tool for path in options["files"] for tool in load_tools(path)]
    check_schemas(tools)
    return Agent(
        options["model"],
        tools,
        options["system"],
        max_turns=options["max_turns"],
        approve=_approve if options["approve"] else None,
        record=options["record"],
        mcp=[_server(value) for value in options["mcp"]],
        **client,
        **request_options,
    )


def _server(value: str) -> dict[str, str | None]:
    """The arguments for `mcp_tools`. Neither an address nor a usual command starts with NAME=."""
    named = _NAMESPACE.match(value)
    return {"server": value[named.end() :] if named else value, "namespace": named[1] if named else None}


def _schema(file: Any) -> Any:
    try:
        return decode_lenient(file.read())
    except JSON_ERRORS as error:
        raise CallerError(f"{file.name} is not JSON: {error}", "--schema") from None


def unapproved(agent: Agent, options: dict[str, Any]) -> str:
    """Which tools the model may run without a question to the user."""
    names = [*agent.tool_names, *(f"all tools of {without_secrets(value)}" for value in options["mcp"])]
    if options["approve"] or not names:
        return ""
    return f"runs without approval: {plain(', '.join(names))} (--approve asks before each call)"


# -- one question


async def _show_run(
    stream: RunStream[Event | ToolRun], *, quiet: bool = False, verbose: bool = False, at_end: bool = False
) -> Run:
    with reserve_stdout() as out:  # tools may print while they run
        view = View(out, quiet=quiet, verbose=verbose, at_end=at_end)
        async with aclosing(stream):
            async for event in stream:
                view.show(event)
        view.close(stream.run)
    return stream.run


def _exit(run: Run, *, as_json: bool) -> None:
    if as_json:
        click.echo(encode(as_object(run)))
    sys.exit(0 if run.ok else 1)


def as_object(run: Run) -> dict[str, Any]:
    """The run as JSON, with its messages in OpenAI Chat format."""
    fields = encode_run(run)
    fields.pop("history", None)
    fields["calls"] = [
        {"id": call.id, "name": call.full_name, "arguments": call.arguments, "raw": call.raw, "fixes": list(call.fixes)}
        for call in run.calls
    ]
    decisions = [{"code": one.code, "message": one.message, "call": one.call and one.call.id} for one in run.decisions]
    return {**fields, "decisions": decisions, "notes": list(run.notes), "messages": run.messages}


async def _prepared(agent: Agent, question: str, *, as_json: bool) -> bytes:
    line = encode(await agent.prepare(question))
    return line if as_json else msgspec.json.format(line, indent=2)


# -- approval


async def _approve(call: ToolCall) -> bool | str:
    """Ask on the terminal itself: standard input may be a pipe."""
    click.secho(f"? {plain(call.full_name)}({plain(call.arguments_json)})", fg="yellow", err=True)
    if call.fixes:
        click.echo(f"    as the model wrote it: {plain(call.raw.strip())}", err=True)
    click.echo("  run it? [y]es, [n]o, or a reason to refuse: ", err=True, nl=False)
    try:
        line = await _read_terminal()
    except OSError:
        click.echo("no terminal to ask for approval", err=True)
        return "no terminal to ask for approval"
    if not line:  # Ctrl-D, which leaves the line open
        click.echo(err=True)
    answer = line.strip()
    if answer.lower() in ("y", "yes"):
        return True
    return False if answer.lower() in ("", "n", "no") else answer


async def _read_terminal() -> str:
    """A line from the terminal. Waits in the event loop where possible: a reading thread can't be interrupted."""
    with Path(TERMINAL).open("r", encoding="utf-8", errors="replace") as terminal:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        try:
            loop.add_reader(terminal.fileno(), ready.set)
        except (OSError, NotImplementedError):  # this event loop can't wait for it
            return await in_thread(terminal.readline, "approval")
        try:
            await ready.wait()
        finally:
            loop.remove_reader(terminal.fileno())
        return terminal.readline()


# -- a chat


def chat(agent: Agent, *, verbose: bool = False, as_json: bool = False) -> bool:
    """One conversation over many questions. MCP servers stay connected. False: the last run failed."""
    with suppress(ImportError):
        import_module("readline")  # once imported, it gives `input` line editing
    click.echo(f"{agent.model}. /new starts a new chat, Ctrl-D quits.", err=True)
    history: tuple[Message, ...] = ()
    ok = True
    with asyncio.Runner() as runner:
        runner.run(agent.__aenter__())
        try:
            while (line := _line()) is not None:
                if line == "/new":
                    history = ()
                elif line:
                    messages = (*history, Message("user", (Text(line),)))
                    ok, history = _turn(runner, agent, messages, verbose=verbose, as_json=as_json)
        finally:
            runner.run(agent.__aexit__(None, None, None))
    return ok


def _line() -> str | None:
    """The typed line, None at the end. If stdout is a file, the prompt goes to stderr."""
    prompt = "> " if sys.stdout.isatty() else ""
    try:
        if not prompt:
            click.echo("> ", nl=False, err=True)
        return input(prompt).strip()
    except (EOFError, KeyboardInterrupt):
        click.echo(err=True)
        return None


def _turn(
    runner: asyncio.Runner, agent: Agent, messages: tuple[Message, ...], *, verbose: bool, as_json: bool
) -> tuple[bool, tuple[Message, ...]]:
    """Whether it worked, and the history after it. Errors are shown, and the chat continues; calls that were run stay."""
    stream = agent.stream(messages)
    try:
        run = runner.run(_show_run(stream, quiet=as_json, verbose=verbose))
        if as_json:
            click.echo(encode(as_object(run)))
        return run.ok, run.history
    except UpstreamError as error:
        click.echo(f"error: {agent.model}: {error}", err=True)
    except KeyboardInterrupt:
        click.echo("stopped", err=True)
        with suppress(CallerError):  # the run had not started
            return True, stream.run.history if stream.run.calls else messages[:-1]
    return False, messages[:-1]
