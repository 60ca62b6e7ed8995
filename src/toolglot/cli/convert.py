"""`toolglot convert`: translate JSON of one API to another."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import IO, Any, BinaryIO

import click
import msgspec

from toolglot.cli.completion import complete_apis
from toolglot.cli.streams import reserve_stdout
from toolglot.errors import CallerError, unreadable
from toolglot.io.json_codec import JSON_ERRORS, decode_lenient, encode
from toolglot.pipeline.convert import KINDS, convert, convert_stream
from toolglot.pipeline.detect_tool_format import read_any_tools
from toolglot.pipeline.response.call_validator import unsupported_schema

EXAMPLES = """\b
Examples:
  toolglot convert --from openai-chat --to anthropic < request.json
  toolglot convert --from anthropic --to openai-chat --kind response reply.json
  toolglot convert --from openai-responses --to gemini --kind tools < tools.json
  curl -sN ... | toolglot convert --from ollama --to openai-chat --kind stream

\b
Exit codes: 0 success, 1 failure, 2 usage error (or unreadable input).
"""
_STREAM_STARTS = (
    b"data:",
    b"event:",
    b"id:",
    b"retry:",
    b":",
    b"{",
    b"[",
    b"\xef\xbb\xbf",
)  # SSE, NDJSON, or an array of Gemini
_ENOUGH = 8  # bytes
_STDIN = "the input"


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
            for piece in convert_stream(_stream(_pieces(file)), source, target, tools=known, model=model, notes=notes):
                sys.stdout.buffer.write(piece)
                sys.stdout.buffer.flush()
        else:
            given = read_json(file, file.name if os.path.isfile(file.name) else _STDIN)
            result = convert(given, source, target, kind, tools=known, model=model, notes=notes)
            if given == []:  # a misspelt `jq` filter, or the wrong file
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
            found = read_json(file, "--tools" if path == "-" else f"--tools: {path}")
    except OSError as error:
        raise CallerError(str(unreadable(path, error)), "--tools") from None
    return found if isinstance(found, list) else [found]


def checked_tools(path: str) -> list[Any]:
    """With an error for a schema that would reject every call of its tool."""
    tools = read_tools(path)
    check_schemas(tools)
    return tools


def check_schemas(tools: Iterable[Any]) -> None:
    unsupported = unsupported_schema(read_any_tools(tools))
    if unsupported is not None:
        raise CallerError(f"the schema of {unsupported[0]} can't be compiled: {unsupported[1]}", "--tools")


def read_json(file: IO[bytes], what: str) -> Any:
    """The JSON in a file; a byte order mark or half a surrogate pair is accepted. CallerError if it is not JSON."""
    data = file.read()
    try:
        return decode_lenient(data)
    except JSON_ERRORS as error:
        problem = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        why = problem if data.strip() else "it is empty"
        hint = "; give a file, or pipe JSON in" if what == _STDIN else ""
        raise CallerError(f"{what} is not JSON: {why}{hint}") from None


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    read = getattr(file, "read1", file.read)
    while piece := read(65536):
        yield piece


def _stream(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same pieces. A CallerError if they are not a stream, before anything is written."""
    start = b""
    for piece in pieces:
        start = (start + piece).lstrip()
        if len(start) >= _ENOUGH:
            break
    if not start.startswith(_STREAM_STARTS):
        why = f"it begins with {start[:_ENOUGH].decode(errors='replace')!r}" if start else "it is empty"
        raise CallerError(f"the input has no stream: {why}; give a file, or pipe a stream in")
    yield start
    yield from pieces


def _print(value: object, *, pretty: bool) -> None:
    data = encode(value)
    sys.stdout.buffer.write((msgspec.json.format(data, indent=2) if pretty else data) + b"\n")
    sys.stdout.buffer.flush()
