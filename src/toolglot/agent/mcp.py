"""The tools of an MCP server, to be run like any other. Needs the official `mcp` package: `toolglot[mcp]`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from inspect import signature
from typing import Any

from toolglot.agent.mcp_connection import FAILED, connect, read_server
from toolglot.agent.results import Parts, ToolError, media_kind, without_secrets
from toolglot.agent.runnable import Context, Runnable, Work
from toolglot.core.messages import Media, Text
from toolglot.core.tools import Tool
from toolglot.errors import CallerError, UpstreamError
from toolglot.text.json_text import dumps

Block = dict[str, Any]

_MOST_PAGES = 100  # of a list of tools: a server that never comes to the end does not hold us up


@asynccontextmanager
async def mcp_tools(
    server: str | Sequence[str],
    *,
    headers: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    namespace: str | None = None,
    timeout: float | None = 60.0,
    connect_timeout: float = 30.0,
) -> AsyncIterator[tuple[Runnable, ...]]:
    """The tools of one server: `"python server.py"` (or a list of words) is started, `"https://..."` is asked.

    Names and schemas are the server's own; `namespace` tells those of two servers apart. `timeout` is for each call, in
    seconds. `headers` are for HTTP; `env` and `cwd` for a server that is started, which sees no other variables but the
    usual few (PATH, HOME, ...). At the end the connection is closed and the process is gone.
    """
    there = read_server(server, headers or {}, env or {}, cwd)
    async with connect(there, connect_timeout) as session:
        try:
            async with asyncio.timeout(connect_timeout):
                found = await _listed(session)
        except Exception as error:  # noqa: BLE001  (the package's own, of many kinds)
            late = f"no answer within {connect_timeout:g} s" if isinstance(error, TimeoutError) else type(error).__name__
            said = without_secrets(str(error)) or late
            raise UpstreamError(f"{there.label} does not list its tools: {said}", code=FAILED) from None
        yield tuple(
            Runnable(_tool(held, namespace), _work(session, held["name"], timeout), timeout, source=f"mcp:{there.label}")
            for held in found
        )


_OPTIONS = tuple(signature(mcp_tools).parameters)


def options_of(server: Any) -> dict[str, Any]:
    """What `mcp_tools` takes, of what an Agent is given: a command, an address, or one of them and more by name."""
    options = dict(server) if isinstance(server, Mapping) else {"server": server}
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown or "server" not in options:
        problem = f"there is no {unknown[0]}" if unknown else "server is missing: an http(s) URL, or a command"
        raise CallerError(f"{problem}; there are {', '.join(_OPTIONS)}", "mcp")
    read_server(options["server"], {}, {}, None)
    return options


async def _listed(session: Any) -> list[Block]:
    found: list[Block] = []
    cursors: list[str | None] = [None]
    while len(cursors) <= _MOST_PAGES:
        cursor = cursors[-1]
        page = _plain(await (session.list_tools(cursor=cursor) if cursor else session.list_tools()))
        found += page["tools"]
        cursor = page.get("nextCursor")
        if not cursor or cursor in cursors:  # the end, or where it was before
            break
        cursors.append(cursor)
    return found


def _plain(model: Any) -> Block:
    """As the protocol has it: the package's own spelling changed with its versions."""
    held: Block = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return held


def _tool(held: Block, namespace: str | None) -> Tool:
    return Tool(held["name"], held.get("description"), held.get("inputSchema"), namespace=namespace)


def _work(session: Any, name: str, timeout: float | None) -> Work:
    async def run(arguments: dict[str, Any], context: Context) -> Any:
        try:
            async with asyncio.timeout(timeout):
                result = _plain(await session.call_tool(name, arguments))
        except TimeoutError:
            raise ToolError(f"{name} took longer than {timeout:g} s") from None
        except Exception as error:  # noqa: BLE001  (the package's own, of many kinds)
            raise ToolError(f"{name}: the server could not run it: {str(error) or type(error).__name__}") from None
        parts = _parts(result)
        if result.get("isError"):
            raise ToolError(parts or "the tool failed and said nothing")
        return parts

    return run


def _parts(result: Block) -> Parts:
    """The content; the structured form only where no text says it, as the protocol wants servers to say both."""
    parts: list[Text | Media] = [_BLOCKS.get(block.get("type", ""), _unknown)(block) for block in result.get("content", [])]
    if "structuredContent" in result and not any(isinstance(part, Text) for part in parts):
        parts.append(Text(dumps(result["structuredContent"])))
    return tuple(parts)


def _resource(block: Block) -> Text | Media:
    held = block["resource"]
    if "text" in held:
        return Text(held["text"])
    mime = held.get("mimeType") or "application/octet-stream"
    return Media(media_kind(mime), mime, held["blob"], name=held.get("uri"))


def _unknown(block: Block) -> Text:
    return Text(dumps(block))


_BLOCKS: dict[str, Callable[[Block], Text | Media]] = {
    "text": lambda block: Text(block["text"]),
    "image": lambda block: Media("image", block.get("mimeType"), block["data"]),
    "audio": lambda block: Media("audio", block.get("mimeType"), block["data"]),
    "resource": _resource,
}
