"""`toolglot chat`: `toolglot ask` without a question, also with questions from a pipe, one per line."""

from __future__ import annotations

import sys
from typing import Any

import click

from toolglot.cli.ask import DEFAULT_MODEL, chat, fail, make_agent, quiet_logs, unapproved
from toolglot.cli.completion import complete_models
from toolglot.cli.streams import no_color
from toolglot.client.embedded import demo_note
from toolglot.errors import ToolglotError

EXAMPLES = """\b
Examples:
  toolglot chat                                           with the embedded model
  toolglot chat -m ollama/qwen3:8b --tools my_tools.py --approve
  toolglot chat -m home --base-url http://127.0.0.1:8484/v1   through the gateway, with openai/home
  printf 'My name is Ada.\\nWhat is my name?\\n' | toolglot chat --json

\b
Exit codes: 0 success, 1 failure (stderr says why), 2 usage error.
"""


@click.command("chat", epilog=EXAMPLES)
@click.option(
    "-m",
    "--model",
    default=DEFAULT_MODEL,
    envvar="TOOLGLOT_MODEL",
    show_default=True,
    help="provider/model",
    shell_complete=complete_models,
)
@click.option("--tools", "files", multiple=True, metavar="FILE.py", type=click.Path(), help="Use the tools of a file.")
@click.option("--mcp", multiple=True, metavar="[NAME=]CMD_OR_URL", help="Use an MCP server's tools.")
@click.option("--approve", is_flag=True, help="Ask before running each call.")
@click.option("--max-turns", type=click.IntRange(1), default=12, show_default=True, help="The most requests for one question.")
@click.option("--system", help="The system prompt.")
@click.option("-o", "--option", "options", multiple=True, metavar="NAME=VALUE", help="As in OpenAI Chat: -o temperature=0")
@click.option("--record", metavar="FILE", type=click.Path(), envvar="TOOLGLOT_RECORD", help="Record the runs, for `explain`.")
@click.option("--base-url", help="The server's address, if not the provider's default.")
@click.option("--api-key", metavar="env:NAME", help="The variable with the API key, if not the provider's default.")
@click.option("-v", "--verbose", is_flag=True, help="Also show notes, and what was done to each call.")
@click.option("--json", "as_json", is_flag=True, help="Print each run as JSON, one per line.")
@click.pass_context
def command(ctx: click.Context, /, as_json: bool, verbose: bool, **options: Any) -> None:
    """Chat with a model. /new starts a new chat, Ctrl-D quits. Calls and results are shown on stderr."""
    if no_color():
        ctx.color = False
    quiet_logs()
    try:
        agent = make_agent({**options, "schema": None})
        for note in (demo_note(options["model"]), unapproved(agent, options)):
            if note:
                click.echo(note, err=True)
        ok = chat(agent, verbose=verbose, as_json=as_json)
    except ToolglotError as error:
        fail(error, options["model"])
    sys.exit(0 if ok or sys.stdin.isatty() else 1)
