"""`toolglot mcp`: extract, validate, convert and explain as MCP tools, over stdio."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from inspect import isawaitable
from typing import Any

import click

from toolglot.cli.explain import GATEWAY, explain_code, explain_request
from toolglot.cli.parse import as_object
from toolglot.errors import CallerError, ToolglotError
from toolglot.io.json_codec import encode
from toolglot.pipeline import convert as conversion
from toolglot.pipeline.response import call_validator
from toolglot.pipeline.response import extract as extraction

EXAMPLES = """\b
Examples:
  toolglot mcp                     serve MCP over standard input and output
  toolglot mcp --json              print the tools, and do not serve
  claude mcp add toolglot -- toolglot mcp

\b
Exit codes: 0 success, 2 usage error (the extra `mcp` is not installed).
"""
_MOST = 4 * 1024 * 1024  # characters of an input as JSON
_INSTRUCTIONS = "Tool calls of language models: find them in text, validate them, translate them between APIs."
Json = dict[str, Any] | list[Any]


def extract(text: str, tools: Json, dialect: str = "auto", policy: str = "balanced") -> dict[str, Any]:
    """Find the tool calls in a text that a model wrote, in any known format.

    tools: the tools it may call, in the format of any API. dialect: auto or a format. policy: strict, balanced or eager.
    Returns calls, text, reasoning, decisions (with the reason for each call) and the detected dialect.
    """
    _bounded(text, tools)
    return as_object(extraction.extract(text, _list(tools), dialect=dialect, policy=policy))  # type: ignore[arg-type]


def validate(calls: Json, tools: Json, policy: str = "balanced") -> dict[str, Any]:
    """Validate tool calls against their tools, and repair what syntax and schema decide.

    calls: a list of calls, a message or a whole response, in the format of any API. Returns as `extract`.
    """
    _bounded(calls, tools)
    return as_object(call_validator.validate(calls, _list(tools), policy))  # type: ignore[arg-type]


def convert(payload: Json, source: str, target: str, kind: str = "request") -> dict[str, Any]:
    """Translate a request, response, message or list of tools from one API to another.

    source, target: openai-chat, openai-responses, anthropic, gemini or ollama. kind: request, response, message or tools.
    Returns the result, and notes on what the target can't express.
    """
    _bounded(payload)
    notes: list[str] = []
    return {"result": conversion.convert(payload, source, target, kind, notes=notes), "notes": notes}


async def explain(what: str) -> str:
    """Explain a reason code such as rescued_text, or a request of the gateway on this machine by its x-request-id."""
    _bounded(what)
    return explain_code(what) or await explain_request(what, GATEWAY)


TOOLS: tuple[Callable[..., Any], ...] = (extract, validate, convert, explain)


def _bounded(*given: object) -> None:
    size = sum(len(one) if isinstance(one, str) else len(encode(one)) for one in given)
    if size > _MOST:
        raise CallerError(f"the input has {size} characters; {_MOST} are allowed")


def _list(tools: Json) -> list[Any]:
    return tools if isinstance(tools, list) else [tools]


def server() -> Any:
    """The server, with version 1 or 2 of the `mcp` package."""
    try:
        kit, name = import_module("mcp.server.mcpserver"), "MCPServer"
    except ModuleNotFoundError:
        kit, name = import_module("mcp.server.fastmcp"), "FastMCP"
    made = getattr(kit, name)("toolglot", instructions=_INSTRUCTIONS)
    for tool in TOOLS:
        made.add_tool(_reporting(tool, import_module(f"{kit.__name__}.exceptions").ToolError))
    return made


def _reporting(tool: Callable[..., Any], failure: type[Exception]) -> Callable[..., Any]:
    """The tool, with our errors as those that the package shows to the client."""

    @wraps(tool)
    async def run(**given: Any) -> Any:
        try:
            result = tool(**given)
            return await result if isawaitable(result) else result
        except ToolglotError as error:
            raise failure(str(error)) from None

    return run


@click.command("mcp", epilog=EXAMPLES)
@click.option("--json", "as_json", is_flag=True, help="Print the tools as JSON, and do not serve.")
def command(as_json: bool) -> None:
    """Offer extract, validate, convert and explain as MCP tools, over standard input and output."""
    try:
        made = server()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "mcp":
            raise
        click.echo("error: MCP needs the mcp package: pip install 'toolglot[mcp]'", err=True)
        sys.exit(2)
    if as_json:
        tools = asyncio.run(made.list_tools())
        click.echo(encode([tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]))
    else:
        made.run()
