"""`toolglot`: its commands, each in a file of its own and imported when it is called."""

from __future__ import annotations

import sys
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from toolglot import __version__
from toolglot.cli.streams import failed, give_up, ready, uncoloured

# command -> what it is for; the file cli/<command>.py exports `command`
COMMANDS = {
    "ask": "Ask a model, let it use tools, and stream its answer.",
    "bench": "How fast toolglot is on this machine: translating, hearing and judging calls, and asking a model.",
    "eval": "Put questions with known answers to a model: how often are its calls right, and whose merit is that?",
    "explain": "Say why each call of a recorded run was rescued, fixed or refused, and why none was made.",
    "convert": "Translate a request, response, message, tools or stream from one API to another.",
    "models": "What is known of a model and how it should be asked, and where each fact comes from.",
    "parse": "Read the calls out of a model's text, and say why each was heard, fixed or refused.",
    "probe": "Ask a running server a few tool questions in each way: what works, and what is wrong.",
    "serve": "The gateway: any client on five APIs, any model behind it, no wrong call.",
    "demo": "Start the gateway with the embedded model, and let a client with two tools talk to it.",
}


class Lazy(click.Group):
    def main(self, *args: Any, **extra: Any) -> Any:
        """As click has it; but a full disk is told in a line. (A reader that is gone is left in silence: click does that.)"""
        ready()
        try:
            return super().main(*args, **extra)
        except OSError as error:
            give_up()
            with suppress(OSError):
                click.echo(f"error: {failed(error)}", err=True)
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
        command = import_module(f"toolglot.cli.{cmd_name}").command
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):  # from the table: no command need be imported to be listed
            formatter.write_dl([(name, COMMANDS[name]) for name in self.list_commands(ctx)])


EPILOG = """\b
Examples, and what each exit code means: toolglot COMMAND --help.
Completion of commands, options, models and files, for good:
  bash   echo 'eval "$(_TOOLGLOT_COMPLETE=bash_source toolglot)"' >> ~/.bashrc
  zsh    echo 'eval "$(_TOOLGLOT_COMPLETE=zsh_source toolglot)"' >> ~/.zshrc
  fish   _TOOLGLOT_COMPLETE=fish_source toolglot > ~/.config/fish/completions/toolglot.fish
"""


@click.group(cls=Lazy, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="toolglot")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Any client, any model, reliable tool calls."""
    if uncoloured():
        ctx.color = False  # of every command: their contexts are made from this one


if __name__ == "__main__":
    main()
