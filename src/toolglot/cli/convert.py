"""`toolglot convert`: translate JSON of one API to another."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

import click
import msgspec

from toolglot.cli.completion import complete_apis
from toolglot.errors import CallerError
from toolglot.io.json_codec import JSON_ERRORS, decode_lenient, encode
from toolglot.pipeline.convert import KINDS, convert, convert_stream

EXAMPLES = """\b
Examples:
  toolglot convert --from openai-chat --to anthropic < request.json
  toolglot convert --from anthropic --to openai-chat --kind response reply.json
  toolglot convert --from openai-responses --to gemini --kind tools < tools.json
  curl -sN ... | toolglot convert --from ollama --to openai-chat --kind stream

\b
Exit codes: 0 success, 1 failure, 2 usage error (or unreadable input).
"""


@click.command("convert", epilog=EXAMPLES)
@click.argument("file", type=click.File("rb"), default="-")
@click.option(
    "--from",
    "source",
    default="openai-chat",
    show_default=True,
    help="The source API or provider.",
    shell_complete=complete_apis,
)
@click.option(
    "--to",
    "target",
    default="anthropic",
    show_default=True,
    help="The target API or provider.",
    shell_complete=complete_apis,
)
@click.option("--kind", type=click.Choice([*KINDS, "stream"]), default="request", show_default=True)
@click.option("--model", help="The model's name, instead of the one in the input.")
@click.option("--tools", type=click.File("rb"), help="The request's tools, to restore their names in a response or stream.")
@click.option("--json", "as_json", is_flag=True, help='Print {"result": ..., "notes": [...]} on one line; not for streams.')
def command(
    file: BinaryIO, source: str, target: str, kind: str, model: str | None, tools: BinaryIO | None, as_json: bool
) -> None:
    """Translate FILE (or standard input) from one API to another.

    APIs: openai-chat, openai-responses, anthropic, gemini, ollama; a provider's name also works. What the target API can't
    express is reported on standard error, one line each.
    """
    notes: list[str] = []
    try:
        known = read_json(tools, "tools") if tools else ()
        if kind == "stream":
            for piece in convert_stream(_pieces(file), source, target, tools=known, model=model, notes=notes):
                sys.stdout.buffer.write(piece)
                sys.stdout.buffer.flush()
        else:
            result = convert(read_json(file, "the input"), source, target, kind, tools=known, model=model, notes=notes)
            _print({"result": result, "notes": notes} if as_json else result, pretty=not as_json)
    except CallerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    if not as_json or kind == "stream":
        for note in notes:
            click.echo(f"note: {note}", err=True)


def read_json(file: BinaryIO, what: str) -> Any:
    """The JSON in a file; a byte order mark or half a surrogate pair is accepted. CallerError if it is not JSON."""
    data = file.read()
    try:
        return decode_lenient(data)
    except JSON_ERRORS as error:
        problem = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        why = problem if data.strip() else "it is empty"
        raise CallerError(f"{what} is not JSON: {why}; give a file, or pipe JSON in") from None


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    read = getattr(file, "read1", file.read)
    while piece := read(65536):
        yield piece


def _print(value: object, *, pretty: bool) -> None:
    data = encode(value)
    sys.stdout.buffer.write((msgspec.json.format(data, indent=2) if pretty else data) + b"\n")
    sys.stdout.buffer.flush()
