"""`toolglot convert`: translate JSON of one API to another."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import IO, Any, BinaryIO

import click
import msgspec

from toolglot.cli.completion import complete_apis
from toolglot.cli.streams import reserve_stdout
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
@click.option(
    "--tools", metavar="FILE", type=click.Path(), help="The request's tools, to restore their names in a response or stream."
)
@click.option("--json", "as_json", is_flag=True, help='Print {"result": ..., "notes": [...]} on one line; not for streams.')
def command(file: BinaryIO, source: str, target: str, kind: str, model: str | None, tools: str | None, as_json: bool) -> None:
    """Translate FILE (or standard input) from one API to another.

    APIs: openai-chat, openai-responses, anthropic, gemini, ollama; a provider's name also works. What the target API can't
    express is reported on standard error, one line each.
    """
    notes: list[str] = []
    try:
        known = read_tools(tools) if tools else ()
        if kind == "stream":
            for piece in convert_stream(_not_empty(_pieces(file)), source, target, tools=known, model=model, notes=notes):
                sys.stdout.buffer.write(piece)
                sys.stdout.buffer.flush()
        else:
            given = read_json(file, "the input")
            result = convert(given, source, target, kind, tools=known, model=model, notes=notes)
            if given in ({}, []):  # a misspelt `jq` filter, or the wrong file
                raise CallerError(f"the input has no {kind}: it is {given}")
            _print({"result": result, "notes": notes} if as_json else result, pretty=not as_json)
    except CallerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    if not as_json or kind == "stream":
        for note in notes:
            click.echo(f"note: {note}", err=True)


def read_tools(path: str) -> list[Any]:
    """The tools of a Python file, or of a JSON file in the format of any API; `-` is JSON on standard input."""
    if path.endswith(".py"):
        from toolglot.agent.tool_file import load_tools  # noqa: PLC0415  (JSON does not need it)

        with reserve_stdout():  # a tool file may print while it is loaded
            return load_tools(path)
    try:
        with click.open_file(path, "rb") as file:
            found = read_json(file, "tools")
    except OSError as error:
        raise CallerError(str(error), "tools") from None
    return found if isinstance(found, list) else [found]


def read_json(file: IO[bytes], what: str) -> Any:
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


def _not_empty(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same pieces. A CallerError if there is nothing but white space, before anything is written."""
    found = False
    for piece in pieces:
        found = found or bool(piece.strip())
        if found:
            yield piece
    if not found:
        raise CallerError("the input has no stream: it is empty; give a file, or pipe a stream in")


def _print(value: object, *, pretty: bool) -> None:
    data = encode(value)
    sys.stdout.buffer.write((msgspec.json.format(data, indent=2) if pretty else data) + b"\n")
    sys.stdout.buffer.flush()
