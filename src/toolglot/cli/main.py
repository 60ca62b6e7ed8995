"""The `toolglot` command group. Each command is in its own file and imported only when it is called."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from toolglot import __version__
from toolglot.cli.streams import describe_error, discard_output, no_color, prepare_streams

# command -> help line; the file cli/<command>.py exports `command`
COMMANDS = {
    "ask": "Ask a model, let it use tools, and stream its answer.",
    "batch": "Extract the calls from files of recorded replies, on all cores or on a Ray cluster.",
    "bench": "Measure how fast toolglot is on this machine: translating, parsing and validating calls, and asking a model.",
    "chat": "Chat with a model in the terminal; it may use tools.",
    "check": "Validate a configuration, and reach each upstream and model that it names.",
    "connect": "Print or write the lasting settings of a coding agent for the gateway, or undo them.",
    "dialect": "Check a dialect of your own: run all laws on it, and print what fails.",
    "doctor": "Say what is wrong with this machine, a model or an agent, and what to do.",
    "eval": "Ask a model questions with known answers, and measure its calls with and without toolglot.",
    "explain": "Show why each call of a recorded run was rescued, fixed or rejected, or why there was none.",
    "convert": "Translate a request, response, message, tools or stream from one API to another.",
    "init": "Write a commented toolglot.toml: three questions, or options.",
    "keys": "Add, list and remove named API keys of the gateway; only hashes are stored.",
    "launch": "Run a coding agent (Claude Code, Codex, Gemini CLI, opencode, ...) with any model.",
    "logs": "Print the requests of a gateway: follow, and filter by model, tool, status and reason.",
    "mcp": "Offer extract, validate, convert and explain as MCP tools, over standard input and output.",
    "models": "Show what is known about a model, how toolglot asks it, and where each fact comes from.",
    "parse": "Extract the calls from a model's text, and show why each was accepted, fixed or rejected.",
    "plugins": "List the dialects, wires, providers and model rows that installed packages add.",
    "probe": "Ask a running server a few tool questions in each tool mode: what works, and what is wrong.",
    "usage": "Print requests, tokens and cost per key, model and day, and the budgets, of a running gateway.",
    "version": "Print the version of toolglot and Python, and which extras are installed.",
    "serve": "Run the gateway: clients of six APIs in front, any model behind, every call validated.",
    "demo": "Start the gateway with the embedded model, and run a client with two tools against it.",
}


class Lazy(click.Group):
    def main(self, *args: Any, **extra: Any) -> Any:
        """Like click's, but a full disk is reported in one line. (click itself handles a closed pipe, without a message.)"""
        prepare_streams()
        try:
            return super().main(*args, **extra)
        except OSError as error:
            discard_output()
            with suppress(OSError):
                click.echo(f"error: {describe_error(error)}", err=True)
            sys.exit(1)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            close = get_close_matches(args[0], COMMANDS, 1)
            if not close:
                raise
            raise click.UsageError(f"{error.message} Did you mean {close[0]!r}?", ctx) from None

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        try:
            command = import_module(f"toolglot.cli.{cmd_name}").command
        except ModuleNotFoundError as error:
            if error.name is None or error.name.startswith("toolglot"):
                raise
            raise click.UsageError(f"{cmd_name} needs {error.name}: pip install 'toolglot[gateway]'", ctx) from None
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):  # from the table, so that listing imports no command
            formatter.write_dl([(name, COMMANDS[name]) for name in self.list_commands(ctx)])


EPILOG = """\b
Examples and exit codes: toolglot COMMAND --help.
To complete commands, options, models and files in every new shell:
  bash   echo 'eval "$(_TOOLGLOT_COMPLETE=bash_source toolglot)"' >> ~/.bashrc
  zsh    echo 'eval "$(_TOOLGLOT_COMPLETE=zsh_source toolglot)"' >> ~/.zshrc
  fish   _TOOLGLOT_COMPLETE=fish_source toolglot > ~/.config/fish/completions/toolglot.fish
"""


@click.group(cls=Lazy, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="toolglot")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Any client, any model, reliable tool calls."""
    if no_color():
        ctx.color = False  # every command's context inherits it
    if ctx.invoked_subcommand not in ("ask", "chat", "launch", "serve"):  # these show warnings in their own way
        logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")


if __name__ == "__main__":
    main()
